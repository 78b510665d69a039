"""The same protocol in our simulator, in Flower's simulation engine and in a real deployment: same bits."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from lossyfl.bench.flower import read_looks
from lossyfl.digests import digest
from lossyfl.files import snapshot
from lossyfl.flower.app import built, settings
from lossyfl.flower.deployment.federation import federation
from lossyfl.flower.store import Remembered
from lossyfl.simulation import ledger_file
from lossyfl.simulation.records import read_rounds
from lossyfl.simulation.run import run
from lossyfl.types import Vector

CONFIG = {
    "task": "digits",
    "scheme": "lfl:q1=2,q2=2",
    "rounds": 3,
    "tau": 4,
    "batch": 16,
    "optimizer": "sgd",
    "lr": "0.2",
    "partition": "iid",
    "seed": 3,
}

DEEP = pytest.mark.skipif(os.environ.get("HYPOTHESIS_PROFILE") != "deep", reason="make test-deep")
ROOT = Path(__file__).parents[2]
Frames = list[tuple[int, str, int, int]]


def frames(folder: Path) -> Frames:
    entries = ledger_file.read(folder / "ledger.csv").entries
    return sorted((e.round, e.direction, e.device, e.frame) for e in entries)


def simulated(folder: Path, devices: int) -> tuple[Vector, Frames]:
    """Theta and frames of our simulator."""
    asked = settings({**CONFIG, "devices": devices})
    run(asked, folder)
    tensors, (setup, _) = load_file(folder / "model.safetensors"), built(asked)
    theta = np.concatenate([tensors[place.name].ravel() for place in setup.places])
    return theta, frames(folder)


def test_the_simulation_engine_has_the_simulators_bits(tmp_path: Path) -> None:
    out = tmp_path / "flower"
    out.mkdir()
    config = json.dumps({**CONFIG, "devices": 10, "out": str(out)})
    environment = os.environ | {"LOSSYFL_STATE": str(tmp_path / "state")}
    command = [sys.executable, "-m", "lossyfl.flower.simulate", config]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    theta, sent = simulated(tmp_path / "ours", 10)
    assert np.array_equal(np.load(out / "theta.npy"), theta)
    assert frames(out / "results") == sent
    looks = read_looks(out)
    assert [look.replies for look in looks] == [0, 10, 10, 10]
    assert all(look.began < look.ended for look in looks)


FAULTY = """
import json, sys
from lossyfl.flower.simulate import main
from tests.flower.sabotage import client
main(json.loads(sys.argv[1]), client if sys.argv[2] == "faulty" else None)
"""


def train(kind: str, out: Path) -> tuple[list[dict[str, float]], str]:
    """50 rounds in Flower's engine: what was seen after each, and the log."""
    out.mkdir()
    more = {"devices": 10, "rounds": 50, "participation": 0.4, "tau": 20, "out": str(out)}
    environment = os.environ | {"LOSSYFL_STATE": str(out / "state"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", FAULTY, json.dumps(CONFIG | more), kind]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = (out / "progress.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines], done.stderr


@DEEP
def test_faults_in_the_simulation_engine(tmp_path: Path) -> None:
    calm, _ = train("calm", tmp_path / "calm")
    faulty, log = train("faulty", tmp_path / "faulty")
    assert len(faulty) == 51
    last = [np.mean([each["accuracy"] for each in seen[-10:]]) for seen in (calm, faulty)]
    assert last[1] > last[0] - 0.03
    for reason in ("the reply is lost", "is refused as damaged", "install the same lossyfl"):
        assert reason in log
    assert "out of step" in log
    assert faulty[50]["peak_bytes"] - faulty[10]["peak_bytes"] < 50e6


@pytest.mark.parametrize(
    "kill",
    [pytest.param(None, marks=DEEP, id="calm"), pytest.param(signal.SIGKILL, id="killed")],
)
def test_a_deployment(kill: int | None, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with federation(tmp_path / "flower", 3) as flower:
        for seen in flower.run({**CONFIG, "devices": 3}, out):
            if kill and seen.round == 1:
                flower.stop_node(1, kill)
                flower.start_node(
                    1
                )  # it comes back under another id, with its number and its files
    rounds = read_rounds(out / "results/rounds.jsonl")
    assert len(rounds) == 3
    assert rounds[-1].replies == 3
    held = {
        digest(
            snapshot.load(
                path.with_name(path.read_text().split()[0]), Remembered, digest=False
            ).device.estimate
        )
        for path in flower.state.rglob("current")
    }
    assert len(held) == 1  # all devices in sync at the end
    if kill is None:
        theta, sent = simulated(tmp_path / "ours", 3)
        assert np.array_equal(np.load(out / "theta.npy"), theta)
        assert frames(out / "results") == sent
    assert all(each.down.wire > each.down.carrier > 0 for each in rounds)
    assert flower.wire_bytes().down >= sum(each.down.wire for each in rounds)


@DEEP
def test_the_quickstart_runs_offline(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/flower-quickstart", tmp_path / "app")
    home = f"FLWR_HOME={tmp_path / 'home'}"
    environment = os.environ | {
        "FLWR_HOME": str(tmp_path / "home"),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "LOSSYFL_STATE": str(tmp_path / "state"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    config = f'rounds=3 results="{tmp_path / "results"}"'
    command = ["flwr", "run", ".", "local", "--stream", "-c", config]
    command += ["--federation-config", "num-supernodes=3"]
    try:
        subprocess.run(command, cwd=tmp_path / "app", env=environment, check=True)
    finally:  # Flower leaves a SuperLink behind
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if home.encode() in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGTERM)
    rounds = read_rounds(tmp_path / "results/rounds.jsonl")
    assert [each.replies for each in rounds] == [3, 3, 3]
    assert (rounds[-1].accuracy or 0) > 0.5
