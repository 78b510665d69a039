"""Tables and blocks: what is written is read, and nothing else is."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.errors import FrameError
from lossyfl.types import Codebook, Scaled, Table, UniformTable
from lossyfl.wire import tables

lengths = st.lists(st.integers(1, 2**40), min_size=1, max_size=20)


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


@given(lengths=lengths)
def test_blocks_come_back_and_take_bytes_only_if_uneven(lengths: list[int]) -> None:
    bounds = np.cumsum([0, *lengths])
    written, field = tables.write_blocks(bounds), tables.block_field(bounds)
    even = all(n == lengths[0] for n in lengths[:-1]) and lengths[-1] <= lengths[0] < 2**32 - 1
    assert (written == b"") == (len(lengths) == 1 or even)
    room = memoryview(written + b"\0" * 4 * len(lengths))  # the table behind them
    found, size = tables.read_blocks(room, int(bounds[-1]), field, offset=0)
    assert np.array_equal(found, bounds)
    assert size == len(written)


TABLES: list[Table] = [
    UniformTable(low=floats(0, 0), high=floats(1, 0), alphabet=5),
    UniformTable(low=floats(0.5, 0), high=floats(0.5, 3), alphabet=6),
    Codebook(values=floats(-1, 0, 2, 7, 8, 9).reshape(2, 3)),
    Scaled(scales=floats(2, 3), row=floats(-1, 0, 1)),
]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
def test_a_table_comes_back(table: Table) -> None:
    data = tables.write_table(table)
    assert len(data) == tables.table_nbytes(table.form, table.alphabet, 2)
    found = tables.read_table(memoryview(data), table.form, table.alphabet, 2, offset=0)
    assert np.array_equal(found.rows(0, 2), table.rows(0, 2))
    with pytest.raises(FrameError, match="bytes of tables"):
        tables.read_table(memoryview(data[:-1]), table.form, table.alphabet, 2, offset=0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__name__)
def test_every_value_has_to_be_finite(table: Table, bad: float) -> None:
    data = tables.write_table(table)
    for at in range(0, len(data), 4):
        damaged = data[:at] + struct.pack("<f", bad) + data[at + 4 :]
        with pytest.raises(FrameError):
            tables.read_table(memoryview(damaged), table.form, table.alphabet, 2, offset=0)


@pytest.mark.parametrize(
    ("data", "entries", "field"),
    [
        (b"", 100, 1),  # 100 tables, and no byte for them
        (b"\x00" * 9, 5, tables.LISTED),  # no block
        (b"\x7f" + b"\x01" * 9, 200, tables.LISTED),  # more blocks than bytes
        (b"\x02\x01\x01" + b"\0" * 9, 5, tables.LISTED),  # blocks that sum to less
        (b"\x02\x04\x04" + b"\0" * 9, 5, tables.LISTED),  # to more
        (b"\x02\x05\x00" + b"\0" * 9, 5, tables.LISTED),  # an empty one
        (b"\xff" * 12, 5, tables.LISTED),  # a number without an end
    ],
)
def test_blocks_that_no_writer_wrote(data: bytes, entries: int, field: int) -> None:
    with pytest.raises(FrameError):
        tables.read_blocks(memoryview(data), entries, field, offset=0)
