"""Flower's engine: what cannot be measured is skipped with a reason, and nothing is left running."""

import json
import os
import select
import sys
from pathlib import Path

import pytest

from benchmarks import flower
from benchmarks.flower import Evaluation, Settings, Skipped, Times

SETTINGS: Settings = {"task": "digits", "tau": 1, "batch": 4}
EVALUATIONS = (
    Evaluation(began=10.0, ended=11.0, replies=0),
    Evaluation(began=17.0, ended=19.0, replies=4),
    Evaluation(began=19.5, ended=20.0, replies=4),
    Evaluation(began=21.0, ended=22.0, replies=4),
    Evaluation(began=22.75, ended=23.0, replies=4),
)
WRITE = "import sys; open(sys.argv[1] + '/progress.jsonl', 'w').write(sys.argv[2])"
"""A program that writes down what it is told."""


def _measure(rounds: int = 4) -> Times | Skipped:
    return flower.measure(SETTINGS, devices=4, rounds=rounds)


def _replace_engine(monkeypatch: pytest.MonkeyPatch, *program: str) -> None:
    """Have `measure` run another program; OUT in its arguments is the folder of results."""

    def command(settings: Settings) -> list[str]:
        return [str(settings["out"]) if word == "OUT" else word for word in program]

    monkeypatch.setattr(flower, "command", command)


def _replace_evaluations(monkeypatch: pytest.MonkeyPatch, *evaluations: Evaluation) -> None:
    facts = [{"trained": x.began, "time": x.ended, "replies": x.replies} for x in evaluations]
    lines = "".join(json.dumps(line) + "\n" for line in facts)
    _replace_engine(monkeypatch, sys.executable, "-c", WRITE, "OUT", lines)


@pytest.mark.parametrize("name", ["flwr", "ray"])
def test_without_the_extra_it_is_skipped_with_the_command(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flower, "find_spec", lambda own: None if own == name else own)
    reason = f"{name} is not installed: pip install 'lossyfl[flower]'"
    assert _measure() == Skipped(reason=reason)


def test_rounds_are_what_is_between_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_evaluations(monkeypatch, *EVALUATIONS)
    result = _measure()
    assert isinstance(result, Times)
    assert result.seconds == (0.5, 1.0, 0.75)


def test_start_up_is_round_1_without_a_round() -> None:
    """4.0 until the first evaluation, 6.0 of round 1, less 0.75, the median of later rounds: 9.25."""
    assert flower.timed(EVALUATIONS, 6.0) == Times(start_up=9.25, seconds=(0.5, 1.0, 0.75))


def test_rounds_without_some_devices_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Evaluation(began=22.75, ended=23.0, replies=3)
    _replace_evaluations(monkeypatch, *EVALUATIONS[:-1], lost)
    assert _measure() == Skipped(reason="3 of 4 devices replied")


@pytest.mark.parametrize("evaluations", [EVALUATIONS[:0], EVALUATIONS[:-1]])
def test_rounds_that_are_missing_are_a_reason_to_skip(
    evaluations: tuple[Evaluation, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    _replace_evaluations(monkeypatch, *evaluations)
    reason = f"Flower's engine ended after {len(evaluations)} evaluations, not 5"
    assert _measure() == Skipped(reason=reason)


def test_crash_is_skipped_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_engine(monkeypatch, sys.executable, "-c", "print('x'); raise OSError('no   luck')")
    assert _measure() == Skipped(reason="OSError: no luck")


def test_silent_crash_is_skipped_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_engine(monkeypatch, "sh", "-c", "exit 7")
    assert _measure() == Skipped(reason="exit code 7")


def test_program_that_is_not_there_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_engine(monkeypatch, "/nowhere/python")
    result = _measure()
    assert isinstance(result, Skipped)
    assert "/nowhere/python" in result.reason


def test_engine_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_engine(monkeypatch, "sleep", "60")
    monkeypatch.setattr(flower, "SECONDS", 0.1)
    assert _measure() == Skipped(reason="no end within 0.1 s")


def test_what_the_engine_has_started_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child holds one end of a FIFO: the other end can be read, to nothing, when it is gone."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        _replace_engine(monkeypatch, "sh", "-c", f"exec 3>{fifo}; sleep 60 & exit 3")
        assert _measure() == Skipped(reason="exit code 3")
        assert select.select([end], [], [], 10)[0] == [end]
    finally:
        os.close(end)


def test_its_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flower.tempfile, "tempdir", str(tmp_path))
    _replace_evaluations(monkeypatch, *EVALUATIONS)
    assert isinstance(_measure(), Times)
    assert list(tmp_path.iterdir()) == []


def test_one_round_is_start_up_only() -> None:
    assert isinstance(_measure(rounds=1), Skipped)


@pytest.mark.skipif(os.environ.get("HYPOTHESIS_PROFILE") != "deep", reason="make test-deep")
def test_the_engine_itself() -> None:
    """Flower, Ray and our app: two rounds of two devices, all of which reply."""
    result = flower.measure(SETTINGS, devices=2, rounds=2)
    assert isinstance(result, Times), result
    assert len(result.seconds) == 1
    assert 0 < result.seconds[0] < result.start_up
