"""The benchmark of quantizers measures all of them, beside the paper's."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import quantizers as bench
from lossyfl.quantizers import names


def test_run_measures_every_quantizer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "ENTRIES", (20_000,))
    monkeypatch.setattr(bench, "REPEATS", {20_000: 1})
    bench.run(tmp_path / "b.json", quick=True, console=Console(), progress=Console(stderr=True))
    results = json.loads((tmp_path / "b.json").read_text())["results"]
    seen = {row["quantizer"].partition(":")[0].partition(" ")[0] for row in results}
    assert seen == set(names())
    peer = next(row for row in results if row["quantizer"] == bench.PEER)
    assert peer["encode"] == peer["decode"] == 1
    assert "encode below 0.25" in capsys.readouterr().out
