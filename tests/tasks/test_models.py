"""The models have the paper's parameters, to the number."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from lossyfl.tasks.models import character_lstm, cifar_cnn, digits_cnn, linear, mnist_cnn


@pytest.mark.parametrize(
    ("make", "shape", "parameters"),
    [
        (digits_cnn, (1, 8, 8), 13_706),
        (mnist_cnn, (1, 28, 28), 130_890),  # the paper's d
        (cifar_cnn, (3, 32, 32), 307_498),  # the paper's d
        (lambda: linear(64, 10), (1, 8, 8), 650),
    ],
)
def test_parameters(make: Callable[[], nn.Module], shape: tuple[int, ...], parameters: int) -> None:
    module = make()
    assert sum(p.numel() for p in module.parameters()) == parameters
    assert module(torch.zeros(2, *shape)).shape == (2, 10)


def test_weights_are_glorot_uniform_and_biases_zero() -> None:
    torch.manual_seed(0)
    layer = next(iter(mnist_cnn().children()))
    assert isinstance(layer, nn.Conv2d)
    assert layer.bias is not None
    assert not layer.bias.any()
    limit = (6 / (9 * 1 + 9 * 32)) ** 0.5
    assert 0.9 * limit < float(layer.weight.detach().abs().max()) <= limit


def test_dropout_is_the_papers() -> None:
    assert [m.p for m in cifar_cnn().modules() if isinstance(m, nn.Dropout)] == [0.2, 0.3, 0.4]


def test_scores_of_a_character_depend_on_it_and_those_before() -> None:
    module = character_lstm(65)
    assert sum(p.numel() for p in module.parameters()) == 136_705
    x = torch.arange(12).reshape(2, 6)
    changed = x.clone()
    changed[0, 3] = 60
    before, after = module(x), module(changed)
    assert before.shape == (2, 65, 6)
    different = (before != after).any(dim=1)
    assert different.tolist() == [[False] * 3 + [True] * 3, [False] * 6]
