"""Samples of text: whose they are, what is tested, and what comes next."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.data.conftest import small_sets as small_sets
from tests.data.small import PLAY, SMALL_PLAYS
from tests.simulation.same import same

from lossyfl import InputError
from lossyfl.data.plays import speeches
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.run import run
from lossyfl.tasks import task
from lossyfl.tasks.base import Task
from lossyfl.tasks.metrics import hits
from lossyfl.tasks.shakespeare import WINDOW, next_characters, windows

REAL = Path(os.environ.get("LOSSYFL_DATA") or "")


@pytest.fixture
def made() -> Task:
    return next_characters(SMALL_PLAYS.dataset.arrays[0], name="plays")


def read(codes: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]") -> str:
    """What numbers of characters mean."""
    letters = sorted(set(PLAY))
    return "".join(letters[code] for code in codes.tolist())


def test_a_device_has_the_first_words_of_its_speaker(made: Task) -> None:
    assert made.parts is not None
    for part, said in zip(made.parts, list(speeches(PLAY).values())[:2], strict=True):
        train = said[: round(0.8 * len(said))]
        whole = "".join(read(made.train.x[n]) for n in part)
        assert whole == train[: len(whole)]
        assert len(train) - len(whole) <= WINDOW


def test_the_last_words_of_each_are_for_testing(made: Task) -> None:
    tests = [read(x) for x in made.test.x]
    for said in list(speeches(PLAY).values())[:2]:
        cut = round(0.8 * len(said))
        assert said[cut : cut + WINDOW] in tests
        assert all(test not in said[:cut] for test in tests)


def test_targets_are_the_next_characters(made: Task) -> None:
    for samples in (made.train, made.test):
        assert samples.x.shape == samples.y.shape == (len(samples), WINDOW)
        assert np.array_equal(samples.x[:, 1:], samples.y[:, :-1])


def test_who_says_less_than_a_sample_is_no_device(made: Task) -> None:
    assert list(speeches(PLAY)) == ["ANNE", "BEN", "First Citizen"]
    assert made.parts is not None
    assert len(made.parts) == 2
    assert sum(map(len, made.parts)) == len(made.train)


@pytest.mark.parametrize(
    ("length", "count"), [(0, 0), (1, 0), (80, 0), (81, 1), (160, 1), (161, 2)]
)
def test_windows(length: int, count: int) -> None:
    pieces = windows(np.arange(length, dtype=np.uint8))
    assert pieces.shape == (count, WINDOW + 1)
    assert pieces[:, 0].tolist() == [WINDOW * n for n in range(count)]


def test_the_model_has_a_score_for_every_character(made: Task) -> None:
    letters = len(set(PLAY))
    outputs = made.model()(made.prepare(torch.from_numpy(made.test.x)))
    assert outputs.shape == (len(made.test), letters, WINDOW)
    targets = torch.from_numpy(made.test.y).long()
    perfect = torch.nn.functional.one_hot(targets, letters).transpose(1, 2)
    assert hits(perfect, targets) == len(made.test)  # so that it is an accuracy of 1
    loss = made.loss(torch.zeros_like(outputs), targets)
    assert float(loss) == pytest.approx(np.log(letters))  # per character


def test_the_model_is_the_same_for_any_number_of_workers(tmp_path: Path) -> None:
    asked = Experiment(
        task="tests.simulation.tiny:plays",
        scheme="lfl:q1=2,q2=2",
        rounds=2,
        tau=2,
        partition="natural",
        batch=4,
    )
    for workers in (1, 2):
        result = run(asked, tmp_path / str(workers), workers=workers)
        assert 0 < (result.summary.accuracy or 0) < 1
    same(tmp_path / "1", tmp_path / "2")


def test_a_text_without_speakers_is_refused() -> None:
    with pytest.raises(InputError, match="speakers of the text must be at least one"):
        next_characters(np.frombuffer(b"To be, or not to be", np.uint8), name="plays")


@pytest.mark.usefixtures("small_sets")
def test_from_a_folder(tmp_path: Path, made: Task) -> None:
    SMALL_PLAYS.write(tmp_path / "shakespeare")
    assert np.array_equal(task("shakespeare", tmp_path).train.x, made.train.x)


def test_the_real_text() -> None:
    if not (REAL / "shakespeare").is_dir():
        pytest.skip("Shakespeare is not here")
    real = task("shakespeare", REAL)
    assert real.parts is not None
    assert (len(real.parts), len(real.train), len(real.test)) == (247, 10_126, 2_437)
    large = [len(part) for part in real.parts if len(part) >= 10]
    assert (len(large), sum(large), max(large)) == (141, 9_691, 376)
