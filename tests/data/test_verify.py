"""Only the known arrays pass."""

from dataclasses import replace

import numpy as np
import pytest
from tests.data.small import SMALL_FASHION, SMALL_MNIST

from lossyfl.data.verify import verify
from lossyfl.errors import InputError

FACTS, DATASET = SMALL_MNIST.facts, SMALL_MNIST.dataset


def test_the_known_set_passes() -> None:
    assert verify(DATASET, FACTS, where="here") is DATASET


@pytest.mark.parametrize("name", ["train_x", "train_y", "test_x", "test_y"])
def test_one_changed_bit_is_seen(name: str) -> None:
    changed = getattr(DATASET, name).copy()
    changed.flat[-1] ^= 1
    with pytest.raises(InputError, match=f"{name} of mnist in here must be the known array"):
        verify(replace(DATASET, **{name: changed}), FACTS, where="here")


def test_shape_is_seen() -> None:
    flat = np.ascontiguousarray(DATASET.test_x.reshape(5, 1, 56, 14))  # the same bytes
    with pytest.raises(
        InputError, match=r"shape of test_x .* must be \(5, 1, 28, 28\), got \(5, 1, 56"
    ):
        verify(replace(DATASET, test_x=flat), FACTS, where="here")


@pytest.mark.usefixtures("small_sets")
def test_another_set_is_named() -> None:
    with pytest.raises(InputError, match="got train_x of fashion-mnist"):
        verify(SMALL_FASHION.dataset, FACTS, where="here")
