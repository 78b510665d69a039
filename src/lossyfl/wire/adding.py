"""Adding a frame to a sum without making its vector.

A reply is decoded to letters, or to symbols where there are several tables, which shows whether it is
whole; only then is it added, one pass over the sum, `weight * value` looked up and added an entry.
Sums are float32, in the order of the calls. A raw, rotated or dithered frame has a vector, which is added as
it is.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.adding import (
    add,
    add_letters,
    add_rows,
    sum_looked_up,
    sum_of_squares,
    sum_rows,
)
from lossyfl.kernels.rans import digit_table
from lossyfl.types import Bounds, Quantized, Symbols, Table, Vector
from lossyfl.wire import body, frame
from lossyfl.wire.facts import Facts, facts_of
from lossyfl.wire.frame import Opened
from lossyfl.wire.header import MAX_ENTRIES, Bytes, Header, read_header
from lossyfl.wire.values import ROWS_AT_ONCE, is_sparse, values


class Terms(Protocol):
    """What a frame adds to a sum; `peak` is no smaller than any of its magnitudes."""

    @property
    def peak(self) -> float: ...  # noqa: D102

    def add_to(self, total: Vector, weight: float) -> None:
        """Total += weight * vector, entry by entry in float32."""
        ...

    def energy(self, entries: int) -> float:
        """The sum of squares over so many entries, in float64: the same to the bit on any machine."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Addend:
    """A frame that has been decoded as far as to be found whole."""

    header: Header
    facts: Facts
    terms: Terms


def open_addend(data: Bytes, *, max_entries: int = MAX_ENTRIES, threads: int = 1) -> Addend:
    """Decode a frame's letters; raises FrameError, and touches no sum."""
    header = read_header(data, max_entries)
    opened = frame.open_body(data, header)
    known = facts_of(opened, memoryview(data).nbytes)
    return Addend(header=header, facts=known, terms=_terms(opened, threads))


def terms_of(quantized: Quantized) -> Terms:
    """What the frame of these symbols will add, without decoding it."""
    if quantized.rotation is not None or quantized.dither is not None:
        return Plain(vector=values(quantized))
    return Blocks(symbols=quantized.symbols, bounds=quantized.bounds, table=quantized.table)


def _terms(opened: Opened | Vector, threads: int) -> Terms:
    if not isinstance(opened, Opened):
        return Plain(vector=opened)
    if opened.rotation is not None or opened.dither is not None:
        return Plain(vector=frame.reconstruct(opened, threads))
    coded = opened.symbols
    if opened.table.blocks == 1 and isinstance(coded, body.Coded):
        digits = digit_table(coded.alphabet, coded.group)
        return Letters(letters=coded.letters(threads), values=opened.table.rows(0, 1)[0][digits])
    return Blocks(symbols=coded.symbols(threads), bounds=opened.bounds, table=opened.table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plain:
    """A frame that was decoded whole, because its table does not allow for less."""

    vector: Vector

    @property
    def peak(self) -> float:
        """The largest magnitude."""
        return float(np.abs(self.vector).max())

    def add_to(self, total: Vector, weight: float) -> None:
        """Total += weight * vector."""
        add(self.vector, weight, total)

    def energy(self, entries: int) -> float:
        """The sum of squares."""
        return sum_of_squares(self.vector[:entries])


@dataclass(frozen=True, slots=True, kw_only=True)
class Letters:
    """Letters, and the values of each letter's symbols."""

    letters: Symbols
    values: NDArray[np.float32]

    @property
    def peak(self) -> float:
        """The largest magnitude of the table."""
        return float(np.abs(self.values).max())

    def add_to(self, total: Vector, weight: float) -> None:
        """Total += weight * vector."""
        rows = self.values * np.float32(weight)
        add_letters(self.letters, rows, rows.shape[1], total)

    def energy(self, entries: int) -> float:
        """The sum of squares, letter by letter; of the last letter only the entries that there are."""
        whole, rest = divmod(entries, self.values.shape[1])
        squares = np.square(self.values, dtype=np.float64)
        total = sum_looked_up(self.letters[:whole], _sums(squares))
        return total + (float(_sums(squares[:, :rest])[self.letters[whole]]) if rest else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Symbols, and a table for each block of them."""

    symbols: Symbols
    bounds: Bounds
    table: Table

    @property
    def peak(self) -> float:
        """The largest magnitude of the tables."""
        return self.table.peak

    def add_to(self, total: Vector, weight: float) -> None:
        """Total += weight * vector."""
        if is_sparse(self.table, len(self.symbols)):
            quantized = Quantized(symbols=self.symbols, bounds=self.bounds, table=self.table)
            add(values(quantized), weight, total)
            return
        step = max(1, ROWS_AT_ONCE // self.table.alphabet)
        for start in range(0, self.table.blocks, step):
            stop = min(start + step, self.table.blocks)
            rows = self.table.rows(start, stop) * np.float32(weight)
            add_rows(self.symbols, self.bounds[start : stop + 1], rows, total)

    def energy(self, entries: int) -> float:
        """The sum of squares, block by block."""
        if is_sparse(self.table, len(self.symbols)):
            quantized = Quantized(symbols=self.symbols, bounds=self.bounds, table=self.table)
            return sum_of_squares(values(quantized)[:entries])
        step, total = max(1, ROWS_AT_ONCE // self.table.alphabet), 0.0
        for start in range(0, self.table.blocks, step):
            stop = min(start + step, self.table.blocks)
            squares = np.square(self.table.rows(start, stop), dtype=np.float64)
            total += sum_rows(self.symbols, self.bounds[start : stop + 1], squares)
        return total


def _sums(squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of every row, from left to right."""
    total = np.zeros(len(squares))
    for column in squares.T:
        total += column
    return total
