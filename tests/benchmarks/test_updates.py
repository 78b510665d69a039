"""Updates of a short run: made once, the same that the links quantized, and cut into the model's tensors."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import updates
from benchmarks.updates import QUICK, SOURCES, Source, Update

(DIGITS,) = QUICK
SHAPES = ((16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (64, 128), (64,), (10, 64), (10,))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("updates")


@pytest.fixture(scope="module")
def found(folder: Path) -> list[Update]:
    return list(updates.updates(DIGITS, folder))


def test_broadcasts_and_replies_of_all_rounds_with_their_shapes(found: list[Update]) -> None:
    assert [(each.sent, each.round) for each in found] == [
        (sent, number) for sent in ("broadcast", "reply") for number in DIGITS.rounds
    ]
    for each in found:
        assert each.source == "digits"
        assert each.shapes == SHAPES
        assert len(each.vector) == len(each.before) == 13_706
        assert not np.array_equal(each.vector, each.before)


def test_tensors_are_the_vector(found: list[Update]) -> None:
    tensors = found[0].tensors(found[0].vector)
    assert tuple(tensor.shape for tensor in tensors) == SHAPES
    assert np.array_equal(np.concatenate([each.ravel() for each in tensors]), found[0].vector)


def test_a_run_that_is_there_is_not_made_again(
    folder: Path, found: list[Update], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[object] = []
    monkeypatch.setattr(updates, "run", lambda experiment, *_, **__: runs.append(experiment))
    again = list(updates.updates(DIGITS, folder))
    assert runs == []
    assert all(
        np.array_equal(one.vector, two.vector) for one, two in zip(found, again, strict=True)
    )
    other = replace(DIGITS, experiment=replace(DIGITS.experiment, seed=1))
    assert next(iter(updates.updates(other, folder))).source == "digits"
    assert runs == [other.experiment]


@pytest.mark.parametrize("source", [*SOURCES, *QUICK], ids=lambda source: source.name)
def test_rounds_are_those_of_the_run_and_have_one_before(source: Source) -> None:
    assert min(source.rounds) > 1, "the first frame is the initial model"
    assert source.experiment.rounds == source.rounds[-1] + 1
