"""A task of your own: which of three waves is it?

    cd examples
    lossyfl run --task own_task:make_task:noise=0.3 --scheme lfl:q1=2,q2=2 --rounds 40

A task is a function that returns a `Task`. Its options become `:noise=0.3`. Functions that it hands
over must be importable, like `Waves` here, because worker processes get them by name.
"""

import numpy as np
from torch import Tensor, nn

from lossyfl.tasks import Defaults, Samples, Task


class Waves(nn.Module):
    """A small convolutional network over time."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(1, 16, 9), nn.ReLU(), nn.AdaptiveAvgPool1d(4))
        self.classes = nn.Linear(64, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.classes(self.features(x).flatten(1))


def make_task(*, noise: float = 0.5, samples: int = 3000) -> Task:
    rng = np.random.default_rng(0)
    time = np.linspace(0, 6 * np.pi, 100) + rng.uniform(0, 6, size=(samples, 1))
    waves = np.stack([np.sin(time), np.sign(np.sin(time)), time / np.pi % 2 - 1])
    y = rng.integers(0, 3, size=samples)
    x = waves[y, np.arange(samples)] + noise * rng.normal(size=time.shape)
    x = x[:, None, :].astype(np.float32)
    return Task(
        name="waves",
        train=Samples(x=x[500:], y=y[500:]),
        test=Samples(x=x[:500], y=y[:500]),
        model=Waves,
        prepare=Tensor.float,
        defaults=Defaults(devices=10, batch=16, lr="0.2", partition="dirichlet:alpha=2"),
    )
