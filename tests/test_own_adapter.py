"""The example of an own adapter: real processes that exchange bytes made by `lossyfl.adapters` only."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lossyfl.results import ledger_file

EXAMPLE = Path(__file__).parents[1] / "examples/own_adapter"
LINES = 350
"""What an adapter for another framework may take, with its problem and its scenario."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run leaves, and its output."""
    folder = tmp_path_factory.mktemp("federation")
    command = [sys.executable, str(EXAMPLE / "run.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (folder / "output").write_text(done.stdout)
    return folder


def test_counts_who_is_there_and_learns(folder: Path) -> None:
    """1 sleeps from 3 to 5, 2 crashes in 4 and is started again, 4 joins in 6; 66 never counts."""
    said = re.findall(
        r"round \d: replies of \[(.*)\], distance (.*)", (folder / "output").read_text()
    )
    assert [replies for replies, _ in said] == [
        *["0, 1, 2"] * 3, "0, 2", "0", "0, 2", *["0, 1, 2, 4"] * 2,
    ]  # fmt: skip
    distances = [float(distance) for _, distance in said]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.15


def test_refuses_what_means_harm_and_says_why(folder: Path) -> None:
    lines = re.findall(r"refused: peer (\d+): (.*)", (folder / "output").read_text())
    assert {peer for peer, _ in lines} == {"66"}
    assert sum("no message of lossyfl" in why for _, why in lines) == 6
    assert sum("is refused as outlier" in why for _, why in lines) >= 5


def test_sends_what_is_missing_and_no_more(folder: Path) -> None:
    """Who slept for three rounds gets four updates, who crashed two; a new device alone gets the model."""
    down = [e for e in ledger_file.read(folder / "out/ledger.csv").entries if e.direction == "down"]
    behind = [(e.round, e.device) for e in down if e.kind == "catch-up" and e.device != 66]
    assert behind == [*[(5, 2)] * 2, *[(6, 1)] * 4]
    first = {e.device: e.round for e in down if e.kind == "initial"}
    assert {number: at for number, at in first.items() if number != 66} == {0: 0, 1: 0, 2: 0, 4: 6}


def test_is_short_and_knows_no_framework() -> None:
    files = sorted(EXAMPLE.glob("*.py"))
    assert sum(path.read_text().count("\n") for path in files) <= LINES
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                room = name.split(".")[1] if name.startswith("lossyfl.") else "adapters"
                assert room in ("adapters", "protocol", "errors", "types"), name
                assert not name.startswith("flwr"), name
