"""Arrays that took long to unpack, kept in the user's cache.

They are used again only if the files they came from look as they did, and they are checked against the
known sums like anything else. A cache that cannot be read or written is no error.
"""

import io
from contextlib import suppress
from pathlib import Path

import numpy as np

from lossyfl.data.dataset import AnyDataset, Array, Bytes, Dataset
from lossyfl.data.facts import DatasetFacts, Part
from lossyfl.data.places import Found, cache_root
from lossyfl.data.verify import verify
from lossyfl.errors import InputError
from lossyfl.files.atomic import write_atomically


def is_slow(found: Found) -> bool:
    """Whether unpacking takes seconds: xz does."""
    return any(file.suffix == ".xz" for file in found.files)


def recall(facts: DatasetFacts, found: Found) -> Dataset | None:
    """The data set as it was kept, checked; None if there is none for these files, or it is damaged."""
    folder = cache_root() / "decoded"
    try:
        if _stamp_file(facts, folder).read_text() != _stamp(found):
            return None
        train_x, train_y, test_x, test_y = (
            _read(_file(facts, part, folder)) for part in facts.parts
        )
        kept = Dataset(
            name=facts.name,
            classes=facts.classes,
            train_x=train_x,
            train_y=train_y,
            test_x=test_x,
            test_y=test_y,
        )
        return verify(kept, facts, where=str(folder))
    except (OSError, ValueError, EOFError):  # InputError is a ValueError
        return None


def keep(facts: DatasetFacts, found: Found, dataset: AnyDataset) -> None:
    """Keep a checked data set for the next time; the stamp comes last and vouches for the arrays."""
    folder = cache_root() / "decoded"
    with suppress(OSError, InputError):
        folder.mkdir(parents=True, exist_ok=True)
        _stamp_file(facts, folder).unlink(missing_ok=True)
        for part, array in zip(facts.parts, dataset.arrays, strict=True):
            write_atomically(_file(facts, part, folder), [_header(array), array.data])
        write_atomically(_stamp_file(facts, folder), [_stamp(found).encode()])


def _stamp(found: Found) -> str:
    """Names, sizes and times of the files."""
    facts = ((file.resolve(), file.stat()) for file in found.files)
    return "".join(f"{file} {stat.st_size} {stat.st_mtime_ns}\n" for file, stat in facts)


def _stamp_file(facts: DatasetFacts, folder: Path) -> Path:
    return folder / f"{facts.name}.stamp"


def _file(facts: DatasetFacts, part: Part, folder: Path) -> Path:
    return folder / f"{facts.name}-{part.name}-{part.sha256[:12]}.npy"


def _header(array: Array) -> bytes:
    """The head of an .npy file; the array's bytes follow."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))
    return head.getvalue()


def _read(path: Path) -> Bytes:
    """The array in an .npy file; ValueError if it is something else."""
    with path.open("rb") as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
    if array.dtype != np.uint8 or not array.flags.c_contiguous:
        raise ValueError("no array of bytes")
    return array
