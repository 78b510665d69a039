"""What a search came to, as it is shown."""

import json

import pytest

from lossyfl.commands.trials import show
from lossyfl.experiments.choice import choice
from lossyfl.experiments.trials import Trial, failure
from lossyfl.experiments.tune import Question, SearchResult

GOOD = Trial(scheme="lean", values=(0.95, 0.96), down=1000, up=10)
LOSSLESS = Trial(scheme="lossless", values=(0.96, 0.97), down=9000, up=9000)


def shown(best: Trial | None, *, as_json: bool) -> None:
    tried = {each.scheme: each for each in (LOSSLESS, GOOD, failure("bad", "diverged"))}
    found = SearchResult(tried=tried, best=best, words="fewest bytes")
    chosen = choice(Question(tensors=()), found, confidence=0.95, samples=360, budgets=False)
    show(found, chosen, None, as_json=as_json)


def test_table_and_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    shown(GOOD, as_json=False)
    said = capsys.readouterr()
    assert "95.50 %" in said.out
    assert "1.00 kB" in said.out
    assert "below the noise" in said.out
    assert said.out.splitlines()[-1] == "fewest bytes: --scheme 'lean'"
    assert said.err == "bad failed: diverged\n"


def test_none(capsys: pytest.CaptureFixture[str]) -> None:
    shown(None, as_json=False)
    assert "fewest bytes: none; the best of all was 96.50 %" in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    shown(GOOD, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["best"]["scheme"] == "lean"
    assert found["best"]["value"] == pytest.approx(0.955)
    assert [each["verdict"] for each in found["trials"]][::2] == [
        "the reference",
        "failed: diverged",
    ]
    assert found["words"][0].startswith("lean is the choice of 3 schemes")
