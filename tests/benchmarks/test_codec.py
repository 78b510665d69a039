"""The benchmark runs, measures what it says, and keeps its own limits."""

import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks import codec
from lossyfl import Stochastic, stream


@pytest.mark.parametrize("levels", [1, 2, 50, 1000])
@pytest.mark.parametrize("share", codec.ZERO_SHARES)
def test_vectors_have_the_share_of_zeros_that_they_say(levels: int, share: float) -> None:
    x = codec.vector(100_000, levels, share)
    quantized = Stochastic(levels=levels).quantize(x, np.array([0, len(x)]), rng=stream(0))
    found = np.mean(quantized.symbols == levels)
    assert abs(found - share) < 6 * np.sqrt(share * (1 - share) / len(x)) + 1e-3


def test_run_writes_json_and_markdown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(codec, "ENTRIES", (20_000, 100_000))
    monkeypatch.setattr(codec, "REPEATS", {20_000: 1, 100_000: 1})
    screens = (Console(width=100), Console(stderr=True))
    files = (tmp_path / "b.json", tmp_path / "b.md")
    codec.run(*files, quick=True, console=screens[0], progress=screens[1])
    report = json.loads((tmp_path / "b.json").read_text())
    assert len(report["results"]) == 12
    assert report["machine"]["cores"]
    assert (tmp_path / "b.md").read_text().count("|") > 100
    assert "size limits kept in 12 of 12 cases" in capsys.readouterr().out
