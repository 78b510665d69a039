"""Reading and writing safetensors files as raw tensors of any dtype.

The safetensors library has no bfloat16 or float8 on its NumPy side, and its lower layer changes
between releases; the format itself is fixed and small: u64 length of a JSON header, the header,
the data (https://github.com/huggingface/safetensors#format). tests/files compares with the library.
"""

import json
import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lossyfl.errors import InputError
from lossyfl.files.atomic import write_atomically
from lossyfl.files.reading import parse_json, read_bytes, require_file

SUFFIX = ".safetensors"
_LENGTH = struct.Struct("<Q")
MOST_AXES = 64
"""Of a shape: the product of very many sizes would take minutes."""

BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "U16": 16, "I16": 16, "F16": 16,
    "BF16": 16, "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64, "F64": 64, "C64": 64,
}  # fmt: skip
"""An entry's size by its dtype; of others the file alone says how long they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A tensor as it lies in the file; `dtype` is the format's own name, such as F32 or I64."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes | memoryview

    @property
    def entries(self) -> int:
        """The number of entries."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """The tensors of a file, in the order of their data, and its metadata."""

    tensors: tuple[Tensor, ...]
    metadata: dict[str, str]


def read(path: Path, *, mapped: bool = False) -> File:
    """The tensors of a safetensors file; `mapped` they stay on the disk until they are used."""
    if not mapped:
        return parse(read_bytes(path, of="a model"), of=path.name)
    require_file(path, of="a model")
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # ValueError: it is empty
        allowed = "one that can be read"
        raise InputError("file", of="a model", allowed=allowed, got=f"{path}: {error}") from error
    return parse(data, of=path.name)


def parse(data: bytes | mmap.mmap, *, of: str) -> File:
    """The tensors in the bytes of a safetensors file; they fill it from the header to the end."""
    try:
        (length,) = _LENGTH.unpack_from(data)
        header = _dict(parse_json(data[_LENGTH.size : _LENGTH.size + length], of=of))
        metadata = _dict(header.pop("__metadata__", {}))
        texts = {_text(key): _text(value) for key, value in metadata.items()}
        body = memoryview(data)[_LENGTH.size + length :]
        found = [_tensor(_text(name), _dict(info), body) for name, info in header.items()]
    except (struct.error, ValueError, KeyError) as error:
        allowed = "a whole safetensors file"
        raise InputError("content", of=of, allowed=allowed, got=f"another: {error}") from error
    found.sort(key=lambda pair: (pair[0], memoryview(pair[1].data).nbytes, pair[1].name))
    _check_places(found, len(body), of=of)
    return File(tensors=tuple(tensor for _, tensor in found), metadata=texts)


def _check_places(found: list[tuple[int, Tensor]], size: int, *, of: str) -> None:
    """Raise unless tensors fill a file one after the other: many that overlap would be a bomb."""
    at = 0
    for start, tensor in found:
        if start != at:
            allowed = f"at byte {at}, where the one before it ends"
            raise InputError(f"tensor {tensor.name}", of=of, allowed=allowed, got=start)
        at += memoryview(tensor.data).nbytes
    if at != size:
        raise InputError("tensors", of=of, allowed=f"{size} bytes in all", got=at)


def _tensor(name: str, info: dict[str, object], body: memoryview) -> tuple[int, Tensor]:
    """Where a tensor begins, and itself."""
    dtype, shape, offsets = _text(info["dtype"]), ints(info["shape"]), ints(info["data_offsets"])
    if len(offsets) != 2 or not offsets[0] <= offsets[1] <= len(body):
        raise ValueError(f"tensor {name} lies outside the file")
    start, stop = offsets
    bits = BITS.get(dtype)
    if bits is not None and math.prod(shape) * bits != 8 * (stop - start):
        raise ValueError(f"tensor {name} has another size than its shape")
    return start, Tensor(name=name, dtype=dtype, shape=shape, data=body[start:stop])


def ints(value: object) -> tuple[int, ...]:
    """A JSON list of sizes or offsets; raises ValueError for anything else."""
    if not isinstance(value, list):
        raise ValueError("a list of whole numbers is missing")
    items = cast("list[object]", value)
    if len(items) > MOST_AXES:
        raise ValueError(f"a list of {len(items)} whole numbers, of more than {MOST_AXES} axes")
    numbers = tuple(item for item in items if type(item) is int and 0 <= item < 1 << 63)
    if len(numbers) != len(items):
        raise ValueError("a size is no whole number")
    return numbers


def _dict(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError("a JSON object is missing")
    return cast("dict[str, object]", value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text is missing")
    value.encode()  # raises ValueError for half of a pair of surrogates, which no file can hold
    return value


def write(path: Path, file: File, *, mode: int | None = None) -> None:
    """Write a safetensors file, all or nothing."""
    write_atomically(path, pieces(file), mode=mode)


def pieces(file: File) -> list[bytes | memoryview]:
    """The bytes of a safetensors file."""
    header: dict[str, object] = {"__metadata__": file.metadata} if file.metadata else {}
    at = 0
    for tensor in file.tensors:
        size = memoryview(tensor.data).nbytes
        header[tensor.name] = {
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "data_offsets": [at, at + size],
        }
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # data begins at a multiple of eight
    return [_LENGTH.pack(len(text)), text, *(tensor.data for tensor in file.tensors)]
