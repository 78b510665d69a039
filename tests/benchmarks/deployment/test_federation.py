"""A real deployment has the simulator's bits, also if a node is killed; strangers take no part."""

import signal
from pathlib import Path

import numpy as np
import pytest
from tests.flower.parity import CONFIG, DEEP, frames, simulated

from benchmarks.deployment.federation import federation
from lossyfl.adapters.remembered import Remembered
from lossyfl.files import snapshot
from lossyfl.protocol.digests import digest
from lossyfl.results.records import read_rounds


@pytest.mark.parametrize(
    ("kill", "nodes"),
    [pytest.param(None, 3, marks=DEEP, id="calm"), pytest.param(signal.SIGKILL, 2, id="killed")],
)
def test_a_deployment(kill: int | None, nodes: int, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with federation(tmp_path / "flower", nodes) as flower:
        for seen in flower.run({**CONFIG, "devices": nodes}, out):
            if kill and seen.round == 1:
                flower.stop_node(1, kill)
                flower.start_node(
                    1
                )  # it comes back under another id, with its number and its files
    rounds = read_rounds(out / "results/rounds.jsonl")
    assert len(rounds) == 3
    assert rounds[-1].replies == nodes
    held = {
        digest(
            snapshot.load(path.with_name(path.read_text().split()[0]), Remembered).device.estimate
        )
        for path in flower.state.rglob("current")
    }
    assert len(held) == 1  # all devices in sync at the end
    if kill is None:
        theta, sent = simulated(tmp_path / "ours", nodes)
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
