"""One array of a model as it travels: its dtype, its shape, and its bytes as NumPy saves them.

NumPy has no bfloat16: it saves two bytes without a meaning, and the dtype beside them says what they are.
"""

import io
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import numpy.lib.format as npy
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.types import Vector
from lossyfl.wire.vectors import narrow_bfloat16, widen_bfloat16

NUMPY = "numpy.ndarray"
"""The name of what NumPy saves, beside an array's bytes on the wire."""


class Shaped(Protocol):
    """Anything with a dtype, by its name, and a shape."""

    @property
    def dtype(self) -> str:
        """Such as float32 or bfloat16."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """How many entries each axis has."""
        ...


class Serialized(Shaped, Protocol):
    """An array of a framework's, or ours: all that an adapter reads of it."""

    @property
    def stype(self) -> str:
        """How it was serialized."""
        ...

    @property
    def data(self) -> bytes:
        """The serialized array."""
        ...


@dataclass(frozen=True, slots=True)
class Array:
    """An array of ours.

    >>> Array.of(np.float32([1, 2])).numpy()
    array([1., 2.], dtype=float32)
    """

    dtype: str
    shape: tuple[int, ...]
    stype: str
    data: bytes

    @classmethod
    def of(cls, values: NDArray[Any]) -> "Array":
        """The array of NumPy's, as NumPy saves it."""
        file = io.BytesIO()
        np.save(file, values, allow_pickle=False)
        return cls(str(values.dtype), tuple(values.shape), NUMPY, file.getvalue())

    @classmethod
    def like(cls, other: Serialized) -> "Array":
        """The array of a framework; it shares the bytes."""
        return cls(other.dtype, tuple(other.shape), other.stype, other.data)

    def numpy(self) -> NDArray[Any]:
        """The array for NumPy; of bfloat16 it has bytes without a meaning."""
        return _load(self)


def to_array(part: Vector, slot: Shaped) -> Array:
    """Floats as an array of this dtype and shape."""
    if slot.dtype == "bfloat16":
        bits = narrow_bfloat16(np.ascontiguousarray(part)).view("V2")
        raw = Array.of(bits.reshape(slot.shape))
        return Array("bfloat16", slot.shape, NUMPY, raw.data)
    head = io.BytesIO()
    values = part.astype(slot.dtype, copy=False).reshape(slot.shape)
    npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(values))
    data = b"".join((head.getvalue(), np.ascontiguousarray(values).reshape(-1).view(np.uint8).data))
    return Array(slot.dtype, slot.shape, NUMPY, data)


def floats(array: Serialized) -> Vector:
    """The entries of an array of floats, flat."""
    values = _view(array)
    if array.dtype == "bfloat16":  # NumPy reads back bytes without a meaning
        return widen_bfloat16(values.view(np.uint16))
    with np.errstate(over="ignore"):  # infinity is reported with its index later
        return values.astype(np.float32, copy=False)


def is_whole(array: Serialized) -> bool:
    """Whether the bytes of an array are as NumPy saves it, and as many; none of them is trusted.

    The header says how long it is: entries that are a byte short would be read from within it.
    """
    try:
        kind = _saved_as(array)
    except (TypeError, ValueError):
        return False
    head = len(array.data) - int(np.prod(array.shape, dtype=np.int64)) * kind.itemsize
    return (
        array.stype == NUMPY
        and not kind.hasobject
        and array.data.startswith(b"\x93NUMPY\x01\x00")
        and head == 10 + int.from_bytes(array.data[8:10], "little")
        and f"'descr': '{kind.str}', 'fortran_order': False".encode() in array.data[:head]
    )


def whole_values(array: Serialized) -> NDArray[Any]:
    """The entries of an array that `is_whole` has passed; those of bfloat16 as float32."""
    kind = _saved_as(array)
    size = int(np.prod(array.shape, dtype=np.int64)) * kind.itemsize
    start = len(array.data) - size
    values = np.frombuffer(array.data, dtype=kind, offset=start).reshape(array.shape)
    return widen_bfloat16(values.view(np.uint16)) if array.dtype == "bfloat16" else values


def kind_of(dtype: str) -> str:
    """NumPy's letter for a kind of numbers; it does not know bfloat16."""
    return "f" if dtype == "bfloat16" else np.dtype(dtype).kind


def _saved_as(array: Serialized) -> np.dtype[Any]:
    """The dtype of an array's bytes: NumPy saves those of bfloat16 without a meaning."""
    return np.dtype("V2" if array.dtype == "bfloat16" else array.dtype)


def _view(array: Serialized) -> NDArray[Any]:
    """The entries of an array where they lie, without a copy, if NumPy saved them in C order."""
    file = io.BytesIO(array.data)
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(file)
    except ValueError as error:
        allowed = "as NumPy saves them"
        raise InputError("arrays", of="a model", allowed=allowed, got=str(error)) from error
    count = int(np.prod(shape, dtype=np.int64))
    whole = len(array.data) - file.tell() == count * dtype.itemsize
    if array.stype != NUMPY or fortran or dtype.hasobject or not whole:
        return _load(array).reshape(-1)
    return np.frombuffer(array.data, dtype=dtype, count=count, offset=file.tell())


def _load(array: Serialized) -> NDArray[Any]:
    if array.stype != NUMPY:
        allowed = f"serialized as {NUMPY}"
        raise InputError("arrays", of="a model", allowed=allowed, got=array.stype)
    return cast("NDArray[Any]", np.load(io.BytesIO(array.data), allow_pickle=False))
