"""Simulations to be timed do no more than what is timed, and leave nothing."""

import tempfile
from pathlib import Path

import pytest

from benchmarks.trial import experiment, simulation
from lossyfl.simulation.setup import prepare


def test_no_round_is_evaluated_and_no_file_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    setup = prepare(experiment("benchmarks.shapes:line:entries=50,samples=8", 2, 1, tau=1))
    with simulation(setup, 1) as chosen:
        records = [chosen.run_round()[0] for _ in range(2)]
        assert list(tmp_path.iterdir())
    assert [record.accuracy for record in records] == [None, None]
    assert [record.replies for record in records] == [2, 2]
    assert not list(tmp_path.iterdir())
