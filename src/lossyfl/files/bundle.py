"""A model in one file: its floats as one frame, everything else exactly as it was.

A bundle is a safetensors file. The tensor `lossyfl.frame` holds the frame of all float tensors, one
after the other; the metadata say which they were; all other tensors (integer buffers, float8, ...)
stand beside it unchanged. A `.npy` array of several dimensions is a bundle of one tensor, and the metadata
say so; a plain vector needs none: its file is the bare frame.
"""

import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.files import safetensors
from lossyfl.files.atomic import write_atomically
from lossyfl.files.reading import parse_json, read_bytes, require_file
from lossyfl.files.safetensors import File, Tensor
from lossyfl.streams import Stream
from lossyfl.types import Quantizer, Vector
from lossyfl.wire.codec import FrameInfo, decode, encode, inspect
from lossyfl.wire.header import MAGIC, MAX_ENTRIES
from lossyfl.wire.vectors import as_vector, narrow_bfloat16, widen_bfloat16

FRAME = "lossyfl.frame"
FORMAT = "lossyfl-bundle-1"
FLOATS = {"F16": "<f2", "BF16": "<u2", "F32": "<f4", "F64": "<f8"}
NPY = {"<f2": "F16", "<f4": "F32", "<f8": "F64"}
"""What a `.npy` array may be, without regard to the order of its bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """What encoding a file gave: bytes before and after, and what the frame is made of.

    source: bytes of all tensors as they were
    target: bytes of the written file
    exact:  of these, bytes of tensors that were kept as they were
    """

    source: int
    target: int
    exact: int
    frame: FrameInfo


def encode_file(
    source: Path, target: Path, quantizer: Quantizer, *, rng: Stream, threads: int = 1
) -> Encoded:
    """Encode a `.npy` array or a `.safetensors` model."""
    if source.suffix == ".npy":
        array = _read_npy(source)
        if array.ndim > 1:
            model = _as_model(array)
            return _encode_model(model, target, quantizer, rng, threads, is_array=True)
        x = as_vector(array)
        frame = encode(x, quantizer, rng=rng, tensors=(len(x),), threads=threads)
        write_atomically(target, [frame])
        return Encoded(source=array.nbytes, target=len(frame), exact=0, frame=_inspect(frame, x))
    if source.suffix != safetensors.SUFFIX:
        allowed = "a .npy array or a .safetensors model"
        raise InputError("file", of="codec encode", allowed=allowed, got=source.name)
    return _encode_model(safetensors.read(source), target, quantizer, rng, threads)


def _as_model(array: NDArray[Any]) -> File:
    """An array of several dimensions as the only tensor of a model."""
    little = array.dtype.newbyteorder("<")
    if little.str not in NPY:
        allowed = "of float16, float32 or float64"
        raise InputError("array", of="codec encode", allowed=allowed, got=f"dtype {array.dtype}")
    data = array.astype(little, copy=False).tobytes()  # its rows one after the other
    tensor = Tensor(name="array", dtype=NPY[little.str], shape=array.shape, data=data)
    return File(tensors=(tensor,), metadata={})


def _encode_model(
    model: File,
    target: Path,
    quantizer: Quantizer,
    rng: Stream,
    threads: int,
    *,
    is_array: bool = False,
) -> Encoded:
    floats = [tensor for tensor in model.tensors if tensor.dtype in FLOATS]
    exact = [tensor for tensor in model.tensors if tensor.dtype not in FLOATS]
    if not sum(tensor.entries for tensor in floats) or FRAME in {t.name for t in exact}:
        allowed = f"float tensors, and no tensor named {FRAME}"
        raise InputError("model", of="codec encode", allowed=allowed, got="another")
    vector = np.concatenate([_widen(tensor) for tensor in floats])
    shapes = [tensor.shape for tensor in floats]
    frame = encode(vector, quantizer, rng=rng, tensors=shapes, threads=threads)
    listing = json.dumps([[t.name, t.dtype, list(t.shape)] for t in floats])
    metadata = {"format": FORMAT, "floats": listing, "metadata": json.dumps(model.metadata)}
    if is_array:
        metadata["source"] = ".npy"
    carrier = Tensor(name=FRAME, dtype="U8", shape=(len(frame),), data=frame)
    safetensors.write(target, File(tensors=(*exact, carrier), metadata=metadata))
    return Encoded(
        source=sum(memoryview(tensor.data).nbytes for tensor in model.tensors),
        target=target.stat().st_size,
        exact=sum(memoryview(tensor.data).nbytes for tensor in exact),
        frame=_inspect(frame, vector),
    )


def _inspect(frame: bytes, x: Vector) -> FrameInfo:
    """What our own frame of `x` is made of."""
    return inspect(frame, max_entries=len(x))


def decode_file(
    source: Path, target: Path, *, max_entries: int = MAX_ENTRIES, threads: int = 1
) -> int:
    """Decode a frame to `.npy`, or a bundle to `.safetensors`; returns the number of entries."""
    bundle = _read_bundle(source)
    is_array = bundle is None or bundle.metadata.get("source") == ".npy"
    wanted = ".npy" if is_array else safetensors.SUFFIX
    if target.suffix != wanted:
        raise InputError("output", of=source.name, allowed=f"a {wanted} file", got=target.name)
    if bundle is None:
        vector = decode(read_bytes(source, of="codec"), max_entries=max_entries, threads=threads)
        write_atomically(target, [_npy(vector)])
        return len(vector)
    listing = _listing(bundle.metadata.get("floats", ""), of=source.name)
    metadata = _metadata(bundle.metadata.get("metadata", "{}"), of=source.name)
    exact = tuple(tensor for tensor in bundle.tensors if tensor.name != FRAME)
    names = [name for name, _, _ in listing] + [tensor.name for tensor in exact]
    if len(names) != len(set(names)):
        raise InputError("names", of=source.name, allowed="different ones", got="one twice")
    vector = decode(_frame(bundle), max_entries=max_entries, threads=threads)
    floats = _narrow(vector, listing, of=source.name)
    if is_array:
        write_atomically(target, [_npy(_as_array(floats, of=source.name))])
    else:
        safetensors.write(target, File(tensors=(*floats, *exact), metadata=metadata))
    return len(vector)


def _as_array(floats: list[Tensor], *, of: str) -> NDArray[Any]:
    """The array that a bundle was made of."""
    if len(floats) != 1 or floats[0].dtype not in NPY.values():
        allowed = "one array of float16, float32 or float64"
        raise InputError("listing", of=of, allowed=allowed, got=f"{len(floats)} tensors")
    (tensor,) = floats
    return np.frombuffer(tensor.data, dtype=FLOATS[tensor.dtype]).reshape(tensor.shape)


def read_frame(path: Path) -> bytes:
    """The frame in a file that holds one, bare or in a bundle."""
    bundle = _read_bundle(path)
    return read_bytes(path, of="codec") if bundle is None else _frame(bundle)


def _frame(bundle: File) -> bytes:
    return bytes(next(tensor.data for tensor in bundle.tensors if tensor.name == FRAME))


def _read_bundle(path: Path) -> File | None:
    """The bundle in a file, or None if the file is a bare frame."""
    data = read_bytes(path, of="codec")
    if data.startswith(MAGIC):
        return None
    allowed = "a frame or a bundle that lossyfl wrote"
    try:
        file = safetensors.parse(data, of=path.name)
    except InputError:
        raise InputError("content", of=path.name, allowed=allowed, got="other bytes") from None
    if file.metadata.get("format") != FORMAT or FRAME not in {t.name for t in file.tensors}:
        raise InputError("content", of=path.name, allowed=allowed, got="another safetensors file")
    return file


def _read_npy(path: Path) -> NDArray[Any]:
    require_file(path, of="codec")
    try:
        with path.open("rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except Exception as error:  # NumPy evaluates the header, and errors of any kind come of that
        allowed = "a .npy array of floats"
        raise InputError("content", of=path.name, allowed=allowed, got="other bytes") from error


def _npy(array: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _widen(tensor: Tensor) -> Vector:
    """The entries of a float tensor as float32."""
    entries = np.frombuffer(tensor.data, dtype=FLOATS[tensor.dtype])
    if tensor.dtype == "BF16":
        return widen_bfloat16(entries.astype(np.uint16))
    with np.errstate(over="ignore"):  # infinity is reported with its index later
        return entries.astype(np.float32)


def _listing(text: str, *, of: str) -> list[tuple[str, str, tuple[int, ...]]]:
    """Name, dtype and shape of every float tensor of a bundle."""
    found: list[tuple[str, str, tuple[int, ...]]] = []
    try:
        for item in cast("list[list[object]]", parse_json(text, of=of)):
            name, dtype, shape = item
            if not isinstance(name, str) or not isinstance(dtype, str) or dtype not in FLOATS:
                raise ValueError("a name or a dtype is missing")
            name.encode()  # raises ValueError for half of a pair of surrogates
            found.append((name, dtype, safetensors.ints(shape)))
    except (ValueError, TypeError) as error:
        allowed = "[name, dtype, shape] of every float tensor"
        raise InputError("listing", of=of, allowed=allowed, got=str(error)) from error
    return found


def _metadata(text: str, *, of: str) -> dict[str, str]:
    """The metadata that the model had."""
    found = parse_json(text, of=of)
    pairs = cast("dict[str, object]", found).items() if isinstance(found, dict) else [("", None)]
    kept = {key: value for key, value in pairs if isinstance(value, str)}
    if len(kept) != len(pairs):
        raise InputError("metadata", of=of, allowed="texts by name", got="others")
    return kept


def _narrow(
    vector: Vector, listing: list[tuple[str, str, tuple[int, ...]]], *, of: str
) -> list[Tensor]:
    """The float tensors of a bundle, each in the dtype that it had."""
    total = sum(math.prod(shape) for _, _, shape in listing)
    if total != len(vector):
        allowed = f"tensors of {len(vector)} entries in all"
        raise InputError("listing", of=of, allowed=allowed, got=f"{total} entries")
    tensors: list[Tensor] = []
    at = 0
    for name, dtype, shape in listing:
        part = vector[at : at + math.prod(shape)]
        at += len(part)
        tensors.append(Tensor(name=name, dtype=dtype, shape=shape, data=_narrowed(part, dtype)))
    return tensors


def _narrowed(part: Vector, dtype: str) -> bytes:
    """Entries in another float type: the largest of a half for those beyond."""
    if dtype == "BF16":
        return narrow_bfloat16(part).tobytes()
    if dtype == "F16":
        part = np.clip(part, np.finfo(np.float16).min, np.finfo(np.float16).max)
    return part.astype(FLOATS[dtype]).tobytes()
