"""Rounds of few participants do not grow with the number of members."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import scale


def test_run_writes_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (
        ("TRAINING", 10),
        ("PARTICIPANTS", 5),
        ("MEMBERS", (20, 50)),
        ("SIMULATED", (10,)),
    ):
        monkeypatch.setattr(scale, name, value)
    scale.run(tmp_path / "s.json", quick=False, console=Console())
    report = json.loads((tmp_path / "s.json").read_text())
    assert [row["members"] for row in report["servers"]] == [20, 50]
    assert [row["devices"] for row in report["simulations"]] == [10]
    assert all(value > 0 for row in report["servers"] for value in row.values())
    assert "bytes/member" in capsys.readouterr().out


def test_a_member_takes_two_hundred_bytes_at_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "TRAINING", 10)
    few, many = (scale.measure_federation(members, rounds=1) for members in (1_000, 20_000))
    assert many.memory * 20_000 - few.memory * 1_000 < 200 * 19_000
