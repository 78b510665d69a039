"""The Python version of CIFAR-10: pickles, read without running anything that is in them.

A pickle is a program. Those of CIFAR-10 call four things to build one array of bytes. `opcodes` runs the few
instructions that this takes, and calls nothing: a call is recorded as `Call`, and here its name is looked up
among those four. Memory is of the order of the file, whatever the file says.
"""

import pickle
from pathlib import Path
from typing import cast

import numpy as np

from lossyfl.data.batches import SHAPE, Batch, batch
from lossyfl.data.dataset import Bytes
from lossyfl.data.opcodes import ENCODE, Call, Name, run
from lossyfl.errors import InputError
from lossyfl.files.unpack import read_unpacked

PIXELS = SHAPE[0] * SHAPE[1] * SHAPE[2]
RECONSTRUCT = (
    Name("numpy.core.multiarray", "_reconstruct"),
    Name("numpy._core.multiarray", "_reconstruct"),
)
DTYPE = Name("numpy", "dtype")
ALLOWED = frozenset({*RECONSTRUCT, Name("numpy", "ndarray"), DTYPE, ENCODE})


def read_pickled(path: Path) -> Batch:
    """The batch in a pickle; InputError if it holds anything else, of which nothing was run."""
    try:
        return _batch(run(read_unpacked(path, of="the data"), ALLOWED), path)
    except pickle.UnpicklingError as error:
        allowed = "a pickled CIFAR-10 batch"
        raise InputError("content", of=str(path), allowed=allowed, got=f"{error}") from None


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
    """The rows of pixels of a recorded array: (version, shape, dtype, Fortran order, bytes)."""
    if isinstance(array, Call) and array.name in RECONSTRUCT:
        match array.state:
            case (int(), (int(rows), int(columns)), Call() as kind, False, bytes(raw)):
                if columns == PIXELS and len(raw) == rows * columns and _is_bytes(kind):
                    return np.frombuffer(raw, np.uint8).reshape(rows, columns)
            case _:
                pass
    raise pickle.UnpicklingError(f"data that are no rows of {PIXELS:,} bytes")


def _is_bytes(kind: Call) -> bool:
    """Whether a recorded type is that of single bytes; its state is byte order, of which they have none."""
    return kind.name == DTYPE and kind.arguments[:1] in (("u1",), (b"u1",))
