"""Updates of short runs, as links quantize them: what codes are compared on.

Broadcasts, theta - theta_hat, and replies, the update and the memory, of early, middle and late rounds; of
each the one before it, too, for codes that look back. The runs are made where they are wanted first, with
fixed seeds, and kept: delete the folder after a change that would make others.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lossyfl.experiments.vectors import read
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.run import run
from lossyfl.simulation.watcher import Silent, Watcher
from lossyfl.tasks import task
from lossyfl.tasks.flat import FlatModel
from lossyfl.types import Vector

FOLDER = Path(__file__).parents[1] / "build" / "updates"
EVERY = 10**6
"""Rounds from one evaluation to the next: only the last one is evaluated."""
LINKS = {"broadcast": "down", "reply": "up-0"}
"""What a link sends, and how its files are called; of replies those of the first device."""
_LEAN = (
    "lean:first_budget=5bit,down_budget=0.303bit,up_budget=0.317bit,"
    "server_optimizer=adam(beta1=0.5,beta2=0.995),server_lr=0.003"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A run, and the rounds whose updates are taken: early, in the middle and late."""

    name: str
    experiment: Experiment
    rounds: tuple[int, ...]

    @property
    def middle(self) -> int:
        """The round in the middle."""
        return self.rounds[len(self.rounds) // 2]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Update:
    """What one end quantized.

    sent:   broadcast or reply
    before: the same of the round before
    shapes: of the model's tensors
    """

    source: str
    sent: str
    round: int
    vector: Vector
    before: Vector
    shapes: tuple[tuple[int, ...], ...]

    def tensors(self, vector: Vector) -> list[NDArray[np.float32]]:
        """A vector as the model's tensors."""
        stops = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        parts = np.split(vector, stops[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]


def _of_classes(task_name: str, rounds: tuple[int, ...]) -> Experiment:
    """One class per device and fewest bytes, as in docs/frontier.md, without prediction."""
    return Experiment(
        task=task_name,
        scheme=_LEAN,
        rounds=rounds[-1] + 1,
        devices=40,
        tau=4,
        batch=20,
        optimizer="sgd",
        lr="0.05",
        partition="paper",
        evaluate_every=EVERY,
    )


def _of_images(rounds: tuple[int, ...]) -> Experiment:
    """CIFAR-10 with an Adam per device and one bit both ways, as in docs/frontier.md."""
    return Experiment(
        task="cifar10",
        scheme="lean:first_budget=4bit,down_budget=1bit,up_budget=1bit",
        rounds=rounds[-1] + 1,
        devices=40,
        tau=5,
        batch=20,
        optimizer="adam:moments=kept",
        lr="0.001",
        partition="iid",
        evaluate_every=EVERY,
    )


_LONG, _SHORT = (4, 15, 30), (2, 4, 6)
SOURCES = (
    Source(name="mnist", experiment=_of_classes("mnist", _LONG), rounds=_LONG),
    Source(name="mlp", experiment=_of_classes("mlp:of=mnist,hidden=150", _LONG), rounds=_LONG),
    Source(name="cifar10", experiment=_of_images(_SHORT), rounds=_SHORT),
)
QUICK = (
    Source(
        name="digits",
        experiment=Experiment(
            task="digits",
            scheme=_LEAN,
            rounds=7,
            devices=10,
            partition="paper",
            evaluate_every=EVERY,
        ),
        rounds=(2, 6),
    ),
)
"""A run of seconds, whose data is part of the package."""


def updates(source: Source, folder: Path, watcher: Watcher | None = None) -> Iterator[Update]:
    """The updates of a run, which is made if it is not there."""
    out = folder / source.name
    results = Results(out)
    if not _is_there(source, results):
        wanted = frozenset(source.rounds) | {each - 1 for each in source.rounds}
        out.parent.mkdir(parents=True, exist_ok=True)
        run(
            source.experiment,
            out,
            workers=os.cpu_count() or 1,
            force=True,
            save_updates=wanted,
            watcher=watcher or Silent(),
        )
    shapes = _shapes(source.experiment.task)
    for sent, file in LINKS.items():
        for number in source.rounds:
            vector, before = (
                read(results.updates / f"{each}-{file}.npy") for each in (number, number - 1)
            )
            yield Update(
                source=source.name,
                sent=sent,
                round=number,
                vector=vector,
                before=before,
                shapes=shapes,
            )


def _is_there(source: Source, results: Results) -> bool:
    """Whether the run was made, with these settings, to its end."""
    if not results.model.exists():
        return False
    kept = results.read_config()
    return all(
        getattr(kept, name) == value
        for name, value in _said(source.experiment).items()
        if value is not None
    )


def _said(experiment: Experiment) -> dict[str, object]:
    return {name: getattr(experiment, name) for name in experiment.__dataclass_fields__}


def _shapes(name: str) -> tuple[tuple[int, ...], ...]:
    return tuple(place.shape for place in FlatModel(task(name).model()).places)
