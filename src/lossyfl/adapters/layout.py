"""A model as Flower's arrays <-> one vector of its weights, and what is no weight.

Floats of any width become one float32 vector, in the order of the record: that is what the protocol
moves. Everything else, counts of batches and statistics (`lossyfl.adapters.statistics`), is `exact`: it
travels as it is. The layout says which is which, and how to put both together again.
"""

import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Protocol, cast

import numpy as np
import numpy.lib.format as npy
from flwr.app import Array, ArrayRecord
from numpy.typing import NDArray

from lossyfl.adapters.statistics import is_spread, statistics
from lossyfl.errors import InputError
from lossyfl.types import Vector
from lossyfl.wire.vectors import narrow_bfloat16, widen_bfloat16

FLOATS = ("float16", "bfloat16", "float32", "float64")
WHOLE = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)))
"""What travels exactly: of others, such as complex numbers, texts and dates, a node's mean is no sum."""
NUMPY = "numpy.ndarray"
"""Flower's name for arrays that are saved as NumPy saves them."""

LONGEST = 1 << 24
"""Characters of a layout: those of a hundred thousand arrays."""
MOST_AXES = 64
"""NumPy takes no more."""
MOST_ENTRIES = 1 << 40
MOST_ARRAYS = 1 << 16
"""Of one model: each costs a node some 100 microseconds a message, however small it is."""
DTYPE = re.compile(r"[<>|=]?[A-Za-z]{1,12}[0-9]{0,6}(\[[0-9]{0,6}[A-Za-z]{1,2}\])?", re.ASCII)
"""A dtype by its name: NumPy's own reader of such texts does far more."""
UNNAMED = " (an ArrayRecord of a list has no names: make it of a dict, or a state_dict)"
EXACT = "exact"
"""What a layout says behind the shape of floats that are not in the vector."""
_SLOTS = "a list of [name, dtype, shape], each name once"

Exact = Mapping[str, Array]
"""Arrays that are not in the vector, by name."""


class _Described(Protocol):
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One array of a model.

    dtype:     Flower's name for it
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

    def fits(self, array: _Described) -> bool:
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
    def tensors(self) -> tuple[int, ...]:
        """The lengths of the vector's parts; those without entries are left out."""
        return tuple(slot.entries for slot in self.floats if slot.entries)

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


@lru_cache(maxsize=4)  # a node reads it several times a message
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


def layout_of(record: ArrayRecord, exact: Sequence[str] = ()) -> Layout:
    """The layout of a model.

    exact: names of further floats that are not to be in the vector, with * for anything
    """
    slots = [
        Slot(name=name, dtype=array.dtype, shape=tuple(array.shape))
        for name, array in record.items()
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


def flatten(record: ArrayRecord, layout: Layout, *, of: str) -> Vector:
    """The floats of a model as one vector."""
    check(record, layout, of=of)
    return np.concatenate([_floats(record[slot.name]) for slot in layout.floats])


def exact(record: ArrayRecord, layout: Layout) -> Exact:
    """The arrays of a model that are not in the vector."""
    return {slot.name: record[slot.name] for slot in layout.slots if not slot.in_vector}


def check_exact(others: Exact, layout: Layout, *, of: str) -> None:
    """Raise unless these are the arrays of a layout that are not in the vector, and can be read."""
    expected = {slot.name for slot in layout.slots if not slot.in_vector}
    for name in others:
        if name not in expected:
            allowed = "those that travel exactly"
            raise InputError("arrays", of=of, allowed=allowed, got=f"one more, {name[:80]}")
    for slot in layout.slots:
        array = others.get(slot.name)
        if slot.in_vector:
            continue
        if array is not None and slot.fits(array) and _is_sound(array):
            _check_spread(slot, array, of=of)
            continue
        allowed = f"{slot.dtype} of shape {slot.shape}, as at the start"
        got = "none" if array is None else f"{array.dtype} of shape {array.shape}, or damaged"
        raise InputError(f"array {slot.name}", of=of, allowed=allowed, got=got)


def _check_spread(slot: Slot, array: Array, *, of: str) -> None:
    """Raise if a variance is below zero: it is nobody's honest statistic, and its root is NaN."""
    if slot.statistic and is_spread(slot.name):
        lowest = float(whole_values(array).astype(np.float64).min(initial=0.0))
        if lowest < 0:
            raise InputError(f"array {slot.name}", of=of, allowed="not below zero", got=lowest)


def _is_sound(array: Array) -> bool:
    """Whether an array can be read, and a mean with it is a number."""
    if not _is_whole(array):
        return False
    values = whole_values(array)
    return values.dtype.kind not in "fc" or bool(np.isfinite(values).all())


def _is_whole(array: Array) -> bool:
    """Whether the bytes of an array are as NumPy saves it; nothing in them is parsed or trusted."""
    try:
        kind = _saved_as(array)
    except (TypeError, ValueError):
        return False
    head = len(array.data) - int(np.prod(array.shape, dtype=np.int64)) * kind.itemsize
    return (
        array.stype == NUMPY
        and not kind.hasobject
        and 16 <= head <= 4096
        and array.data.startswith(b"\x93NUMPY")
        and f"'descr': '{kind.str}', 'fortran_order': False".encode() in array.data[:head]
    )


def whole_values(array: Array) -> NDArray[Any]:
    """The entries of an array that `check_exact` has passed; those of bfloat16 as float32."""
    kind = _saved_as(array)
    size = int(np.prod(array.shape, dtype=np.int64)) * kind.itemsize
    start = len(array.data) - size
    values = np.frombuffer(array.data, dtype=kind, offset=start).reshape(array.shape)
    return widen_bfloat16(values.view(np.uint16)) if array.dtype == "bfloat16" else values


def _saved_as(array: Array) -> np.dtype[Any]:
    """The dtype of an array on the wire: NumPy has no bfloat16 and saves two bytes without a meaning."""
    return np.dtype("V2" if array.dtype == "bfloat16" else array.dtype)


def check_range(vector: Vector, layout: Layout, *, of: str) -> None:
    """Raise if an array of a vector would be infinite in its own dtype, which is narrower."""
    at = 0
    for slot in layout.floats:
        part = vector[at : at + slot.entries]
        at += slot.entries
        if slot.dtype not in ("float16", "bfloat16") or not slot.entries:
            continue
        peak = np.abs(part).max().reshape(1)
        with np.errstate(over="ignore"):  # infinity is what is looked for
            narrow = _floats(to_array(peak, replace(slot, shape=(1,))))
        if not np.isfinite(narrow).all():
            allowed, got = f"not beyond {slot.dtype}", f"{float(peak[0]):.6g}"
            raise InputError(f"array {slot.name}", of=of, allowed=allowed, got=got)


def is_in_range(vector: Vector, layout: Layout) -> bool:
    """Whether every array of a vector is finite in its own dtype."""
    try:
        check_range(vector, layout, of="a model")
    except InputError:
        return False
    return True


def unflatten(vector: Vector, others: Exact, layout: Layout) -> ArrayRecord:
    """The model of a vector, every array in its own dtype."""
    arrays: dict[str, Array] = {}
    at = 0
    for slot in layout.slots:
        if slot.in_vector:
            arrays[slot.name] = to_array(vector[at : at + slot.entries], slot)
            at += slot.entries
        else:
            arrays[slot.name] = others[slot.name]
    return ArrayRecord(arrays)


def filled(record: ArrayRecord, start: ArrayRecord, *, of: str) -> ArrayRecord:
    """A trained model with the arrays that it left out, taken from where it started."""
    for name in record:
        if name not in start:
            allowed = "those of the model that was sent"
            got = f"one more, {name}{UNNAMED if name.isdecimal() else ''}"
            raise InputError("arrays", of=of, allowed=allowed, got=got)
    return ArrayRecord({name: record.get(name, array) for name, array in start.items()})


def check(record: ArrayRecord, layout: Layout, *, of: str) -> None:
    """Raise if a model has other arrays than the layout."""
    expected = {slot.name: slot for slot in layout.slots}
    for name in [*expected, *record]:
        slot, array = expected.get(name), record.get(name)
        if slot is not None and array is not None and slot.fits(array):
            continue
        allowed = "left out" if slot is None else f"{slot.dtype} of shape {slot.shape}"
        got = "none" if array is None else f"{array.dtype} of shape {tuple(array.shape)}"
        raise InputError(f"array {name}", of=of, allowed=f"{allowed}, as at the start", got=got)


def _floats(array: Array) -> Vector:
    """The entries of a float array."""
    values = _view(array)
    if array.dtype == "bfloat16":  # NumPy reads back bytes without a meaning
        return widen_bfloat16(values.view(np.uint16))
    with np.errstate(over="ignore"):  # infinity is reported with its index later
        return values.astype(np.float32, copy=False)


def _view(array: Array) -> NDArray[Any]:
    """The entries of an array where they lie, without a copy, if NumPy saved them in C order."""
    file = io.BytesIO(array.data)
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(file)
    except ValueError as error:
        raise InputError(
            "arrays", of="a model", allowed="as NumPy saves them", got=str(error)
        ) from error
    count = int(np.prod(shape, dtype=np.int64))
    whole = len(array.data) - file.tell() == count * dtype.itemsize
    if array.stype != NUMPY or fortran or dtype.hasobject or not whole:
        return _load(array).reshape(-1)
    return np.frombuffer(array.data, dtype=dtype, count=count, offset=file.tell())


def _load(array: Array) -> NDArray[Any]:
    if array.stype != NUMPY:
        allowed = f"serialized as {NUMPY}"
        raise InputError("arrays", of="a model", allowed=allowed, got=array.stype)
    return cast("NDArray[Any]", np.load(io.BytesIO(array.data), allow_pickle=False))


def to_array(part: Vector, slot: Slot | Array) -> Array:
    """Floats as the array of a slot, or as one like another."""
    if slot.dtype == "bfloat16":
        bits = narrow_bfloat16(np.ascontiguousarray(part)).view("V2")
        raw = Array(bits.reshape(slot.shape))
        return Array(dtype="bfloat16", shape=slot.shape, stype=NUMPY, data=raw.data)
    head = io.BytesIO()
    values = part.astype(slot.dtype, copy=False).reshape(slot.shape)
    npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(values))
    data = b"".join((head.getvalue(), np.ascontiguousarray(values).reshape(-1).view(np.uint8).data))
    return Array(dtype=slot.dtype, shape=slot.shape, stype=NUMPY, data=data)
