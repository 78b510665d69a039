"""Next characters of plays by Shakespeare, a device for every speaker.

As in McMahan et al. (2017), the first 80 % of what a speaker says are for training, the rest is for testing,
and a sample is 80 characters, each with the next one as its target. LEAF (Caldas et al., 2018) has one target
per sample, after all 80. Theirs are the complete works, where a name in another play is another device.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lossyfl import data
from lossyfl.data.dataset import Bytes
from lossyfl.data.plays import speeches
from lossyfl.tasks import register
from lossyfl.tasks.defaults import Defaults

if TYPE_CHECKING:
    from lossyfl.tasks.base import Task

WINDOW = 80
"""Characters of a sample."""

TRAIN = 0.8
"""The fraction of what a speaker says that is for training."""

SHAKESPEARE = Defaults(
    rounds=100, tau=10, batch=10, optimizer="adam", lr="0.01", partition="natural:least=10"
)


@register("shakespeare")
def shakespeare(*, data_dir: Path | None = None) -> "Task":
    """Next characters of plays by Shakespeare and an LSTM, 136,705 parameters; every speaker is a device."""
    (text,) = data.load_arrays("shakespeare", data_dir)
    return next_characters(text, name="shakespeare")


def next_characters(text: Bytes, *, name: str) -> "Task":
    """The task on any text of plays, a byte per character."""
    from torch import Tensor

    from lossyfl.tasks.base import Samples, Task
    from lossyfl.tasks.models import character_lstm
    from lossyfl.tasks.partitions import grouped

    letters = np.unique(text)
    train: list[Bytes] = []
    test: list[Bytes] = []
    for said in speeches(text.tobytes().decode("latin-1")).values():
        letter = np.frombuffer(said.encode("latin-1"), np.uint8)
        codes = np.searchsorted(letters, letter).astype(np.uint8)
        cut = round(TRAIN * len(codes))
        train.append(windows(codes[:cut]))
        test.append(windows(codes[cut:]))
    speakers = np.repeat(np.arange(len(train)), [len(part) for part in train])
    return Task(
        name=name,
        train=Samples(**_shifted(train)),
        test=Samples(**_shifted(test)),
        model=partial(character_lstm, len(letters)),
        prepare=Tensor.long,
        metric=("accuracy", "perplexity"),
        defaults=SHAKESPEARE,
        parts=grouped(speakers),
    )


def windows(codes: Bytes) -> Bytes:
    """Pieces of one character more than a sample, (pieces, WINDOW + 1); one ends where the next begins."""
    count = max(len(codes) - 1, 0) // WINDOW
    return codes[np.arange(count)[:, None] * WINDOW + np.arange(WINDOW + 1)]


def _shifted(pieces: list[Bytes]) -> dict[str, Bytes]:
    """Inputs, and as targets the character after each."""
    whole = np.concatenate(pieces)
    return {"x": whole[:, :-1].copy(), "y": whole[:, 1:].copy()}
