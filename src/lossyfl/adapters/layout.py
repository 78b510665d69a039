"""Which arrays a model has, in order, and which of them are its vector.

Floats of any width become one float32 vector, in the order of the model: that is what the protocol moves.
Everything else, counts of batches and statistics (`lossyfl.adapters.statistics`), is exact: it travels as it
is. The layout says which is which, and how to put both together again (`lossyfl.adapters.models`).
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import cast

from lossyfl.adapters.arrays import Shaped
from lossyfl.adapters.statistics import statistics
from lossyfl.errors import InputError
from lossyfl.types import Shape

FLOATS = ("float16", "bfloat16", "float32", "float64")
WHOLE = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
"""What travels exactly: of others, such as complex numbers, texts and dates, a mean of them is no sum."""

LONGEST = 1 << 24
"""Characters of a layout: those of a hundred thousand arrays."""
MOST_AXES = 64
"""NumPy takes no more."""
MOST_ENTRIES = 1 << 40
MOST_ARRAYS = 1 << 16
"""Of one model: each costs a device some 100 microseconds a message, however small it is."""
DTYPE = re.compile(r"[<>|=]?[A-Za-z]{1,12}[0-9]{0,6}(\[[0-9]{0,6}[A-Za-z]{1,2}\])?", re.ASCII)
"""A dtype by its name: NumPy's own reader of such texts does far more."""
EXACT = "exact"
"""What a layout says behind the shape of floats that are not in the vector."""
_SLOTS = "a list of [name, dtype, shape], each name once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One array of a model.

    dtype:     its name
    statistic: floats that travel exactly
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    statistic: bool = False

    @property
    def in_vector(self) -> bool:
        """Whether it is part of the vector."""
        return self.dtype in FLOATS and not self.statistic

    @property
    def entries(self) -> int:
        """How many numbers it has."""
        return math.prod(self.shape)

    def fits(self, array: Shaped) -> bool:
        """Whether an array is one of this slot."""
        return (array.dtype, tuple(array.shape)) == (self.dtype, self.shape)


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The arrays of a model, in order."""

    slots: tuple[Slot, ...]

    @cached_property
    def floats(self) -> tuple[Slot, ...]:
        """Those that make the vector."""
        return tuple(slot for slot in self.slots if slot.in_vector)

    @cached_property
    def statistics(self) -> tuple[Slot, ...]:
        """Floats that travel exactly."""
        return tuple(slot for slot in self.slots if slot.statistic)

    @cached_property
    def tensors(self) -> tuple[Shape, ...]:
        """The shapes of the vector's parts; those without entries are left out."""
        return tuple(slot.shape for slot in self.floats if slot.entries)

    @cached_property
    def entries(self) -> int:
        """How many the vector has."""
        return sum(slot.entries for slot in self.floats)

    def text(self) -> str:
        """As JSON, for a message."""
        return json.dumps([_facts(slot) for slot in self.slots])

    def is_of(self, other: "Layout") -> bool:
        """Whether both are of the same arrays, whichever of them travel exactly."""
        plain = [replace(slot, statistic=False) for slot in other.slots]
        return [replace(slot, statistic=False) for slot in self.slots] == plain


def _facts(slot: Slot) -> list[object]:
    facts: list[object] = [slot.name, slot.dtype, list(slot.shape)]
    return [*facts, EXACT] if slot.statistic else facts


def read_layout(text: object) -> Layout:
    """The layout of a message or a file; raises InputError if it is none."""
    try:
        if not isinstance(text, str) or len(text) > LONGEST:
            raise ValueError("it is no text, or too long")
        return _parse(text)
    except (ValueError, TypeError, RecursionError) as error:
        got = f"{str(text)[:80]!r} ({error})"
        raise InputError("layout", of="a message", allowed=_SLOTS, got=got) from error


@lru_cache(maxsize=4)  # a device reads it several times a message
def _parse(text: str) -> Layout:
    facts = json.loads(text)
    if not isinstance(facts, list) or len(cast("list[object]", facts)) > MOST_ARRAYS:
        raise ValueError(f"it is no list of at most {MOST_ARRAYS}")
    slots = tuple(map(_read_slot, cast("list[object]", facts)))
    if len({slot.name for slot in slots}) != len(slots):
        raise ValueError("a name comes twice")
    if sum(slot.entries for slot in slots) > MOST_ENTRIES:
        raise ValueError(f"it has more than {MOST_ENTRIES} entries")
    return Layout(slots=slots)


def _read_slot(facts: object) -> Slot:
    name, dtype, shape, *more = cast("list[object]", facts)
    if not isinstance(name, str) or not isinstance(dtype, str) or not isinstance(shape, list):
        raise TypeError("an array is no [name, dtype, shape]")
    sizes = cast("list[object]", shape)
    if dtype not in (*FLOATS, *WHOLE) or len(sizes) > MOST_AXES:
        raise ValueError(f"an array has the dtype {dtype[:80]!r} and {len(sizes)} axes")
    if not all(type(size) is int and 0 <= size <= MOST_ENTRIES for size in sizes):
        raise ValueError("a shape is not of whole numbers")
    # NumPy takes no other for an array without entries, either.
    if math.prod(size or 1 for size in cast("list[int]", sizes)) > MOST_ENTRIES:
        raise ValueError(f"a shape of more than {MOST_ENTRIES} entries, but for its zeros")
    if more and (more != [EXACT] or dtype not in FLOATS):
        raise ValueError(f"behind a shape is {str(more)[:80]}")
    shape = tuple(cast("list[int]", sizes))
    return Slot(name=name, dtype=dtype, shape=shape, statistic=bool(more))


def layout_of(arrays: Mapping[str, Shaped], exact: Sequence[str] = ()) -> Layout:
    """The layout of a model.

    exact: names of further floats that are not to be in the vector, with * for anything
    """
    slots = [
        Slot(name=name, dtype=array.dtype, shape=tuple(array.shape))
        for name, array in arrays.items()
    ]
    for slot in slots:
        if slot.dtype not in (*FLOATS, *WHOLE):
            allowed = (
                "one of float16, bfloat16, float32, float64, bool, int8 to int64, uint8 to uint64"
            )
            raise InputError(f"dtype of {slot.name}", of="a model", allowed=allowed, got=slot.dtype)
    if len(slots) > MOST_ARRAYS:
        allowed = f"at most {MOST_ARRAYS} arrays"
        raise InputError("arrays", of="a model", allowed=allowed, got=len(slots))
    found = statistics([slot for slot in slots if slot.in_vector], exact)
    layout = Layout(slots=tuple(replace(slot, statistic=slot.name in found) for slot in slots))
    if not layout.tensors:
        raise InputError("arrays", of="a model", allowed="some with floats", got="none")
    return layout
