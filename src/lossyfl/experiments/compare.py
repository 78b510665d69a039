"""Several schemes on one task: the same seeds, so the same start, devices, batches and drop-outs.

Every run has a folder of its own below one. What is complete is not run again, what was interrupted
goes on, so a comparison can be stopped and repeated with the same command until it is done.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lossyfl.errors import InputError
from lossyfl.simulation import checkpoint
from lossyfl.simulation.experiment import KEYS, Experiment, slug
from lossyfl.simulation.records import read_rounds
from lossyfl.simulation.results import Results
from lossyfl.simulation.run import Outcome, Watcher, resume, run


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One run of a comparison, and where it goes."""

    experiment: Experiment
    folder: Path

    @property
    def done(self) -> int:
        """Rounds that are saved."""
        results = Results(self.folder)
        saved = checkpoint.path(results.checkpoint).is_file()
        return len(read_rounds(results.rounds)) if saved or results.model.is_file() else 0

    def complete(self, rounds: int) -> bool:
        """Whether all rounds are done and the model is written."""
        return self.done >= rounds and Results(self.folder).model.is_file()


def plan(base: Experiment, schemes: Sequence[str], seeds: int, out: Path) -> list[Planned]:
    """All runs, seed by seed, so that every scheme has its first one early."""
    if not schemes or len(set(schemes)) != len(schemes):
        allowed = "at least one, each once"
        raise InputError("schemes", of="a comparison", allowed=allowed, got=" ".join(schemes))
    if seeds < 1:
        raise InputError("seeds", of="a comparison", allowed="an int >= 1", got=seeds)
    runs = [
        Planned(
            experiment=replace(base, scheme=scheme, seed=base.seed + k),
            folder=out / f"{slug(scheme)}-{base.seed + k}",
        )
        for k in range(seeds)
        for scheme in schemes
    ]
    for planned in runs:
        _check_folder(planned)
    return runs


def go_on(
    planned: Planned,
    *,
    workers: int,
    data_dir: Path | None,
    watcher: Watcher,
    checkpoint_every: float = 30.0,
) -> Outcome:
    """Start a run, or go on with it from its checkpoint."""
    results = Results(planned.folder)
    if checkpoint.path(results.checkpoint).is_file():
        rounds = planned.experiment.rounds
        longer = rounds if rounds is not None and rounds > planned.done else None
        return resume(
            planned.folder,
            rounds=longer,
            workers=workers,
            data_dir=data_dir,
            checkpoint_every=checkpoint_every,
            watcher=watcher,
        )
    return run(
        planned.experiment,
        planned.folder,
        workers=workers,
        data_dir=data_dir,
        checkpoint_every=checkpoint_every,
        force=True,  # killed before its first checkpoint: nothing is lost
        watcher=watcher,
    )


def _check_folder(planned: Planned) -> None:
    """Raise if the folder holds a run with other settings."""
    results = Results(planned.folder)
    results.check_free(force=True)
    if not results.config.is_file():
        return
    stored = results.read_config()
    for name in KEYS:
        asked, found = getattr(planned.experiment, name), getattr(stored, name)
        if asked not in (None, found) and name != "rounds":
            allowed = f"{found}, as in {results.config} (or another --out)"
            raise InputError(name, of="this comparison", allowed=allowed, got=asked)
