"""Chances of the grammar: where a fault is made, and which floats a table has."""

import random
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl.types import Vector

Ints: TypeAlias = NDArray[np.int64]

FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.25, -3.0, 1e-45, -1e-45, 1.1754942e-38, 1e-20, 1e19, -1e20, 1e30, 8e37,
    3.4028235e38, -3.4028235e38,
)  # fmt: skip
"""Zeros, the smallest and largest there are, and those whose products or sums overflow."""


class Choices:
    """A source of chances, and the faults that are still to be made with one frame."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.made: list[str] = []
        self._planned: set[str] = set()
        self.bits = 0
        """Leading ones of the counts of a frame by class."""

    def plan_faults(self, names: tuple[str, ...]) -> None:
        """Half of the frames get none, the others one to three."""
        chance = self.rng.random()
        count = 0 if chance < 0.5 else 1 if chance < 0.8 else self.rng.choice((2, 3))
        self._planned, self.made = set(self.rng.choices(names, k=count)), []

    def wrong(self, name: str) -> bool:
        """Whether to make this fault here: once, if it is planned and comes up at all."""
        if name not in self._planned:
            return False
        self._planned.discard(name)
        self.made.append(name)
        return True

    def floats(self, count: int) -> Vector:
        """Finite floats, near one or near the ends; few are drawn for long tables."""
        rng, wild = self.rng, self.rng.choice((0.0, 0.1, 0.5))
        some = [
            rng.choice(FLOATS) if rng.random() < wild else rng.gauss(0, 1)
            for _ in range(min(count, 40))
        ]
        return np.resize(np.array(some, np.float32), count)
