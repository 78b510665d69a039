"""A module and its vector are the same memory."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from lossyfl import InputError
from lossyfl.tasks.flat import FlatModel
from lossyfl.tasks.models import digits_cnn
from lossyfl.wire.shapes import entries_of


def test_vector_is_all_parameters_in_order() -> None:
    module = digits_cnn()
    expected = torch.cat([p.detach().reshape(-1) for p in module.parameters()])
    flat = FlatModel(module)
    assert np.array_equal(flat.read(), expected.numpy())
    assert entries_of(flat.tensors) == 13_706
    assert [p.name for p in flat.places] == [n for n, _ in module.named_parameters()]


def test_loading_moves_the_module_and_reading_copies_nothing() -> None:
    flat = FlatModel(digits_cnn())
    flat.load(np.arange(13_706, dtype=np.float32))
    assert next(flat.module.parameters()).reshape(-1)[3] == 3
    assert np.shares_memory(flat.read(), flat.read())


def test_gradients_are_those_of_a_plain_module() -> None:
    module = digits_cnn()
    plain = copy.deepcopy(module)
    flat = FlatModel(module)
    x, y = torch.rand(16, 1, 8, 8), torch.arange(16) % 10
    for network in (plain, module):
        nn.functional.cross_entropy(network(x), y).backward()
    expected = torch.cat([p.grad.reshape(-1) for p in plain.parameters() if p.grad is not None])
    assert flat.parameter.grad is not None
    assert torch.equal(flat.parameter.grad, expected)


def test_float_buffers_travel_and_are_not_trained() -> None:
    flat = FlatModel(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)))
    assert flat.tensors == (
        (3, 4),
        (3,),
        (3,),
        (3,),
        (3,),
        (3,),
    )  # weight, bias, gamma, beta, mean, variance
    assert [place.trained for place in flat.places] == [True] * 4 + [False] * 2
    assert flat.parameter.numel() == 21
    assert np.array_equal(flat.read()[-3:], np.ones(3))
    flat.module.train()
    flat.module(torch.rand(8, 4) + 5)
    assert not np.array_equal(flat.read()[21:24], np.zeros(3))  # the running mean, in place


def test_frozen_parameters_travel_and_are_not_trained() -> None:
    module = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
    for parameter in module[0].parameters():
        parameter.requires_grad_(False)
    flat = FlatModel(module)
    assert [place.name for place in flat.places] == ["1.weight", "1.bias", "0.weight", "0.bias"]
    assert flat.parameter.numel() == 8
    assert len(flat.read()) == 23


def test_shared_parameters_count_once() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(3, 3)
            self.b = self.a

    assert FlatModel(Tied()).tensors == ((3, 3), (3,))


def test_other_types_and_empty_models_are_refused() -> None:
    with pytest.raises(InputError, match="dtype of weight must be float32"):
        FlatModel(nn.Linear(2, 2).double())
    with pytest.raises(InputError, match="parameters of a model must be at least one to train"):
        FlatModel(nn.ReLU())
