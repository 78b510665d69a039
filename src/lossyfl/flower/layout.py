"""A model as Flower's arrays <-> one vector of its floats, and what is not a float.

Floats of any width become one float32 vector, in the order of the record: that is what the protocol
moves. Everything else, such as counts of batches, is `exact`: it travels as it is. The layout says how
to put both together again.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
import numpy.lib.format as npy
from flwr.app import Array, ArrayRecord
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.types import Vector
from lossyfl.vectors import narrow_bfloat16, widen_bfloat16

FLOATS = ("float16", "bfloat16", "float32", "float64")
NUMPY = "numpy.ndarray"
"""Flower's name for arrays that are saved as NumPy saves them."""

Exact = Mapping[str, Array]
"""Arrays that are not floats, by name."""


class _Described(Protocol):
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One array of a model; `dtype` is Flower's name for it."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def is_float(self) -> bool:
        """Whether it is part of the vector."""
        return self.dtype in FLOATS

    @property
    def entries(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape, dtype=np.int64))

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
        return tuple(slot for slot in self.slots if slot.is_float)

    @cached_property
    def tensors(self) -> tuple[int, ...]:
        """The lengths of the vector's parts; those without entries are left out."""
        return tuple(slot.entries for slot in self.floats if slot.entries)

    def text(self) -> str:
        """As JSON, for a message."""
        return json.dumps([[slot.name, slot.dtype, list(slot.shape)] for slot in self.slots])


def read_layout(text: str) -> Layout:
    """The layout of a message."""
    try:
        facts = cast("list[tuple[str, str, list[int]]]", json.loads(text))
        slots = [
            Slot(name=str(name), dtype=str(dtype), shape=tuple(map(int, shape)))
            for name, dtype, shape in facts
        ]
    except (ValueError, TypeError) as error:
        raise InputError("layout", of="a message", allowed="a list", got=text[:80]) from error
    return Layout(slots=tuple(slots))


def layout_of(record: ArrayRecord) -> Layout:
    """The layout of a model."""
    slots = [
        Slot(name=name, dtype=array.dtype, shape=tuple(array.shape))
        for name, array in record.items()
    ]
    layout = Layout(slots=tuple(slots))
    if not layout.tensors:
        raise InputError("arrays", of="a model", allowed="some with floats", got="none")
    return layout


def flatten(record: ArrayRecord, layout: Layout, *, of: str) -> Vector:
    """The floats of a model as one vector."""
    check(record, layout, of=of)
    return np.concatenate([_floats(record[slot.name]) for slot in layout.floats])


def exact(record: ArrayRecord, layout: Layout) -> Exact:
    """The arrays of a model that are not floats."""
    return {slot.name: record[slot.name] for slot in layout.slots if not slot.is_float}


def check_exact(others: Exact, layout: Layout, *, of: str) -> None:
    """Raise unless these are the arrays of a layout that are not floats, and can be read."""
    for slot in layout.slots:
        array = others.get(slot.name)
        if slot.is_float or (array is not None and slot.fits(array) and _is_whole(array)):
            continue
        allowed = f"{slot.dtype} of shape {slot.shape}, as at the start"
        got = "none" if array is None else f"{array.dtype} of shape {array.shape}, or damaged"
        raise InputError(f"array {slot.name}", of=of, allowed=allowed, got=got)


def _is_whole(array: Array) -> bool:
    """Whether the bytes of an array are as NumPy saves it; nothing in them is parsed or trusted."""
    try:
        kind = np.dtype(array.dtype)
    except TypeError:
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
    """The entries of an array that `check_exact` has passed."""
    kind = np.dtype(array.dtype)
    size = int(np.prod(array.shape, dtype=np.int64)) * kind.itemsize
    start = len(array.data) - size
    return np.frombuffer(array.data, dtype=kind, offset=start).reshape(array.shape)


def unflatten(vector: Vector, others: Exact, layout: Layout) -> ArrayRecord:
    """The model of a vector, every array in its own dtype."""
    arrays: dict[str, Array] = {}
    at = 0
    for slot in layout.slots:
        if slot.is_float:
            arrays[slot.name] = _array(vector[at : at + slot.entries], slot)
            at += slot.entries
        else:
            arrays[slot.name] = others[slot.name]
    return ArrayRecord(arrays)


def filled(record: ArrayRecord, start: ArrayRecord, *, of: str) -> ArrayRecord:
    """A trained model with the arrays that it left out, taken from where it started."""
    for name in record:
        if name not in start:
            allowed = "those of the model that was sent"
            raise InputError("arrays", of=of, allowed=allowed, got=f"one more, {name}")
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


def _array(part: Vector, slot: Slot) -> Array:
    """Entries of the vector as the array of a slot."""
    if slot.dtype == "bfloat16":
        bits = narrow_bfloat16(np.ascontiguousarray(part)).view("V2").reshape(slot.shape)
        raw = Array(bits)
        return Array(dtype="bfloat16", shape=slot.shape, stype=NUMPY, data=raw.data)
    head = io.BytesIO()
    values = part.astype(slot.dtype, copy=False).reshape(slot.shape)
    npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(values))
    data = b"".join((head.getvalue(), np.ascontiguousarray(values).reshape(-1).view(np.uint8).data))
    return Array(dtype=slot.dtype, shape=slot.shape, stype=NUMPY, data=data)
