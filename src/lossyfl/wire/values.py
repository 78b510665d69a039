"""What symbols stand for: the look-up in their table, and back through dither and rotation."""

import numpy as np

from lossyfl.errors import FrameError, InputError
from lossyfl.kernels import parallel
from lossyfl.kernels.values import look_up as look_up_rows
from lossyfl.types import Codebook, Quantized, Rotation, Table, UniformTable, Vector
from lossyfl.wire import dither
from lossyfl.wire.header import HEADER
from lossyfl.wire.rotation import unrotate

ROWS_AT_ONCE = 1 << 16


def values(quantized: Quantized, threads: int = 1) -> Vector:
    """The vector that the symbols stand for; few rows of a long table exist at a time."""
    symbols, bounds, table = quantized.symbols, quantized.bounds, quantized.table
    out = np.empty(len(symbols), dtype=np.float32)
    if not isinstance(table, Codebook) and is_sparse(table, len(symbols)):
        for start in range(0, len(symbols), ROWS_AT_ONCE):
            own = np.arange(start, min(start + ROWS_AT_ONCE, len(symbols)))
            blocks = np.searchsorted(bounds, own, side="right") - 1
            out[own] = table.look_up(symbols[own], blocks)
    else:
        step = max(1, ROWS_AT_ONCE // table.alphabet)

        def look_up(blocks: range) -> None:
            rows = table.rows(blocks.start, blocks.stop)
            own = bounds[blocks.start : blocks.stop + 1]
            if look_up_rows(symbols, own, np.ascontiguousarray(rows), out) < 0:
                allowed = f"below the alphabet ({table.alphabet})"
                raise InputError("symbols", of="Quantized", allowed=allowed, got="others")

        parallel.run(look_up, parallel.split(table.blocks, step, threads), threads)
    if quantized.dither is not None and isinstance(table, UniformTable):
        dither.take_off(out, bounds, table, quantized.dither)
        if not np.isfinite(out).all():
            raise FrameError(HEADER.size, "a dithered vector of finite floats", "an overflow")
    return _turned_back(out, quantized.rotation)


def check_values(quantized: Quantized, threads: int = 1) -> None:
    """Raise where `values` would: dither and rotation may overflow, tables are finite."""
    if quantized.dither is not None or quantized.rotation is not None:
        values(quantized, threads)


def is_even(table: Table) -> bool:
    """Whether a table is of even steps from zero on, which dither needs."""
    return isinstance(table, UniformTable) and table.alphabet % 2 == 1


def is_sparse(table: Table, symbols: int) -> bool:
    """Whether all rows of the table would be much larger than the vector: blocks below a row."""
    many = table.blocks * table.alphabet > 4 * symbols + ROWS_AT_ONCE
    return many and not isinstance(table, Codebook)


def _turned_back(x: Vector, rotation: Rotation | None) -> Vector:
    """The vector before its rotation, if it was rotated."""
    if rotation is None:
        return x
    turned = unrotate(x, rotation.seed, rotation.entries)
    if not np.isfinite(turned).all():
        raise FrameError(HEADER.size, "a rotated vector of finite floats", "an overflow")
    return turned
