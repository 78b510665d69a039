"""Columns of runs with different metrics."""

from pathlib import Path

from tests.report.synthetic import record, write

from lossyfl import load
from lossyfl.api.tables import of_rounds, of_runs


def test_what_a_run_has_not_is_empty(tmp_path: Path) -> None:
    write(tmp_path / "a", rounds=[record(0, accuracy=None), record(1, accuracy=0.25)])
    runs = list(load(tmp_path))
    assert of_rounds(runs)["accuracy"] == [None, 0.25]
    assert of_rounds(runs)["bytes_down"] == [250, 250]
    assert of_runs(runs)["accuracy"] == [0.25]
    assert of_rounds([]) == {}
