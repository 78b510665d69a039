"""Several schemes on one task: the same seeds, so the same start, devices, batches and drop-outs.

Every run has a folder of its own below one. What is complete is not run again, what was interrupted
goes on, so a comparison can be stopped and repeated with the same command until it is done. Nothing that
was trained is ever removed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from lossyfl.errors import InputError
from lossyfl.protocol.schemes import scheme
from lossyfl.results.directory import Results
from lossyfl.results.experiment import KEYS, Experiment, slug
from lossyfl.results.records import read_rounds
from lossyfl.simulation import checkpoint
from lossyfl.simulation.given import WORDS_ONLY, Given
from lossyfl.simulation.run import resume, run
from lossyfl.simulation.run_loop import RunResult
from lossyfl.simulation.setup import load_task, ready, resolve
from lossyfl.simulation.watcher import Watcher
from lossyfl.tasks.base import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One run of a comparison, all settings said, and where it goes.

    label: what it is called while it runs; its scheme and seed if empty
    given: objects for the words of its settings
    """

    experiment: Experiment
    folder: Path
    label: str = ""
    given: Given = WORDS_ONLY

    @property
    def name(self) -> str:
        """What it is called while it runs."""
        return self.label or f"{self.experiment.scheme}, seed {self.experiment.seed}"

    @property
    def rounds(self) -> int:
        """How many it is to have."""
        assert self.experiment.rounds is not None
        return self.experiment.rounds

    @property
    def done(self) -> int:
        """Rounds that are written down."""
        return len(read_rounds(Results(self.folder).rounds))

    @property
    def state(self) -> str:
        """As its results say; empty for a run that has not begun."""
        return Results(self.folder).state()

    @property
    def is_complete(self) -> bool:
        """Whether all rounds are done."""
        return self.state == "done" and self.done >= self.rounds

    @property
    def has_diverged(self) -> bool:
        """Whether it came to a loss that is no number; it would again."""
        return self.state == "diverged"


def settled(asked: Experiment, data_dir: Path | None, given: Task | None = None) -> Experiment:
    """The experiment with what suits its task, or one that was given, where nothing was said."""
    return resolve(asked, given or load_task(asked.task, data_dir))


def plan(
    base: Experiment,
    schemes: Sequence[str],
    seeds: int,
    out: Path,
    given: Mapping[str, Given] = MappingProxyType({}),
) -> list[Planned]:
    """All runs of a settled experiment, seed by seed, so that every scheme has its first one early.

    given: the objects of a scheme's runs, by its word
    """
    if not schemes or len(set(schemes)) != len(schemes):
        allowed = "at least one, each once"
        raise InputError("schemes", of="a comparison", allowed=allowed, got=" ".join(schemes))
    if seeds < 1:
        raise InputError("seeds", of="a comparison", allowed="an int >= 1", got=seeds)
    objects = {spec: given.get(spec, WORDS_ONLY) for spec in schemes}
    for spec in schemes:
        if objects[spec].scheme is None:
            scheme(spec)  # raises now, not when its turn comes
    runs = [
        Planned(
            experiment=replace(base, scheme=spec, seed=base.seed + k),
            folder=out / f"{slug(spec)}-{base.seed + k}",
            given=objects[spec],
        )
        for k in range(seeds)
        for spec in schemes
    ]
    for planned in runs:
        check_folder(planned)
    return runs


def check(runs: Sequence[Planned], data_dir: Path | None) -> None:
    """Raise if any of them could not begin: now, not when its turn comes."""
    waiting = [planned for planned in runs if not planned.done]
    if len(waiting) > 1:  # the only one says it itself
        for spec in dict.fromkeys(planned.experiment.task for planned in waiting):
            own = [planned for planned in waiting if planned.experiment.task == spec]
            chosen = own[0].given.task or load_task(spec, data_dir)
            for planned in own:
                ready(planned.experiment, chosen, planned.given.scheme)


def go_on(
    planned: Planned,
    *,
    workers: int,
    data_dir: Path | None,
    watcher: Watcher,
    checkpoint_every: float = 30.0,
) -> RunResult:
    """Start a run, or go on with it from its checkpoint."""
    if planned.done == 0:
        return run(
            planned.experiment,
            planned.folder,
            workers=workers,
            data_dir=data_dir,
            checkpoint_every=checkpoint_every,
            force=True,  # no round is there, so nothing is lost
            watcher=watcher,
            given=planned.given,
        )
    return resume(
        planned.folder,
        rounds=planned.rounds if planned.rounds > planned.done else None,
        workers=workers,
        data_dir=data_dir,
        checkpoint_every=checkpoint_every,
        watcher=watcher,
        given=planned.given,
    )


def check_folder(planned: Planned) -> None:
    """Raise if the folder holds a run with other settings, or one that can neither stay nor go on."""
    results = Results(planned.folder)
    results.check_free(force=True)
    if not results.config.is_file():
        return
    stored = results.read_config()
    for name in KEYS:
        asked, found = getattr(planned.experiment, name), getattr(stored, name)
        if asked != found and name != "rounds":
            allowed = f"{found}, as in {results.config} (or another --out)"
            raise InputError(name, of="this comparison", allowed=allowed, got=asked)
    if planned.done > planned.rounds:
        allowed = f"at least {planned.done}, as in {planned.folder} (or another --out)"
        raise InputError("rounds", of="this comparison", allowed=allowed, got=planned.rounds)
    ends = planned.is_complete or planned.has_diverged or not planned.done
    if not ends and not checkpoint.path(results.checkpoint).is_file():
        allowed = f"{planned.done}: its checkpoint is gone (or another --out)"
        raise InputError("rounds", of=str(planned.folder), allowed=allowed, got=planned.rounds)
