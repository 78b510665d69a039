"""The Python version of CIFAR-10: pickles, read without running anything that is in them.

A pickle is a program. Those of CIFAR-10 call four things to build one array of bytes; these names are
answered by stand-ins that only record, everything else is refused. No code of NumPy or of the pickle's
author is ever called.
"""

import io
import pickle
from pathlib import Path
from typing import cast

import numpy as np

from lossyfl.data.batches import SHAPE, Batch, batch
from lossyfl.data.dataset import Bytes
from lossyfl.data.unpack import read_bytes
from lossyfl.errors import InputError

PIXELS = SHAPE[0] * SHAPE[1] * SHAPE[2]


class _StandIn:
    """Records the state that a pickle gives to it; nothing else can be set from there.

    A class and no function, because a pickle may set any attribute of a function.
    """

    state: object = None

    def __setstate__(self, state: object) -> None:
        self.state = state


class _Array(_StandIn):
    """Stands for numpy.ndarray."""


class _Reconstruct(_StandIn):
    """Stands for the function that makes an array."""

    def __new__(cls, *_ignored: object) -> _Array:
        return _Array()


class _Dtype(_StandIn):
    """Stands for numpy.dtype; its state is byte order and the like, of which one byte has none."""

    def __init__(self, name: object = "", *_ignored: object) -> None:
        self.name = name


class _Encode(_StandIn):
    """Stands for the function that Python 3 uses to write bytes in old pickles."""

    def __new__(cls, text: object = "", encoding: object = "") -> bytes:
        if not isinstance(text, str) or encoding != "latin1":
            raise pickle.UnpicklingError("text that is not latin1")
        return text.encode("latin1")


ALLOWED: dict[tuple[str, str], type[_StandIn]] = {
    ("numpy.core.multiarray", "_reconstruct"): _Reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _Reconstruct,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _Encode,
}


class _Reader(pickle.Unpickler):
    """An unpickler that knows the stand-ins and nothing else."""

    def find_class(self, module_name: str, global_name: str, /) -> type[_StandIn]:
        """The stand-in of a name that CIFAR-10 needs."""
        try:
            return ALLOWED[module_name, global_name]
        except KeyError:
            raise pickle.UnpicklingError(f"a call of {module_name}.{global_name}") from None


def read_pickled(path: Path) -> Batch:
    """The batch in a pickle; InputError if it holds anything else, of which nothing was run."""
    try:
        return _batch(_Reader(io.BytesIO(read_bytes(path)), encoding="bytes").load(), path)
    except InputError:
        raise
    except Exception as error:  # broken pickles raise nearly anything
        reason = f"{error}" or type(error).__name__
        raise InputError(
            "content", of=str(path), allowed="a pickled CIFAR-10 batch", got=reason
        ) from None


def _batch(content: object, path: Path) -> Batch:
    """The batch that a pickle's content describes."""
    if not isinstance(content, dict):
        raise pickle.UnpicklingError("no dictionary")
    entries = cast("dict[object, object]", content)
    pixels, labels = _entry(entries, "data"), _entry(entries, "labels")
    if not isinstance(labels, list):
        raise pickle.UnpicklingError("labels that are no list")
    rows = _rows(pixels)
    numbers = np.array([_label(value) for value in cast("list[object]", labels)], np.uint8)
    if len(rows) != len(numbers) or not len(numbers):
        raise pickle.UnpicklingError(f"{len(rows)} images and {len(numbers)} labels")
    return batch(rows, numbers, path)


def _entry(entries: dict[object, object], name: str) -> object:
    """An entry under its name, which is bytes where Python 2 wrote the file."""
    for key in (name.encode(), name):
        if key in entries:
            return entries[key]
    raise pickle.UnpicklingError(f"no {name}")


def _label(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value <= 255:
        raise pickle.UnpicklingError("a label that is no byte")
    return value


def _rows(array: object) -> Bytes:
    """The rows of pixels that a stand-in recorded: (version, shape, dtype, Fortran order, bytes)."""
    match array:
        case _Array(
            state=(int(), (int(rows), int(columns)), _Dtype(name=b"u1" | "u1"), False, bytes(raw))
        ):
            if columns == PIXELS and len(raw) == rows * columns:
                return np.frombuffer(raw, np.uint8).reshape(rows, columns)
        case _:
            pass
    raise pickle.UnpicklingError(f"data that are no rows of {PIXELS:,} bytes")
