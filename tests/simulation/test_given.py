"""Objects in the place of words: what they are called, and that others are called otherwise."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.simulation import tiny

from lossyfl import InputError, scheme
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.given import Given, word_of_scheme, word_of_task
from lossyfl.simulation.run import run
from lossyfl.simulation.setup import prepare
from lossyfl.simulation.words import check_words
from lossyfl.tasks.models import linear

TASK = tiny.make_task()


def test_the_same_task_has_the_same_word_and_others_have_others() -> None:
    word = word_of_task(TASK)
    assert word.startswith("object:tiny@")
    assert word_of_task(tiny.make_task()) == word
    y = TASK.train.y.copy()
    y[0] += 1
    others = (
        replace(TASK, train=replace(TASK.train, y=y)),
        replace(TASK, metric="loss"),
        replace(TASK, model=partial(linear, 10, 11)),
        replace(TASK, loss=tiny.no_number),
        replace(TASK, prepare=lambda x: x + 1),
        replace(TASK, prepare=lambda x: x + 2),
        replace(TASK, model=tiny.Counting),
        replace(TASK, defaults=replace(TASK.defaults, rounds=7)),
    )
    words = [word_of_task(each) for each in others]
    assert len({word, *words}) == len(words) + 1


def test_schemes_of_words_keep_them() -> None:
    made = scheme("lfl:q1=2,q2=4")
    assert word_of_scheme(made) == made.spec
    by_hand = replace(made, spec="", name="mine")
    assert word_of_scheme(by_hand).startswith("object:mine@")
    assert word_of_scheme(by_hand) != word_of_scheme(replace(by_hand, guarded=True))


def test_objects_train_as_what_words_name(tmp_path: Path) -> None:
    asked = Experiment(task="tests.simulation.tiny:make_task", scheme="lfl", rounds=2)
    by_word = run(asked, tmp_path / "word")
    given = Given(task=TASK, scheme=scheme("lfl"))
    named = replace(asked, task=word_of_task(TASK), scheme="object:x@0")
    by_object = run(named, tmp_path / "object", given=given)
    for name in ("ledger.csv", "model.safetensors"):
        assert (tmp_path / "word" / name).read_bytes() == (tmp_path / "object" / name).read_bytes()
    assert by_word.summary.metrics == by_object.summary.metrics


def test_a_word_without_its_object_says_what_to_do() -> None:
    with pytest.raises(InputError, match="task of a run must be handed over again as an object"):
        prepare(Experiment(task="object:tiny@0"))
    with pytest.raises(InputError, match="scheme of a run must be handed over again"):
        prepare(Experiment(scheme="object:mine@0"))
    with pytest.raises(InputError, match="task of a run must be handed over again"):
        check_words(Experiment(task="object:tiny@0"))
