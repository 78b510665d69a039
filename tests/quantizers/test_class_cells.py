"""Cells of all classes: they keep to what is asked for, and both kinds of values are tables of their own."""

import numpy as np
import pytest

from lossyfl.quantizers import magnitudes
from lossyfl.quantizers.class_cells import ClassCells, ClassStatistics, Limit, ways_from
from lossyfl.types import Codebook, UniformTable, Vector
from lossyfl.wire.class_plan import ClassOrder, order
from lossyfl.wire.histogram import count

SHAPES = np.array([60, 100, 1])


def rows_of_all_sizes() -> Vector:
    rng = np.random.default_rng(0)
    return (
        (rng.laplace(size=(60, 100)) * np.geomspace(1, 60, 60)[:, None]).ravel().astype(np.float32)
    )


def classes_of(x: Vector) -> ClassOrder:
    symbols = (np.clip(np.round(x / 10), -9, 9) + 9).astype(np.uint8)
    made = order(symbols, count(symbols, 19), SHAPES)
    assert made is not None
    return made


def known_of(x: Vector) -> tuple[ClassStatistics, float]:
    bins = magnitudes.measure(x, np.array([0, len(x)]), np.ones(1, np.float32))
    known = ClassStatistics.of(x, classes_of(x), bins, 0.1)
    assert known is not None
    return known, bins.energy


@pytest.mark.parametrize("even", [False, True])
def test_values_are_means_or_multiples(even: bool) -> None:
    known, energy = known_of(rows_of_all_sizes())
    limit = Limit(6000.0, 0.0, energy)
    first = ClassCells.best(known, ways_from(30.0), limit)
    assert first is not None
    cells = ClassCells.best(
        known, [(*way[:4], float(even)) for way in first.near(both=False)], limit
    )
    assert cells is not None
    table = cells.table()
    assert isinstance(table, UniformTable if even else Codebook)
    assert table.alphabet == 2 * np.count_nonzero(cells.values) + 1
    assert cells.symbols_of().max() < table.alphabet
    assert 0.8 * 6000 < cells.bits <= 6000


def test_an_error_with_the_fewest_bits() -> None:
    known, energy = known_of(rows_of_all_sizes())
    exact, coarse = (
        ClassCells.best(known, ways_from(30.0), Limit(None, part * energy, energy))
        for part in (0.1, 0.4)
    )
    assert exact is not None
    assert coarse is not None
    assert exact.error <= 0.1 * energy < coarse.error <= 0.4 * energy
    assert coarse.bits < exact.bits


def test_a_small_part_that_is_left_counts_by_its_price() -> None:
    known, energy = known_of(rows_of_all_sizes())
    cells = ClassCells.best(known, ways_from(30.0), Limit(6000.0, 0.0, energy))
    assert cells is not None
    near, far = Limit(cells.bits + 10, 0.0, energy), Limit(2 * cells.bits, 0.0, energy)
    assert near.left(cells) == pytest.approx(cells.error - 10 * cells.price)
    assert far.left(cells) == cells.error
