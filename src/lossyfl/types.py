"""What quantizers give and what frames carry: symbols, and tables that turn them back into floats.

Reconstruction is a table look-up, so that the server and all devices agree to the bit whatever the
quantizer was: a decoder knows tables, never quantizers. `Steps` is what may change with the round.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.kernels.values import ladder_rows
from lossyfl.streams import Stream

Vector: TypeAlias = NDArray[np.float32]
Symbols: TypeAlias = NDArray[np.uint8 | np.uint16]
Bounds: TypeAlias = NDArray[np.int64]
Counts: TypeAlias = NDArray[np.int64]
Scale: TypeAlias = Literal["model", "tensor"] | int
GivenLevels: TypeAlias = tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]
Shape: TypeAlias = int | Sequence[int]
"""Of a tensor: how many entries it has, or its dimensions."""
T = TypeVar("T")

MAX_ALPHABET = 65_536
LEAST_UNIFORM = 3
"""The fewest symbols of a uniform table: zero, and one level each way."""


def paper_bits(entries: int, blocks: int, levels: int) -> float:
    """R_Q = 64 + d (1 + log2(q + 1)), the paper's count, with 64 bits for every block.

    >>> paper_bits(1000, 1, 3)
    3064.0
    """
    return 64 * blocks + entries * (1 + math.log2(levels + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformTable:
    """Evenly spaced magnitudes with a sign: the table of every uniform quantizer, in two floats.

    Level l of q has the magnitude low + (high - low) * l / q, computed in float64 and rounded once.
    Symbols count the values upwards: -high ... -low, low ... high. An odd alphabet (2q + 1) has
    low = 0 and one symbol for it; an even one (2q + 2) has two.

    >>> UniformTable(low=np.float32([0]), high=np.float32([3]), alphabet=7).rows(0, 1)
    array([[-3., -2., -1.,  0.,  1.,  2.,  3.]], dtype=float32)
    >>> UniformTable(low=np.float32([1]), high=np.float32([2]), alphabet=4).rows(0, 1)
    array([[-2., -1.,  1.,  2.]], dtype=float32)
    """

    low: Vector
    high: Vector
    alphabet: int

    form: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not LEAST_UNIFORM <= self.alphabet <= MAX_ALPHABET:  # q = 0 would make every value 0 / 0
            allowed = f"in [{LEAST_UNIFORM}, {MAX_ALPHABET}]"
            raise InputError("alphabet", of="UniformTable", allowed=allowed, got=self.alphabet)

    @property
    def levels(self) -> int:
        """The number of levels on either side of zero, the paper's q."""
        return (self.alphabet - 1) // 2

    @property
    def blocks(self) -> int:
        """One row for each pair of floats."""
        return len(self.low)

    @property
    def peak(self) -> float:
        """The largest magnitude."""
        return float(np.abs(self.high).max())

    def rows(self, start: int, stop: int) -> NDArray[np.float32]:
        """The values of blocks [start, stop), one row each."""
        low, high = self.low[start:stop], self.high[start:stop]
        rows = np.empty((len(low), self.alphabet), dtype=np.float32)
        ladder_rows(np.ascontiguousarray(low), np.ascontiguousarray(high), self.alphabet, rows)
        return rows

    def look_up(self, symbols: Symbols, blocks: NDArray[np.int64]) -> Vector:
        """`rows(...)[block, symbol]` for pairs, without the rows: for blocks shorter than a row."""
        q, twin = self.levels, 1 - self.alphabet % 2
        place = symbols.astype(np.int64) - q
        below = place < twin  # -q ... 0 (or -1 and one zero above), then the same upwards
        steps = np.where(below, -place, place - twin).astype(np.float64)
        low, high = self.low[blocks].astype(np.float64), self.high[blocks].astype(np.float64)
        magnitude = (low + (high - low) * steps / q).astype(np.float32)
        return np.where(below & ((place < 0) | (twin == 1)), -magnitude, magnitude)


@dataclass(frozen=True, slots=True, kw_only=True)
class Codebook:
    """Any values at all: `values[block, symbol]`."""

    values: NDArray[np.float32]

    form: ClassVar[int] = 2

    @property
    def alphabet(self) -> int:
        """One symbol for each column."""
        return self.values.shape[1]

    @property
    def blocks(self) -> int:
        """One block for each row."""
        return self.values.shape[0]

    @property
    def peak(self) -> float:
        """The largest magnitude."""
        return float(np.abs(self.values).max())

    def rows(self, start: int, stop: int) -> NDArray[np.float32]:
        """The values of blocks [start, stop), one row each."""
        return self.values[start:stop]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """The same values for all blocks, times a scale for each: `scales[block] * row[symbol]`.

    >>> Scaled(scales=np.float32([1, 10]), row=np.float32([-2, 0, 2])).rows(0, 2)
    array([[ -2.,   0.,   2.],
           [-20.,   0.,  20.]], dtype=float32)
    """

    scales: Vector
    row: Vector

    form: ClassVar[int] = 3

    @property
    def alphabet(self) -> int:
        """One symbol for each value of the row."""
        return len(self.row)

    @property
    def blocks(self) -> int:
        """One for each scale."""
        return len(self.scales)

    @property
    def peak(self) -> float:
        """The largest magnitude."""
        with np.errstate(over="ignore"):  # infinity is reported by whoever asks
            return float(np.abs(self.scales).max() * np.abs(self.row).max())

    def rows(self, start: int, stop: int) -> NDArray[np.float32]:
        """The values of blocks [start, stop), one row each."""
        return self.scales[start:stop, None] * self.row

    def look_up(self, symbols: Symbols, blocks: NDArray[np.int64]) -> Vector:
        """`rows(...)[block, symbol]` for pairs, without the rows: for blocks shorter than a row."""
        return self.scales[blocks] * self.row[symbols]


Table: TypeAlias = UniformTable | Codebook | Scaled


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """That symbols are of a rotated vector: the seed of its signs, None for none, and the entries before."""

    seed: int | None
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantized:
    """A vector as symbols: entry i of block b stands for `table.rows(b, b + 1)[0, symbols[i]]`.

    symbols: one small integer per entry, uint8 when the alphabet has at most 256 symbols
    bounds:  block b is the entries [bounds[b], bounds[b + 1])
    table:   what the symbols stand for, one row per block
    counts:  how often each symbol occurs; `histogram.count` if left out
    rotation: how to turn the vector back, if it was rotated before
    dither:   the seed of what was added before rounding, in steps of the uniform table, then taken off
    tensors:  lengths or shapes of the model's tensors: symbols of matrices are coded by row and column
    source:   what was quantized, where it is not the vector itself but that rotated
    levels:   of rows, of columns, and leans of rows, by which symbols were chosen
    """

    symbols: Symbols
    bounds: Bounds
    table: Table
    counts: Counts | None = None
    rotation: Rotation | None = None
    dither: int | None = None
    tensors: tuple[Shape, ...] | None = None
    source: Vector | None = None
    levels: GivenLevels | None = None


class Quantizer(Protocol):
    """What a quantizer must be; `@register("name")` makes it known to command line and tests.

    One whose size a budget can set is `lossyfl.quantizers.targets.Adjustable`, too.

    unbiased:    whether the mean of the quantized vector is the vector
    errors_grow: whether errors that are kept and sent later are known to grow from round to round, where one
                 block is the whole vector
    """

    @property
    def unbiased(self) -> bool: ...  # noqa: D102

    @property
    def errors_grow(self) -> bool: ...  # noqa: D102

    @property
    def scale(self) -> Scale:
        """One table for the whole model, for each tensor, or for each block of so many entries."""
        ...

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`, with one table row per block of `bounds`."""
        ...

    def error_bound(self, entries: int) -> float | None:
        """The most that ||Q(x) - x||^2 / ||x||^2 can be in the mean; None if nothing is known."""
        ...

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """The bits that the quantizer's paper counts, to be shown beside the real bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Steps(Generic[T]):
    """Values and the rounds from which they hold.

    >>> Steps((0, 50), (8, 2)).at(60)
    2
    """

    rounds: tuple[int, ...]
    values: tuple[T, ...]

    @property
    def rise(self) -> bool:
        """Whether every round has one value: rounds rise, and the first is round 0."""
        return self.rounds[:1] == (0,) and all(a < b for a, b in pairwise(self.rounds))

    def at(self, round: int) -> T:
        """The value of a round."""
        return self.values[bisect_right(self.rounds, round) - 1]


def parse_steps(text: str, value: Callable[[str], T], *, wrong: InputError) -> Steps[T]:
    """What "8@0/2@50" says; a value alone holds from round 0.

    value: makes a value of its text; it may raise an error of its own
    wrong: raised where a text is no value, or no round
    """
    pairs = [step.partition("@")[::2] for step in text.split("/")]
    try:
        rounds = tuple(int(start or 0) for _, start in pairs)
        return Steps(rounds, tuple(value(said) for said, _ in pairs))
    except InputError:  # a ValueError, too, and it says more
        raise
    except ValueError:
        raise wrong from None


def read_only(x: Vector) -> Vector:
    """The same memory, not to be written."""
    view = x.view()
    view.flags.writeable = False
    return view


def symbol_type(alphabet: int) -> type[np.uint8] | type[np.uint16]:
    """The smallest unsigned type that holds every symbol of the alphabet."""
    return np.uint8 if alphabet <= 256 else np.uint16


def check_scale(scale: object, *, of: str) -> None:
    """Raise unless `scale` is "model", "tensor" or a block length."""
    if scale in ("model", "tensor"):
        return
    if not isinstance(scale, int) or isinstance(scale, bool) or not 1 <= scale < 2**32 - 1:
        allowed = '"model", "tensor" or a block length in [1, 2^32 - 2]'
        raise InputError("scale", of=of, allowed=allowed, got=scale)
