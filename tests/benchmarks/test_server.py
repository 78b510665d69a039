"""The server's benchmark runs, and memory is flat in the number of devices."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import server


def test_run_writes_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server, "LENGTHS", (1000, 10_000))
    monkeypatch.setattr(server, "COUNTS", (5, 20))
    monkeypatch.setattr(server, "POWERS", (4, 13))
    server.run(tmp_path / "s.json", quick=True, console=Console())
    report = json.loads((tmp_path / "s.json").read_text())
    sizes = [len(report[name]) for name in ("replies", "sums", "rounds", "rotations")]
    assert sizes == [2, 2, 2, 2]
    assert "replies/s" in capsys.readouterr().out


def test_memory_does_not_grow_with_the_number_of_devices() -> None:
    few, many = (server.measure_round(50_000, devices) for devices in (20, 400))
    per_device = 4000 / (4 * 50_000)  # what a ledger entry and a number of samples may take
    assert many.peak_in_order <= few.peak_in_order + 400 * per_device
    assert many.peak_reversed <= few.peak_in_order + many.waiting * 1.2 + 400 * per_device
