"""Which entries share a class, and levels that a quantizer hands on."""

from dataclasses import replace

import numpy as np
import pytest
from tests.kernels.tensors import entries_of, symbols_of

from lossyfl import InputError, decode, encode, quantizer, stream
from lossyfl.kernels.classes import keys_of
from lossyfl.types import GivenLevels, Quantized, UniformTable
from lossyfl.wire.class_plan import ClassOrder, near, order, plan
from lossyfl.wire.frame import pack
from lossyfl.wire.header import FrameMeta

SHAPES = np.array([40, 30, 3, 1, 1, 40])
SYMBOLS = symbols_of(SHAPES, 5, 3)
COUNTS = np.bincount(SYMBOLS, minlength=5)


def made() -> ClassOrder:
    found = order(SYMBOLS, COUNTS, SHAPES)
    assert found is not None
    return found


def given() -> GivenLevels:
    levels = made().levels
    return levels.rows, levels.columns, levels.leans


def test_class_of_an_entry_is_that_of_its_key() -> None:
    """Turned round where its row leans down."""
    found, entries = made(), entries_of(SHAPES)
    levels = found.levels
    keys, down = keys_of(entries, SHAPES, levels.rows, levels.columns, levels.leans)
    own = found.class_of[keys].astype(int)
    assert found.classes > 1
    assert down.any()
    expected = np.where(down, 2 * found.classes - 1 - own, own)
    assert np.array_equal(found.classes_of_entries(), expected)
    assert found.starts.tolist() == [int((own < c).sum()) for c in range(found.classes + 1)]


def test_levels_near_others_cost_no_more_than_they_save() -> None:
    """Where nearly nothing is sent, fewer levels are told."""
    sparse = SYMBOLS.copy()
    sparse[np.arange(len(sparse)) % 7 > 0] = 2
    counts, levels = np.bincount(sparse, minlength=5), made().levels
    nearer = near(sparse, counts, levels, 2)
    assert nearer is not None
    assert nearer.levels_nbytes() < made().levels_nbytes()
    kept = ClassOrder.of(sparse, 5, levels)
    assert nearer.plan().nbytes < kept.plan().nbytes


def test_levels_are_a_part_of_the_side_information() -> None:
    found = made()
    assert 0 < found.levels_nbytes() < len(found.plan().side)


def test_one_symbol_and_short_vectors_have_no_plan() -> None:
    shapes = np.array([20, 30, 1])
    one = np.ones(600, np.uint8)
    assert plan(one, np.array([0, 600, 0]), shapes) is None
    assert plan(one[:100], np.array([50, 50, 0]), np.array([10, 10, 1])) is None


def test_given_levels_make_no_plan_longer() -> None:
    anew = plan(SYMBOLS, COUNTS, SHAPES)
    own = plan(SYMBOLS, COUNTS, SHAPES, given())
    assert anew is not None
    assert own is not None
    assert own.nbytes <= anew.nbytes


def quantized() -> Quantized:
    table = UniformTable(low=np.zeros(1, np.float32), high=np.ones(1, np.float32), alphabet=5)
    bounds = np.array([0, len(SYMBOLS)])
    return Quantized(symbols=SYMBOLS, bounds=bounds, table=table, tensors=((40, 30, 3), (40,)))


@pytest.mark.parametrize("wrong", ["row", "column", "lean", "short", "type", "square"])
def test_levels_that_do_not_fit_are_refused(wrong: str) -> None:
    rows, columns, leans = (each.copy() for each in given())
    if wrong == "row":
        rows[0] = 16
    if wrong == "column":
        columns[0] = 16
    if wrong == "lean":
        leans[0] = 5
    rows = {"short": rows[1:], "type": rows.astype(np.int64), "square": rows[None]}.get(wrong, rows)
    with pytest.raises(InputError, match="levels of Quantized"):
        pack(replace(quantized(), levels=(rows, columns, leans)), FrameMeta())  # type: ignore[arg-type]


def test_given_levels_decode_to_the_same_symbols() -> None:
    with_levels = pack(replace(quantized(), levels=given()), FrameMeta())
    assert np.array_equal(decode(with_levels), decode(pack(quantized(), FrameMeta())))


def test_levels_are_left_alone() -> None:
    """A quantizer's arrays are its own: the plan improves copies."""
    levels = given()
    before = [each.copy() for each in levels]
    plan(SYMBOLS, COUNTS, SHAPES, levels)
    assert all(np.array_equal(a, b) for a, b in zip(before, levels, strict=True))


def test_without_matrices_levels_say_nothing() -> None:
    x = np.random.default_rng(2).normal(size=1000).astype(np.float32)
    q = quantizer("deadzone:target=1bit")
    assert encode(x, q, rng=stream(0), tensors=[1000]) == encode(x, q, rng=stream(0))
