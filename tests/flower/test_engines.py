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
from tests.flower.test_hostile import REFUSED, TAKEN, TOO_LARGE

from benchmarks.flower import read_evaluations
from lossyfl.adapters.folders import state_folders
from lossyfl.adapters.remembered import Remembered
from lossyfl.files import snapshot
from lossyfl.flower.app import built, settings
from lossyfl.flower.deployment.federation import federation
from lossyfl.flower.refusing import UNREADABLE
from lossyfl.protocol.digests import digest
from lossyfl.results import ledger_file
from lossyfl.results.records import read_rounds
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
    """All frames; a reply names its training, so that its checksum is another in each: its length is not."""
    entries = ledger_file.read(folder / "ledger.csv").entries
    return sorted(
        (e.round, e.direction, e.device, e.frame if e.direction == "down" else e.nbytes)
        for e in entries
    )


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
    assert (tmp_path / "state").is_dir()  # nodes kept something there
    assert not state_folders(tmp_path / "state")
    evaluations = read_evaluations(out)
    assert [each.replies for each in evaluations] == [0, 10, 10, 10]
    assert all(each.began < each.ended for each in evaluations)


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
    more["save"] = kind == "calm"  # somebody may go on from there, so that nodes keep their state
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
    for kind, kept in (("calm", 10), ("faulty", 0)):
        assert len(state_folders(tmp_path / kind / "state")) == kept
    last = [np.mean([each["accuracy"] for each in seen[-10:]]) for seen in (calm, faulty)]
    assert last[1] > last[0] - 0.03
    for reason in ("the reply is lost", "is refused as damaged", "install the same lossyfl"):
        assert reason in log
    assert "out of step" in log
    assert faulty[50]["peak_bytes"] - faulty[10]["peak_bytes"] < 50e6


@DEEP
def test_a_fifth_of_the_nodes_are_hostile_in_the_simulation_engine(tmp_path: Path) -> None:
    """As a user runs it: 50 rounds, within a point of honest nodes, in memory that does not grow."""
    out = tmp_path / "out"
    command = [sys.executable, "examples/hostile_nodes/run.py", "--rounds", "50", "--out", str(out)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    honest, hostile = (
        [json.loads(line) for line in (out / kind / "progress.jsonl").read_text().splitlines()]
        for kind in ("honest", "hostile")
    )
    assert len(honest) == len(hostile) == 51
    last = [np.mean([each["accuracy"] for each in seen[-10:]]) for seen in (honest, hostile)]
    assert last[1] >= last[0] - 0.01
    assert hostile[50]["peak_bytes"] - hostile[10]["peak_bytes"] < 50e6
    counts = json.loads((out / "hostile/results/refusals.json").read_text())["counts"]
    assert set(counts) >= REFUSED | TAKEN | {UNREADABLE}
    assert TOO_LARGE & set(counts)
    log = (out / "hostile/log.txt").read_text()
    for reason in REFUSED:
        assert f"is refused as {reason}: " in log
        assert reason in said


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
            snapshot.load(path.with_name(path.read_text().split()[0]), Remembered).device.estimate
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
def test_only_nodes_with_a_registered_key_take_part(tmp_path: Path) -> None:
    """TLS and SuperNode authentication: of three nodes one is known, one has another key, one has none."""
    out = tmp_path / "run"
    with federation(tmp_path / "flower", 3, keys=True) as flower:
        flower.make_key(0, register=True)
        flower.make_key(1, register=False)
        for node in range(3):
            flower.start_node(node)
        assert "Failed to activate SuperNode" in flower.wait_for_end(1)
        assert "must be registered" in flower.wait_for_end(2)
        seen = list(flower.run({**CONFIG, "rounds": 1, "devices": 1}, out))
    assert [each.round for each in seen] == [0, 1]
    (only,) = read_rounds(out / "results/rounds.jsonl")
    assert only.replies == 1
    (state,) = flower.state.glob("*/*/current")
    assert state.parent.name == "0"


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
