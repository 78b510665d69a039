"""The benchmark of the simulator measures what it says."""

import json
from pathlib import Path

from tests.test_cli import run


def test_quick(tmp_path: Path) -> None:
    said = run("bench", "simulation", "--quick", "--out", tmp_path / "a.json")
    assert "as a multiple of a bare loop" in said
    results = json.loads((tmp_path / "a.json").read_text())
    assert results["rounds"][0]["one"] > 0
    assert {row["devices"] for row in results["devices"]} == {10, 100}
    shares = results["phases"][0]
    assert 0.9 < shares["training"] + shares["codec"] + shares["rest"] < 1.1
