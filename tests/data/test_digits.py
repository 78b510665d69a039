"""The split of the digits never moves."""

import hashlib

import numpy as np
from sklearn.datasets import load_digits

from lossyfl.data import load


def test_split_is_golden() -> None:
    digits = load("digits")
    whole = b"".join(array.tobytes() for array in digits.arrays)
    assert hashlib.sha256(whole).hexdigest() == (
        "432d7a17733ce2fd99f728b25cc0545f259f47687bd1632653a759f0d940e9ee"
    )


def test_every_digit_is_there_once() -> None:
    digits = load("digits")
    images, target = load_digits(return_X_y=True)
    x = np.concatenate([digits.train_x, digits.test_x])
    assert x.shape == (1797, 1, 8, 8)
    assert (len(digits.train_y), len(digits.test_y)) == (1437, 360)
    ours = sorted(row.tobytes() for row in x)
    assert ours == sorted(image.astype(np.uint8).tobytes() for image in images)
    labels = np.concatenate([digits.train_y, digits.test_y])
    assert np.array_equal(np.bincount(labels), np.bincount(target))


def test_arrays_are_contiguous_bytes() -> None:
    for array in load("digits").arrays:
        assert array.dtype == np.uint8
        assert array.flags.c_contiguous
