"""What travels beside symbols that are coded by class, written and read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.tensors import entries_of, levels_of, symbols_of

from lossyfl import FrameError
from lossyfl.kernels.class_tables import choose_classes
from lossyfl.kernels.classes import gather_keys
from lossyfl.kernels.levels import KEYS, LEVELS, NEUTRAL, UPRIGHT
from lossyfl.wire.class_side import (
    COLUMNS,
    COLUMNS_OF,
    CUTS,
    LEAN,
    ROWS,
    RUNS,
    SHAPES,
    Levels,
    Tables,
    read_levels,
    read_tables,
    write_levels,
    write_tables,
)
from lossyfl.wire.numbers import Reader, Writer

KINDS = ((1, 1, 40), (9, 17, 1), (12, 3, 9), (5, 30, 3), (20, 1, 11))
"""Tensors that are worth a level for every row and column, which others must not have."""


def any_levels(seed: int) -> Levels:
    rng = np.random.default_rng(seed)
    shapes = np.array([KINDS[i] for i in rng.integers(0, len(KINDS), 3)]).ravel()
    levels = Levels(shapes, *levels_of(shapes, seed))
    levels.columns[~levels.travels] = NEUTRAL
    return levels


def written(levels: Levels, alphabet: int, seed: int) -> tuple[bytes, Tables, float]:
    """Levels and the tables of symbols as they are written; the tables, and the bits of symbols."""
    symbols = symbols_of(levels.shapes, alphabet, seed)
    keyed, edges = np.empty_like(symbols), levels.starts(len(symbols))
    own = levels.shapes, levels.rows, levels.columns, levels.leans
    assert gather_keys(symbols, alphabet, *own, *levels.scratch(), keyed) == 0
    sums, class_of = np.empty((KEYS + 1) * alphabet, np.int64), np.empty(KEYS, np.uint8)
    tables = Tables.of(choose_classes(keyed, edges, alphabet, sums, class_of), alphabet)
    tables.starts[:] = edges[np.searchsorted(class_of, np.arange(len(tables.groups) + 1))]
    writer = Writer()
    write_levels(writer, levels)
    bits = write_tables(writer, tables, class_of, edges, sums.reshape(-1, alphabet))
    return writer.data(), tables, bits


@given(seed=st.integers(0, 10**6), alphabet=st.sampled_from([2, 3, 5, 69, 256]))
def test_what_is_written_is_read(seed: int, alphabet: int) -> None:
    levels = any_levels(seed)
    entries = entries_of(levels.shapes)
    data, tables, bits = written(levels, alphabet, seed)
    reader = Reader(memoryview(data), offset=0)
    found = read_levels(reader, entries)
    assert found.shapes.tolist() == levels.shapes.tolist()
    assert found.rows.tolist() == levels.rows.tolist()
    assert found.columns.tolist() == levels.columns.tolist()
    assert found.leans.tolist() == levels.leans.tolist()
    opened = read_tables(reader, found, alphabet, entries)
    reader.finish()
    assert opened.starts.tolist() == tables.starts.tolist()
    assert opened.weights.tolist() == tables.weights.tolist()
    assert opened.frequencies.tolist() == tables.frequencies.tolist()
    assert opened.letters == tables.letters <= entries
    assert bits >= 0


def test_single_columns_do_not_travel_and_need_no_room() -> None:
    levels = Levels.of(np.array([5, 1, 40, 2, 3, 4]))
    assert levels.travels.tolist() == [False, True, True, True]
    assert [len(each) for each in levels.scratch()] == [12, 12]
    assert [len(each) for each in Levels.of(np.array([5, 1, 40])).scratch()] == [0, 0]


@pytest.mark.parametrize(
    ("family", "steps", "expected"),
    [
        (ROWS, [NEUTRAL, 0], "levels below"),
        (COLUMNS, [0, -NEUTRAL - 1, 0], "levels below"),
        (COLUMNS, [0, LEVELS, -LEVELS], "levels below"),
        (LEAN, [0, UPRIGHT + 1], "leans of at most"),
        (CUTS, [4, 2], "classes of keys"),
    ],
)  # fmt: skip
def test_what_no_encoder_writes_is_refused(family: int, steps: list[int], expected: str) -> None:
    """Of one matrix, 2 x 3 columns of 20 entries; the rest of it is right."""
    numbers = {
        SHAPES: [1, 1],
        COLUMNS_OF: [2],
        RUNS: [19],
        ROWS: [0, 1],
        COLUMNS: [0] * 3,
        LEAN: [0] * 2,
    }
    writer = Writer()
    for name, right in (numbers | {CUTS: [4, 1], family: steps}).items():
        writer.add(name, right)
    reader = Reader(memoryview(writer.data()), offset=7)
    with pytest.raises(FrameError, match=f"byte 7: expected {expected}"):
        read_tables(reader, read_levels(reader, 120), 3, 120)
