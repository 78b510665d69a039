"""Flower's simulation engine with our app: the simulator's bits, faults, and nodes that mean harm."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from tests.flower.parity import CONFIG, DEEP, ROOT, frames, simulated
from tests.flower.test_hostile import REFUSED, TAKEN, TOO_LARGE

from benchmarks.flower import read_evaluations
from lossyfl.adapters.folders import state_folders
from lossyfl.flower.refusing import UNREADABLE


def test_the_simulation_engine_has_the_simulators_bits(tmp_path: Path) -> None:
    out = tmp_path / "flower"
    out.mkdir()
    config = json.dumps({**CONFIG, "devices": 10, "out": str(out)})
    environment = os.environ | {"LOSSYFL_STATE": str(tmp_path / "state"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "benchmarks.flower_simulation", config]
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
from benchmarks.flower_simulation import main
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
