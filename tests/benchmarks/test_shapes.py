"""Tasks of any size: the same every time, and as large as was asked for."""

import numpy as np
import pytest

from benchmarks import shapes
from lossyfl.tasks.base import Task


def parameters(task: Task) -> int:
    return sum(p.numel() for p in task.model().parameters())


@pytest.mark.parametrize("entries", [10, 12_345])
def test_a_line_has_about_so_many_parameters(entries: int) -> None:
    task = shapes.line(entries=entries, samples=7)
    assert parameters(task) == 10 * (entries // 10) + 10
    assert task.train.x.shape == (7, entries // 10)
    assert (task.train.x >= 0).all()
    assert (task.train.x < 1).all()


@pytest.mark.parametrize(("make", "side"), [(shapes.digits, 8), (shapes.mnist, 28)])
def test_images_have_all_their_shades_and_ten_classes(make: object, side: int) -> None:
    task = make(samples=200)  # type: ignore[operator]
    assert task.train.x.shape == (200, 1, side, side)
    assert task.train.x.max() == (15 if side == 8 else 255)
    assert sorted(set(task.train.y.tolist())) == list(range(10))


def test_samples_are_the_same_every_time() -> None:
    first, second = (shapes.digits(samples=20).train.x for _ in range(2))
    assert np.array_equal(first, second)
