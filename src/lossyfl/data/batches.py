"""The binary version of CIFAR-10: records of one label byte and 3 x 32 x 32 pixels.

A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossyfl.data.dataset import Bytes
from lossyfl.errors import InputError
from lossyfl.files.unpack import read_unpacked

SHAPE = (3, 32, 32)
RECORD = 1 + 3 * 32 * 32
CLASSES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The images and labels of one file."""

    x: Bytes
    y: Bytes


def read_batch(path: Path) -> Batch:
    """The batch in a .bin file."""
    content = read_unpacked(path, of="the data")
    if not content or len(content) % RECORD:
        allowed = f"a multiple of {RECORD:,} bytes"
        raise InputError("size", of=str(path), allowed=allowed, got=f"{len(content):,} bytes")
    records = np.frombuffer(content, np.uint8).reshape(-1, RECORD)
    return batch(records[:, 1:], records[:, 0], path)


def batch(pixels: Bytes, labels: Bytes, path: Path) -> Batch:
    """Rows of 3,072 pixels and their labels as a batch; `path` is where they come from."""
    if labels.max() >= CLASSES:
        allowed = f"in 0 to {CLASSES - 1}"
        raise InputError("labels", of=str(path), allowed=allowed, got=int(labels.max()))
    return Batch(x=pixels.reshape(-1, *SHAPE), y=labels)


def pack_batch(part: Batch) -> bytes:
    """The batch as a .bin file."""
    rows = part.x.reshape(len(part.y), -1)
    return np.concatenate([part.y[:, None], rows], axis=1).tobytes()
