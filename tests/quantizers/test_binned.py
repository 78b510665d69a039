"""A random part of a bin where the whole would be too much."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32

from lossyfl import quantizer, stream
from lossyfl.quantizers import magnitudes
from lossyfl.quantizers.binned import Filled, fill
from lossyfl.quantizers.cells import Cells, CellStatistics
from lossyfl.types import Quantized, Vector


def statistics(x: Vector) -> CellStatistics:
    bounds, factors = np.array([0, len(x)]), np.ones(1, np.float32)
    return CellStatistics.of(magnitudes.measure(x, bounds, factors), 0)


def made(x: Vector, spec: str, seed: int = 0) -> Quantized:
    return quantizer(spec).quantize(x, np.array([0, len(x)]), rng=stream(seed))


def values(quantized: Quantized) -> Vector:
    return quantized.table.rows(0, 1)[0][quantized.symbols]


WHOLE = np.random.default_rng(0).integers(-3, 4, size=20_000).astype(np.float32)


@pytest.mark.parametrize("name", ["deadzone", "topk", "sparse_ternary"])
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.8])
def test_whole_numbers_fill_any_rate(name: str, rate: float) -> None:
    """All entries of a bin are equal here, so a part of those of magnitude 3 or 2 must be left out."""
    found = made(WHOLE, f"{name}:target={rate}bit")
    assert found.counts is not None
    assert np.array_equal(found.counts, np.bincount(found.symbols, minlength=len(found.counts)))
    share = found.counts[found.counts > 0] / len(WHOLE)
    taken = -len(WHOLE) * float(share @ np.log2(share)) + 44 * len(share)
    assert taken == pytest.approx(rate * len(WHOLE), rel=0.05)


def test_parts_are_drawn_anew() -> None:
    spec = "sparse_ternary:target=0.3bit"
    one, other = (values(made(WHOLE, spec, seed)) != 0 for seed in (0, 1))
    assert np.array_equal(one, values(made(WHOLE, spec, 0)) != 0)
    assert 0 < (one & other).sum() < one.sum()
    assert set(np.abs(WHOLE[one])) == {3.0}


def test_a_value_is_the_mean_of_what_was_kept() -> None:
    """Threes and a part of the twos: the part is in the mean."""
    found = values(made(WHOLE, "sparse_ternary:target=1.2bit"))
    kept = found != 0
    assert set(np.abs(WHOLE[kept])) == {2.0, 3.0}
    assert not kept[np.abs(WHOLE) == 2].all()
    assert np.abs(found[kept]) == pytest.approx(np.abs(WHOLE[kept]).mean(), rel=1e-6)


@pytest.mark.parametrize(("less", "helps"), [(4, False), (5, True)])
def test_a_part_that_would_add_error_is_left_out(less: int, helps: bool) -> None:
    """A few entries of 4 among nines that go as their mean cost more than they bring, of 5 they do not."""
    known = statistics(np.repeat(f32([9, less, 0]), [100, 100, 20_000]))
    nines = Cells.of(known.known, np.array([known.known.stop - 1])).edges
    found = fill(known, nines, known.cost(nines)[0] + 300, 1)
    assert (found.part < 1) == (found.edges[0] < nines[0]) == helps


@given(st.integers(0, 1000), st.floats(0.01, 3), st.sampled_from([1, 100]))
def test_filling_never_adds_error_and_keeps_to_the_size(
    seed: int, rate: float, coarse: int
) -> None:
    x = np.random.default_rng(seed).standard_t(3, size=2000).astype(np.float32)
    x = np.rint(x * coarse).astype(np.float32)
    known = statistics(x)
    bits = rate * len(x)
    start = Cells.of(known.known, np.array([known.known.stop])).edges
    filled = fill(known, start, bits, 1)
    assert isinstance(filled, Filled)
    assert 0 <= filled.part <= 1
    if filled.part == 1:
        assert known.cost(filled.edges)[0] <= max(bits, known.cost(start)[0])
    assert known.cost(filled.edges)[1] <= known.cost(start)[1]


@pytest.mark.parametrize("levels", [4, 8])
def test_a_part_is_counted_as_cells_are(levels: int) -> None:
    """Where one sign is missing, too: a part of a bin takes what was left, not nearly all of the bin."""
    x = np.repeat(np.arange(20, dtype=np.float32), [10_000, *[30] * 19])
    known = statistics(x)
    used = known.known.first + np.flatnonzero(known.known.counts.sum(axis=0))
    edges = used[-levels:]
    wider = np.append(used[-levels - 1], edges[1:])
    before, after = known.cost(edges)[0], known.cost(wider)[0]
    filled = fill(known, edges, before + 0.5 * (after - before), levels)
    assert np.array_equal(filled.edges, wider)
    assert 0.3 < filled.part < 0.6


@pytest.mark.parametrize(("levels", "cells"), [(1, 1), (2, 2)])
def test_what_would_blur_a_cell_gets_its_own(levels: int, cells: int) -> None:
    """Ones beside nines: with another level allowed, as many of them as fit are a cell."""
    known = statistics(np.repeat(f32([9, 1, 0]), [100, 1000, 20_000]))
    nines = np.array([known.known.stop - 1])
    before = known.cost(nines)[0]
    filled = fill(known, nines, before + 1500, levels)
    assert len(filled.edges) == cells
    assert (0 < filled.part < 1) == (cells == 2)
    assert (filled.error(known) < known.cost(nines)[1]) == (cells == 2)
