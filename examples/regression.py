"""A regression: how warm is it, given the hour, the day and the place. Measured by RMSE, in degrees.

    cd examples
    lossyfl run --task regression:make_task --scheme lfl:q1=2,q2=2 --rounds 30

Every device is a weather station with a climate of its own. A metric has a name, a direction and a unit.
Those that lossyfl knows, as RMSE, bring a direction and how they are reckoned. Several may be measured.
"""

import numpy as np
from torch import Tensor, nn

from lossyfl import Defaults, Metric, Samples, Task

STATIONS = 10


class Model(nn.Module):
    """Two hidden layers; one number for each sample."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).squeeze(1)


def far_off(outputs: Tensor, targets: Tensor) -> Tensor:
    """How many samples are missed by more than two degrees."""
    return ((outputs - targets).abs() > 2).sum()


def make_task(*, samples: int = 4000, noise: float = 1.0) -> Task:
    rng = np.random.default_rng(0)
    station = rng.integers(0, STATIONS, size=samples)
    hour, day = rng.uniform(0, 24, size=samples), rng.uniform(0, 365, size=samples)
    height = np.linspace(0, 2, STATIONS)[station]
    turn, year = 2 * np.pi * hour / 24, 2 * np.pi * day / 365
    warmth = 10 - 6 * height - (8 - 2 * height) * np.cos(year) - 4 * np.cos(turn - 0.8)
    x = np.stack([np.cos(turn), np.sin(turn), np.cos(year), np.sin(year), height], axis=1)
    y = warmth + noise * rng.normal(size=samples)
    test = np.arange(samples) < samples // 5
    return Task(
        name="weather",
        train=Samples(x=x[~test], y=y[~test]),
        test=Samples(x=x[test], y=y[test]),
        model=Model,
        loss=nn.functional.mse_loss,
        metric=("RMSE", Metric(name="far off", better="lower", unit="%", score=far_off)),
        unit="°C",  # of the first one; % is for fractions
        defaults=Defaults(rounds=30, devices=STATIONS, tau=8, batch=16, lr="0.02"),
        parts=[np.flatnonzero(station[~test] == each) for each in range(STATIONS)],
    )
