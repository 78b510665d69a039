"""`lossyfl demo`, as a user types it, cut to a round."""

import json
from pathlib import Path

import pytest
from tests.commands.test_run import call, good

from lossyfl.commands.compare import SYSTEMS
from lossyfl.simulation import warm


def test_the_five_systems_and_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "default_workers", lambda: 1)  # processes would take longer to start
    said = good("demo", "--rounds", 1, "--out", tmp_path, "-q")
    for scheme in SYSTEMS:
        assert scheme.partition(":")[0] in said
    assert f"open {tmp_path / 'report.html'}" in said.replace("\n", "")
    assert (tmp_path / "report.html").stat().st_size > 10_000
    again = json.loads(call("demo", "--rounds", 1, "--out", tmp_path, "-q", "--json").stdout)
    assert [row["scheme"] for row in again] == list(SYSTEMS)
    assert all(row["rounds"] == 1 for row in again)
