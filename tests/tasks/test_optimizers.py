"""Optimizers of local steps, and what becomes of their memory."""

import pytest
import torch
from torch import nn

from lossyfl import InputError
from lossyfl.tasks.optimizers import optimizer


@pytest.mark.parametrize(
    ("spec", "buffers"),
    [
        ("sgd", ()),
        ("sgd:momentum=0.9", ("momentum_buffer",)),
        ("adam", ("exp_avg", "exp_avg_sq")),
    ],
)
def test_buffers_are_those_that_are_kept(spec: str, buffers: tuple[str, ...]) -> None:
    parameter = nn.Parameter(torch.zeros(3))
    chosen = optimizer(spec)
    made = chosen.make(parameter)
    parameter.grad = torch.ones(3)
    made.step()
    kept = {
        name
        for name, value in made.state.get(parameter, {}).items()
        if isinstance(value, torch.Tensor) and value.shape == parameter.shape
    }
    assert kept == set(chosen.buffers) == set(buffers)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("adm", r"did you mean adam\?"),
        ("adam:beta1=1", r"beta1 of adam must be in \[0, 1\), got 1"),
        ("adam:eps=0", "eps of adam must be > 0"),
        ("sgd:momentum=-1", r"momentum of sgd must be in \[0, 1\)"),
        ("sgd:decay=-1", "decay of sgd must be >= 0"),
        (
            "adam:moments=keep",
            "moments of adam must be reset or kept or shared or carried, got keep",
        ),
    ],
)
def test_optimizer_errors(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        optimizer(spec)
