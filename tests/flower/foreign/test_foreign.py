"""Apps that are not ours, plain and with the two lines: as accurate within a point, for fewer bytes.

Three seeds each, minutes in all, so only `make test-deep` runs them; on real MNIST and CIFAR-10, where they
are to be had (`lossyfl data fetch mnist`, or $LOSSYFL_DATA).
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.flower.foreign.apps import APPS, NEEDS, ROUNDS, play
from tests.flower.foreign.grid import CountingGrid
from tests.flower.foreign.torch_apps import NODES

from lossyfl.data.catalog import known
from lossyfl.data.places import find
from lossyfl.flower import lossy_mod

DEEP = pytest.mark.skipif(os.environ.get("HYPOTHESIS_PROFILE") != "deep", reason="make test-deep")
ROOT = Path(__file__).parents[3]
SEEDS = 3
POINT = 0.01
"""How far the mean accuracy may fall."""


def trained(name: str, seed: int, folder: Path, *, lossy: bool) -> tuple[float, int]:
    """The accuracy of a training, and its bytes."""
    app = APPS[name].client(*([lossy_mod] if lossy else []))
    grid = CountingGrid(app, NODES, folder / f"{lossy}-{seed}")
    scheme = "" if lossy else None
    return play(name, grid, seed, scheme=scheme, rounds=ROUNDS[name]), grid.nbytes


def need(name: str) -> None:
    if name in NEEDS and find(known(NEEDS[name])) is None:
        pytest.skip(f"no {NEEDS[name]} here: lossyfl data fetch {NEEDS[name]}")


@DEEP
@pytest.mark.parametrize("name", APPS)
def test_the_two_lines_cost_less_than_a_point(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need(name)
    torch.set_num_threads(1)  # of small layers; tests beside it have the other cores
    plain = np.array([trained(name, seed, tmp_path, lossy=False) for seed in range(SEEDS)])
    lossy = np.array([trained(name, seed, tmp_path, lossy=True) for seed in range(SEEDS)])
    (accuracy, nbytes), (ours, our_bytes) = plain.mean(axis=0), lossy.mean(axis=0)
    with capsys.disabled():
        print(
            f"\n{name}: {accuracy:.2%} plain, {ours:.2%} lossy; {nbytes:,.0f} bytes, {our_bytes:,.0f} lossy"
        )
    assert ours >= accuracy - POINT
    assert our_bytes < nbytes / 5


@DEEP
def test_an_app_on_flowers_own_engine(tmp_path: Path) -> None:
    need("logistic")
    environment = os.environ | {
        "LOSSYFL_STATE": str(tmp_path / "state"),
        "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
    }
    accuracies = dict[bool, float]()
    for lossy in (False, True):
        out = tmp_path / f"{lossy}.json"
        config = json.dumps({"name": "logistic", "lossy": lossy, "rounds": 10, "out": str(out)})
        command = [sys.executable, "-m", "tests.flower.foreign.apps", config]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        accuracies[lossy] = json.loads(out.read_text())
    assert accuracies[True] >= accuracies[False] - POINT
