"""Saved state: dataclasses of arrays, bytes and numbers as one safetensors file, to the bit.

Arrays and bytes become tensors, named by their path (`link.memory`, `log.3.frame`); everything else
becomes JSON in the metadata. The types of fields say what is read back, so a file never loads code.
"""

import dataclasses
import json
import os
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import xxhash

from lossyfl.errors import InputError
from lossyfl.files import disk, safetensors
from lossyfl.files.atomic import open_private
from lossyfl.files.reading import parse_json
from lossyfl.files.safetensors import File, Tensor

if typing.TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "lossyfl-snapshot-1"
LARGEST_WHOLE = 1 << 100
"""No number of a state is beyond, and every one below is a float32, too."""
T = TypeVar("T")


def save(path: Path, state: object, *, mode: int | None = None) -> None:
    """Write a state, all or nothing; `mode` is the file's, by default as of any other."""
    safetensors.write(path, _file(state), mode=mode)


def overwrite(path: Path, state: object, *, digest: bool = True) -> None:
    """Write a state into a file that nobody needs; if that ends early, `load` says that it is damaged.

    digest: whether `load` shall be able to tell
    """
    fd = open_private(path)
    try:
        size = 0
        for piece in safetensors.pieces(_file(state, digest=digest)):
            disk.write(fd, path, piece)
            size += memoryview(piece).nbytes
        disk.truncate(fd, path, size)
    finally:
        os.close(fd)


def nbytes(state: object) -> int:
    """The bytes of a state's arrays, which is next to all that a file of it takes."""
    tensors: list[Tensor] = []
    _dump(state, "", tensors)
    return sum(memoryview(tensor.data).nbytes for tensor in tensors)


def _file(state: object, *, digest: bool = True) -> File:
    tensors: list[Tensor] = []
    facts = _dump(state, "", tensors)
    tensors.sort(key=lambda tensor: tensor.dtype != "F32")  # floats first, so that they are aligned
    text = json.dumps(facts)
    metadata = {"format": FORMAT, "kind": type(state).__name__, "facts": text}
    if digest:
        metadata["digest"] = _digest(text, tensors)
    return File(tensors=tuple(tensors), metadata=metadata)


def load(path: Path, kind: type[T], *, mapped: bool = False, digest: bool = True) -> T:
    """The state of a file; raises if it is of another kind or version, or damaged.

    mapped: large arrays stay on the disk until they are used, and cannot be written to
    digest: whether to check every byte for that
    """
    if not path.is_file() or path.is_symlink():
        allowed = "one that exists, and no link"
        raise InputError("file", of="a snapshot", allowed=allowed, got=str(path))
    file = safetensors.read(path, mapped=mapped)
    found = (file.metadata.get("format"), file.metadata.get("kind"))
    if found != (FORMAT, kind.__name__):
        allowed = f"{FORMAT} of {kind.__name__}"
        raise InputError("content", of=path.name, allowed=allowed, got=f"{found[0]} of {found[1]}")
    text = file.metadata.get("facts", "")
    if digest and file.metadata.get("digest") != _digest(text, file.tensors):
        allowed = f"a whole {kind.__name__}"
        raise InputError("content", of=path.name, allowed=allowed, got="damaged")
    tensors = {tensor.name: tensor if mapped else _own(tensor) for tensor in file.tensors}
    try:
        return cast("T", _parse(kind, parse_json(text, of=path.name), "", tensors))
    except KeyError as error:
        allowed, got = f"a {kind.__name__} of this version of lossyfl", f"one without {error}"
        raise InputError("content", of=path.name, allowed=allowed, got=got) from error
    except (ValueError, TypeError) as error:
        allowed = f"a whole {kind.__name__}"
        raise InputError(
            "content", of=path.name, allowed=allowed, got=f"damaged: {error}"
        ) from error


def _own(tensor: Tensor) -> Tensor:
    """The tensor in memory of its own, to be written to."""
    return dataclasses.replace(tensor, data=memoryview(bytearray(tensor.data)))


def _digest(facts: str, tensors: Sequence[Tensor]) -> str:
    """XXH3-64 of everything in a snapshot, whatever the order of its tensors."""
    digest = xxhash.xxh3_64(facts.encode())
    for tensor in sorted(tensors, key=lambda tensor: tensor.name):
        digest.update(tensor.name.encode())
        digest.update(tensor.data)
    return digest.hexdigest()


def _dump(value: object, path: str, tensors: list[Tensor]) -> object:
    """The JSON of a value, its arrays and bytes moved to `tensors`."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _dump(getattr(value, field.name), f"{path}{field.name}.", tensors)
            for field in dataclasses.fields(value)
        }
    if isinstance(value, np.ndarray):
        array = cast("NDArray[np.float32]", value)
        data = np.ascontiguousarray(array, dtype="<f4").reshape(-1).view(np.uint8).data
        tensors.append(Tensor(name=path[:-1], dtype="F32", shape=array.shape, data=data))
        return None
    if isinstance(value, bytes):
        tensors.append(Tensor(name=path[:-1], dtype="U8", shape=(len(value),), data=value))
        return None
    if isinstance(value, dict):
        items = cast("dict[int, object]", value).items()
        return {str(key): _dump(item, f"{path}{key}.", tensors) for key, item in items}
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        return [_dump(item, f"{path}{i}.", tensors) for i, item in enumerate(items)]
    return value


def _has_default(field: "dataclasses.Field[Any]") -> bool:
    missing = dataclasses.MISSING
    return field.default is not missing or field.default_factory is not missing


def _parse(kind: Any, facts: object, path: str, tensors: dict[str, Tensor]) -> object:  # noqa: ANN401
    """A value of the type `kind`; raises ValueError if the facts are of another."""
    origin, arguments = _origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        found, hints = _items(facts, path), typing.get_type_hints(kind)
        # What an older version did not know yet has its default; those who need more refuse it.
        names = [f.name for f in dataclasses.fields(kind) if f.name in found or not _has_default(f)]
        fields = {n: _parse(hints[n], found[n], f"{path}{n}.", tensors) for n in names}
        return cast("Any", kind)(**fields)
    if origin is np.ndarray:
        return _array(tensors[path[:-1]])
    if kind is bytes:
        return bytes(tensors[path[:-1]].data)
    if origin is dict:
        pairs = _items(facts, path).items()
        key = str if arguments[0] is str else _number
        return {key(k): _parse(arguments[1], v, f"{path}{k}.", tensors) for k, v in pairs}
    if origin is tuple:
        if not isinstance(facts, list):
            raise ValueError(f"{path[:-1]} is no list")
        items = enumerate(cast("list[object]", facts))
        return tuple(_parse(arguments[0], v, f"{path}{i}.", tensors) for i, v in items)
    return _plain(kind, facts, path)


def _origin(kind: Any) -> object:  # noqa: ANN401
    """What a type is an instance of; NDArray is ndarray itself, or since NumPy 2.5 an alias of it."""
    origin = typing.get_origin(kind)
    alias = getattr(origin, "__value__", None)
    return origin if alias is None else typing.get_origin(alias)


def _items(facts: object, path: str) -> dict[str, object]:
    if not isinstance(facts, dict):
        raise ValueError(f"{path[:-1] or 'it'} is no JSON object")
    return cast("dict[str, object]", facts)


def _array(tensor: Tensor) -> "NDArray[np.float32]":
    if tensor.dtype != "F32":
        raise ValueError(f"{tensor.name} is no tensor of F32")
    entries = np.frombuffer(tensor.data, dtype="<f4").astype(np.float32, copy=False)
    return entries.reshape(tensor.shape)


def _number(text: str) -> int:
    """A key of a dictionary of numbers."""
    if str(int(text)) != text:
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def _plain(kind: Any, facts: object, path: str) -> object:  # noqa: ANN401
    """A number, a text or nothing, if that is one of what the type allows; a float may be whole."""
    if typing.get_origin(kind) is typing.Literal:
        fits = isinstance(facts, str) and facts in typing.get_args(kind)
    else:
        options = typing.get_args(kind) or (kind,)
        fits = type(facts) in options or (type(facts) is int and float in options)
    if not fits or (type(facts) is int and abs(facts) >= LARGEST_WHOLE):
        raise ValueError(f"{path[:-1]} is of another type, or too large")
    return facts
