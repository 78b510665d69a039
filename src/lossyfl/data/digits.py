"""Scikit-learn's 8x8 digits, with a split that is the same everywhere.

E. Alpaydin, C. Kaynak, "Optical recognition of handwritten digits", UCI repository, 1998.
"""

import gzip
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from lossyfl.data.catalog import DIGITS
from lossyfl.data.dataset import Bytes, Dataset
from lossyfl.extras import check_installed
from lossyfl.streams import stream


def read_digits() -> Dataset:
    """The digits, unchecked: in the order of a seeded permutation, the first 1,437 are for training."""
    table = np.loadtxt(gzip.decompress(_file().read_bytes()).decode().splitlines(), delimiter=",")
    whole: Bytes = table.astype(np.uint8)  # 64 pixels of 0 to 16 and the class
    x, y = whole[:, :-1].reshape(-1, 1, 8, 8), whole[:, -1]
    order = np.argsort(stream(0, purpose="split").bits(0, len(y)), kind="stable")
    train, test = order[: DIGITS.train], order[DIGITS.train :]
    return Dataset(
        name=DIGITS.name,
        classes=DIGITS.classes,
        train_x=x[train],
        train_y=y[train],
        test_x=x[test],
        test_y=y[test],
    )


def _file() -> Path:
    """The file of scikit-learn, found without importing it, which would take a second."""
    check_installed("sklearn", extra="sim")
    spec = find_spec("sklearn")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "datasets" / "data" / "digits.csv.gz"
