"""Reading and writing safetensors files as raw tensors of any dtype.

The safetensors library has no bfloat16 or float8 on its NumPy side, and its lower layer changes
between releases; the format itself is fixed and small: u64 length of a JSON header, the header,
the data (https://github.com/huggingface/safetensors#format). tests/files compares with the library.
"""

import json
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossyfl.errors import InputError
from lossyfl.files.atomic import write_atomically

SUFFIX = ".safetensors"
_LENGTH = struct.Struct("<Q")


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
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """The tensors of a file, in the order of their data, and its metadata."""

    tensors: tuple[Tensor, ...]
    metadata: dict[str, str]


def read(path: Path, *, mapped: bool = False) -> File:
    """The tensors of a safetensors file; `mapped` they stay on the disk until they are used."""
    if not mapped or not path.stat().st_size:
        return parse(path.read_bytes(), of=path.name)
    with path.open("rb") as file:
        return parse(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), of=path.name)


def parse(data: bytes | mmap.mmap, *, of: str) -> File:
    """The tensors in the bytes of a safetensors file."""
    try:
        (length,) = _LENGTH.unpack_from(data)
        header = json.loads(data[_LENGTH.size : _LENGTH.size + length])
        metadata = {str(k): str(v) for k, v in header.pop("__metadata__", {}).items()}
        body = memoryview(data)[_LENGTH.size + length :]
        tensors = [_tensor(name, info, body) for name, info in header.items()]
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        allowed = "a whole safetensors file"
        raise InputError("content", of=of, allowed=allowed, got="other bytes") from error
    order = {name: info["data_offsets"][0] for name, info in header.items()}
    tensors.sort(key=lambda tensor: (order[tensor.name], tensor.name))
    return File(tensors=tuple(tensors), metadata=metadata)


def _tensor(name: str, info: dict[str, object], body: memoryview) -> Tensor:
    start, stop = (int(n) for n in info["data_offsets"])  # type: ignore[attr-defined]
    shape = tuple(int(n) for n in info["shape"])  # type: ignore[attr-defined]
    if not 0 <= start <= stop <= len(body):
        raise ValueError(f"tensor {name} lies outside the file")
    return Tensor(name=name, dtype=str(info["dtype"]), shape=shape, data=body[start:stop])


def write(path: Path, file: File) -> None:
    """Write a safetensors file, all or nothing."""
    write_atomically(path, pieces(file))


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
