"""Apps that are not ours, plain and with the two lines: as accurate within a point, for fewer bytes.

Three seeds each, minutes in all, so only `make test-deep` runs them; on real MNIST and CIFAR-10 where they
are here (`lossyfl data fetch mnist cifar10`, or $LOSSYFL_DATA), else on scikit-learn's digits.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.flower.foreign.apps import APPS, ROUNDS, label, play
from tests.flower.foreign.grid import CountingGrid
from tests.flower.foreign.images import stand_in
from tests.flower.foreign.torch_apps import NODES

from lossyfl.data.catalog import known
from lossyfl.flower import lossy_mod

DEEP = pytest.mark.skipif(os.environ.get("HYPOTHESIS_PROFILE") != "deep", reason="make test-deep")
ROOT = Path(__file__).parents[3]
SEEDS = 3
POINT = 0.01
"""How far the mean accuracy may fall; twice as far on digits, of which 360 are tested and a point is four."""


def trained(name: str, seed: int, folder: Path, *, lossy: bool) -> tuple[float, int]:
    """The accuracy of a training, and its bytes."""
    app = APPS[name].client(*([lossy_mod] if lossy else []))
    grid = CountingGrid(app, NODES, folder / f"{lossy}-{seed}")
    scheme = "" if lossy else None
    return play(name, grid, seed, scheme=scheme, rounds=ROUNDS[name]), grid.nbytes


@pytest.mark.parametrize("name", ["cifar10", "mnist"])
def test_what_stands_in_for_a_data_set_has_its_form(name: str) -> None:
    made, shape = stand_in(known(name).shape), known(name).shape
    assert made.train_x.shape[1:] == made.test_x.shape[1:] == shape
    assert (made.test_x.min(), made.test_x.max()) == (0, 240)
    rows = np.unique(made.test_x.reshape(len(made.test_x), -1), axis=0)
    assert len(rows) == len(made.test_x)  # different digits stay different


@DEEP
@pytest.mark.parametrize("name", APPS)
def test_the_two_lines_cost_less_than_a_point(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.set_num_threads(1)  # of small layers; tests beside it have the other cores
    plain = np.array([trained(name, seed, tmp_path, lossy=False) for seed in range(SEEDS)])
    lossy = np.array([trained(name, seed, tmp_path, lossy=True) for seed in range(SEEDS)])
    (accuracy, nbytes), (ours, our_bytes) = plain.mean(axis=0), lossy.mean(axis=0)
    with capsys.disabled():
        print(
            f"\n{label(name)}: {accuracy:.2%} plain, {ours:.2%} lossy; "
            f"{nbytes:,.0f} bytes, {our_bytes:,.0f} lossy"
        )
    assert ours >= accuracy - (POINT if label(name) == name else 2 * POINT)
    assert our_bytes < nbytes / 5


@DEEP
def test_an_app_on_flowers_own_engine(tmp_path: Path) -> None:
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
