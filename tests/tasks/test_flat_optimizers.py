"""The same bits as torch's own optimizers, and what they need is not imported."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from lossyfl.tasks.optimizers import LocalSteps, optimizer

ENTRIES = 1003
"""Not a multiple of what a processor does at once."""


def parameter() -> nn.Parameter:
    return nn.Parameter(torch.randn(ENTRIES, generator=torch.Generator().manual_seed(7)))


def walk(steps: LocalSteps, over: nn.Parameter, numbers: range) -> None:
    """LocalSteps along gradients that depend on their numbers alone, each with a size of its own."""
    for number in numbers:
        generator = torch.Generator().manual_seed(number)
        over.grad = torch.randn(ENTRIES, generator=generator)
        steps.param_groups[0]["lr"] = 0.1 / (1 + number)
        steps.step()


def torchs(spec: str, over: nn.Parameter) -> torch.optim.Optimizer:
    """The same by torch; its defaults where the spec says nothing."""
    return {
        "sgd": lambda: torch.optim.SGD([over]),
        "sgd:decay=0.01": lambda: torch.optim.SGD([over], weight_decay=0.01),
        "sgd:momentum=0.9": lambda: torch.optim.SGD([over], momentum=0.9),
        "sgd:momentum=0.5,decay=0.01": lambda: torch.optim.SGD(
            [over], momentum=0.5, weight_decay=0.01
        ),
        "adam": lambda: torch.optim.Adam([over], fused=True),
        "adam:beta1=0.5,beta2=0.9,eps=1e-4,decay=0.01": lambda: torch.optim.Adam(
            [over], betas=(0.5, 0.9), eps=1e-4, weight_decay=0.01, fused=True
        ),
    }[spec]()


@pytest.mark.parametrize(
    "spec",
    [
        "sgd",
        "sgd:decay=0.01",
        "sgd:momentum=0.9",
        "sgd:momentum=0.5,decay=0.01",
        "adam",
        "adam:beta1=0.5,beta2=0.9,eps=1e-4,decay=0.01",
    ],
)
def test_steps_have_the_bits_of_torchs(spec: str) -> None:
    one, two = parameter(), parameter()
    ours, theirs = optimizer(spec).make(one), torchs(spec, two)
    walk(ours, one, range(10))
    walk(theirs, two, range(10))
    assert torch.equal(one, two)
    for name in optimizer(spec).buffers:
        assert torch.equal(ours.state[one][name], theirs.state[two][name])


@pytest.mark.parametrize("spec", ["sgd:momentum=0.9", "adam"])
def test_memory_can_be_taken_from_one_to_another(spec: str) -> None:
    whole, first = parameter(), parameter()
    walk(optimizer(spec).make(whole), whole, range(6))
    begun = optimizer(spec).make(first)
    walk(begun, first, range(4))
    second = nn.Parameter(first.detach().clone())
    resumed = optimizer(spec).make(second)
    resumed.state[second] = {name: value.clone() for name, value in begun.state[first].items()}
    walk(resumed, second, range(4, 6))
    assert torch.equal(whole, second)


def test_training_imports_no_compiler() -> None:
    """It would take as long as torch does, in every process."""
    program = (
        "import sys, numpy as np; from tests.tasks.test_training import FRESH, local, trainer\n"
        "for spec in ('sgd:momentum=0.9', 'adam'):\n"
        "    chosen = trainer(local(spec)); chosen.train(0, 0, chosen.model.read().copy(), FRESH)\n"
        "print('torch._dynamo' in sys.modules)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
