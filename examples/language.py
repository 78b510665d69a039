"""A small language model: the next letter of made-up words. Measured by perplexity, and by accuracy.

    cd examples
    lossyfl run --task language:make_task --scheme lfl:q1=2,q2=2 --rounds 10

Perplexity is the exponential of the loss, and lower is better.
"""

import numpy as np
from torch import Tensor, nn

from lossyfl import Defaults, Samples, Task

SYLLABLES = ("ba", "ko", "ri", "tu", "ne", "lam", "sif", "dor")
LETTERS = sorted({*"".join(SYLLABLES), " "})
LENGTH = 24


class Model(nn.Module):
    """A GRU over letters that scores every next one: (samples, letters, length)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(LETTERS), 16)
        self.memory = nn.GRU(16, 48, batch_first=True)
        self.scores = nn.Linear(48, len(LETTERS))

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.memory(self.embedding(x))
        return self.scores(states).transpose(1, 2)


def make_task(*, samples: int = 1200) -> Task:
    rng = np.random.default_rng(0)
    words = ("".join(rng.choice(SYLLABLES, size=rng.integers(1, 4))) for _ in range(samples * 8))
    text = " ".join(words)
    codes = np.array([LETTERS.index(letter) for letter in text[: samples * (LENGTH + 1)]])
    pieces = codes.reshape(samples, LENGTH + 1)
    x, y = pieces[:, :-1], pieces[:, 1:]
    cut = samples // 6
    return Task(
        name="syllables",
        train=Samples(x=x[cut:], y=y[cut:]),
        test=Samples(x=x[:cut], y=y[:cut]),
        model=Model,
        metric=("perplexity", "accuracy"),
        defaults=Defaults(rounds=20, devices=10, tau=4, batch=16, optimizer="adam", lr="0.01"),
    )
