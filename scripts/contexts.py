"""Ideal lengths of a frame's symbols, told apart by class and by what both ends know besides."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.class_tables import CLASS_BITS, SYMBOL_BITS, choose_classes
from lossyfl.kernels.classes import keys_of
from lossyfl.kernels.levels import KEYS, LEVELS, NEUTRAL, SCORES, matrices
from lossyfl.kernels.model import entropy
from lossyfl.types import Vector
from lossyfl.wire.class_side import Levels, write_levels
from lossyfl.wire.classes import ClassCoded
from lossyfl.wire.frame import Opened, open_body
from lossyfl.wire.header import read_header
from lossyfl.wire.numbers import Writer

Ints = NDArray[np.int64]

SIZES = 14
"""Half octaves of a context's magnitudes that are told apart, from the largest down."""
LARGEST = 2000
"""One entry of so many may be larger than what counts as the largest."""


@dataclass(slots=True)
class ClassFrame:
    """A frame coded by class.

    symbols: of every entry, turned round in rows that lean down, as `down` says
    key:     of every entry
    """

    nbytes: int
    alphabet: int
    levels: Levels
    symbols: Ints
    key: Ints
    down: NDArray[np.bool_]

    @classmethod
    def of(cls, frame: bytes) -> "ClassFrame | None":
        """What a frame holds; None of one that is not coded by class."""
        opened = open_body(frame, read_header(frame))
        if not isinstance(opened, Opened) or not isinstance(opened.symbols, ClassCoded):
            return None
        coded, symbols = opened.symbols, opened.symbols.symbols(1).astype(np.int64)
        return cls._by(len(frame), coded.alphabet, coded.levels, symbols)

    @classmethod
    def _by(cls, nbytes: int, alphabet: int, levels: Levels, symbols: Ints) -> "ClassFrame":
        own = levels.shapes, levels.rows, levels.columns, levels.leans
        keys, down = keys_of(len(symbols), *own)
        turned = np.where(down, alphabet - 1 - symbols, symbols)
        return cls(nbytes, alphabet, levels, turned, keys.astype(np.int64), down)

    def with_levels(self, levels: Levels) -> "ClassFrame":
        """The same symbols by other levels."""
        return self._by(self.nbytes, self.alphabet, levels, self.plain)

    @property
    def plain(self) -> Ints:
        """The symbols as they are."""
        return np.where(self.down, self.alphabet - 1 - self.symbols, self.symbols)

    def saved(self, known: Vector) -> dict[str, float]:
        """Bytes that knowing a vector would save on top of classes, at the most, by how it is used.

        paid:   classes are cut further by it wherever their tables pay
        free:   every class is, with tables that cost nothing: no way to do so can save as much
        alone:  it stands for levels and leans, which then do not travel
        """
        classes, bits = priced(self.symbols, self.key, self.alphabet, KEYS)
        own = [np.flatnonzero(classes == each) for each in range(int(classes.max()) + 1)]
        whole = sum(_entropy(self.symbols[each], self.alphabet) for each in own)
        paid, free = bits, whole
        for symbols, group in self._ways(known):
            parts = [(symbols[each], group[each]) for each in own]
            paid = min(paid, sum(priced(*each, self.alphabet, 2 * SIZES + 1)[1] for each in parts))
            cells = (group + (2 * SIZES + 1) * classes) * self.alphabet + symbols
            free = min(free, _entropies(np.bincount(cells), self.alphabet))
        alone = bits + 8 * levels_nbytes(self.levels) - self._alone(known)
        return {"paid": (bits - paid) / 8, "free": (whole - free) / 8, "alone": alone / 8}

    def _ways(self, known: Vector) -> Iterator[tuple[Ints, Ints]]:
        """Symbols and groups of entries: by magnitude; by sign, too; and with symbols turned by it."""
        size = sizes_of(known)
        yield self.symbols, size
        sign = np.sign(known).astype(np.int64)
        beside = np.where(self.down, -sign, sign)
        yield self.symbols, SIZES + size * beside
        upright = self.key < SCORES
        other = self.alphabet - 1 - self.symbols
        turned = np.where(upright & (sign < 0), other, self.symbols)
        yield turned, SIZES + size * np.where(upright, 1, beside)

    def _alone(self, known: Vector) -> float:
        """Bits of the symbols by what the vector tells of rows, columns and entries."""
        rows, columns = _levels_of(known, self.levels)
        keys = np.empty(len(self.symbols), np.uint8)
        for of in matrices(keys, self.levels.shapes, rows, columns, rows):
            of.symbols[:] = of.rows[:, None] + of.columns[of.of_column]
        symbols = self.plain
        classes, _ = priced(symbols, keys.astype(np.int64), self.alphabet, KEYS)
        size, bits = sizes_of(known), 0.0
        for each in range(int(classes.max()) + 1):
            own = classes == each
            bits += priced(symbols[own], size[own], self.alphabet, SIZES + 1)[1]
        return bits


def priced(symbols: Ints, group: Ints, alphabet: int, groups: int) -> tuple[Ints, float]:
    """The class of every entry, neighbouring groups together, and bits with tables: the fewest."""
    starts = np.full(KEYS + 1, len(symbols), np.int64)
    starts[: groups + 1] = np.cumsum(np.bincount(group + 1, minlength=groups + 1))
    keyed = symbols[np.argsort(group, kind="stable")].astype(np.uint8)
    sums, class_of = np.empty((KEYS + 1) * alphabet, np.int64), np.empty(KEYS, np.uint8)
    classes = choose_classes(keyed, starts, alphabet, sums, class_of)
    assert classes > 0
    ends = np.searchsorted(class_of, np.arange(classes + 1))
    counts = np.diff(sums.reshape(-1, alphabet)[ends], axis=0)
    bits = sum(entropy(own) + SYMBOL_BITS * np.count_nonzero(own) for own in counts)
    return class_of[group].astype(np.int64), float(bits + CLASS_BITS * classes)


def priced_frame(frame: ClassFrame) -> float:
    """Bits of a frame's symbols by its levels, with tables."""
    return priced(frame.symbols, frame.key, frame.alphabet, KEYS)[1]


def sizes_of(known: Vector) -> Ints:
    """Magnitudes in half octaves, from the bits of their floats: 0 of zeros, `SIZES` of the largest."""
    half = (np.abs(known).view(np.uint32) >> 22).astype(np.int64)
    top = int(np.sort(half)[-1 - len(half) // LARGEST])
    return np.where(known != 0, np.clip(SIZES - top + half, 1, SIZES), 0)


def levels_nbytes(levels: Levels, before: Levels | None = None) -> int:
    """What levels and leans take; where others of the same shapes are known, as differences from those."""
    writer = Writer()
    if before is None:
        write_levels(writer, levels)
        return len(writer.data())
    pairs = (
        (levels.rows, before.rows),
        (levels.columns[levels.travels], before.columns[levels.travels]),
        (levels.leans, before.leans),
    )
    for family, (new, old) in enumerate(pairs):
        writer.add(family, new.astype(np.int64) - old)
    return len(writer.data())


def _levels_of(known: Vector, levels: Levels) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Rounded logarithms of mean magnitudes."""
    size, means = np.abs(known.astype(np.float64)), [list[float](), list[float]()]
    everywhere, at = max(float(size.mean()), 1e-30), 0
    for rows, columns, run in levels.shapes.reshape(-1, 3).tolist():
        own = size[at : at + rows * columns * run].reshape(rows, columns, run)
        at += rows * columns * run
        least = max(float(own.mean()), everywhere / 256)
        means[0] += (own.mean((1, 2)) / everywhere).tolist()
        means[1] += ((own.mean((0, 2)) + least / 64) / least).tolist() if columns > 1 else [1.0]
    return tuple(  # pyright: ignore[reportReturnType]
        np.clip(np.round(np.log2(np.maximum(each, 2.0**-NEUTRAL))) + NEUTRAL, 0, LEVELS - 1).astype(
            np.uint8
        )
        for each in means
    )


def _entropy(symbols: Ints, alphabet: int) -> float:
    return entropy(np.bincount(symbols, minlength=alphabet))


def _entropies(counts: Ints, alphabet: int) -> float:
    """The entropy of the symbols of every cell, summed."""
    cells = np.pad(counts, (0, -len(counts) % alphabet)).reshape(-1, alphabet)
    return sum(entropy(own) for own in cells[cells.any(1)])
