"""What every task may use: scaled inputs and the count of right answers."""

import numpy as np
import torch

from lossyfl.tasks.base import Samples, scaled
from lossyfl.tasks.metrics import hits


def test_scaled_bytes_are_floats_from_zero_to_one() -> None:
    x = torch.tensor([[0, 51, 255]], dtype=torch.uint8)
    assert torch.equal(scaled(x), torch.tensor([[0.0, 0.2, 1.0]]))
    assert torch.equal(scaled(x, 51), torch.tensor([[0.0, 1.0, 5.0]]))


def test_one_channel_images_have_the_strides_of_their_format() -> None:
    """torch picks kernels by strides, also those of axes of length one."""
    odd = torch.zeros(4, 1, 8, 8).as_strided((4, 1, 8, 8), (64, 7, 8, 1))
    assert scaled(odd).stride() == (64, 1, 8, 1)


def test_hits_count_the_largest_output() -> None:
    outputs = torch.tensor([[0.1, 0.9], [0.8, 0.2], [0.4, 0.6]])
    assert hits(outputs, torch.tensor([1, 1, 1])) == 2


def test_hits_of_several_targets_are_fractions_of_a_sample() -> None:
    """Two samples of four characters each out of three: the largest scores are at 0 1 2 0 and 2 2 1 1."""
    largest = torch.tensor([[0, 1, 2, 0], [2, 2, 1, 1]])
    outputs = torch.nn.functional.one_hot(largest, 3).transpose(1, 2).float()
    assert hits(outputs, largest) == 2
    assert hits(outputs, torch.tensor([[0, 1, 0, 0], [1, 1, 1, 1]])) == 3 / 4 + 2 / 4
    assert hits(outputs, (largest + 1) % 3) == 0


def test_samples_are_counted() -> None:
    assert len(Samples(x=np.zeros((3, 2)), y=np.zeros(3))) == 3
