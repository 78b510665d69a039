"""`lossyfl.run` and `lossyfl.compare`: experiments as function calls, and what comes of them as objects.

What takes time to import, torch above all, is imported by the calls.
"""

import inspect
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack, cast

from lossyfl.api.folders import ResultsFolder
from lossyfl.api.outcomes import RunSet, TrainedRun, read_run
from lossyfl.api.words import Common, OneRun, asked, schemes_of
from lossyfl.errors import Diverged, InputError, Stopped
from lossyfl.extras import check_installed
from lossyfl.results.experiment import Experiment

if TYPE_CHECKING:
    from lossyfl.experiments.compare import Planned
    from lossyfl.protocol.scheme import Scheme
    from lossyfl.simulation.given import Given
    from lossyfl.simulation.watcher import Watcher

C = TypeVar("C", bound=Callable[..., object])


def _shows(settings: type) -> Callable[[C], C]:
    """Have `help` and completion show the settings, too."""

    def shown(call: C) -> C:
        own = inspect.signature(call)
        named = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        kind = inspect.Parameter.KEYWORD_ONLY
        hints: dict[str, object] = inspect.get_annotations(settings)
        usual = Experiment()
        for name, hint in hints.items():
            default = getattr(usual, name, None)
            named.append(inspect.Parameter(name, kind, default=default, annotation=hint))
        call.__signature__ = own.replace(parameters=named)  # type: ignore[attr-defined]
        return call

    return shown


@_shows(OneRun)
def run(
    experiment: Experiment | None = None,
    *,
    out: str | Path | None = None,
    workers: int = 1,
    data_dir: str | Path | None = None,
    progress: bool = True,
    **settings: Unpack[OneRun],
) -> TrainedRun:
    """Train over many devices on this machine; the result has rounds, ledger and summary, and shows itself.

    experiment: settings; those that are said by name come above them
    out:        the folder in which results are kept; what is complete there is not run again, what was
                interrupted goes on. Without one they are kept as long as the result that is returned
    workers:    processes; the result is the same for any number
    progress:   whether to say how it goes

    A task may be a name, a `Task`, or a function that makes one; a scheme a text or a `Scheme`. Budgets make
    the scheme `lean`, a number is bytes.

    >>> import lossyfl
    >>> made = lossyfl.run(task="digits", scheme="lfl:q1=2,q2=2", rounds=1, devices=5, progress=False)
    >>> made.summary.rounds
    1
    """
    check_installed("torch", extra="sim")
    chosen, given = asked(experiment, settings)
    data, words = _folder(data_dir), [] if given.scheme else [chosen.scheme]
    settled = _settled(chosen, given, words, data)
    from lossyfl.experiments.compare import Planned, check_folder

    home = ResultsFolder(out)
    planned = Planned(experiment=settled, folder=home.path, given=given)
    check_folder(planned)
    _play([planned], workers, data, progress=progress, goes_on=False)
    home.remove_when_done()
    return TrainedRun(read_run(home.path), home)


@_shows(Common)
def compare(
    schemes: "Sequence[str | Scheme]",
    *,
    experiment: Experiment | None = None,
    seeds: int = 1,
    out: str | Path | None = None,
    workers: int = 1,
    data_dir: str | Path | None = None,
    progress: bool = True,
    **settings: Unpack[Common],
) -> RunSet:
    """Train with several schemes: the same seeds, so the same start, devices and batches.

    seeds: runs of each scheme, from `seed` on

    Everything else is as for `run`. A scheme whose training diverges stops no other, and is in `failed`.

    >>> import lossyfl
    >>> made = lossyfl.compare(["lossless", "lfl"], rounds=1, devices=5, progress=False)
    >>> [run.scheme for run in made]
    ['lossless', 'lfl']
    """
    check_installed("torch", extra="sim")
    if "scheme" in settings:
        allowed = "left out: schemes are the first argument"
        raise InputError("scheme", of="compare", allowed=allowed, got=str(settings["scheme"]))
    named = schemes_of(schemes)
    chosen, given = asked(experiment, settings)
    data = _folder(data_dir)
    base = _settled(chosen, given, [w for w, made in named.items() if made is None], data)
    from lossyfl.experiments.compare import plan

    home = ResultsFolder(out)
    objects = {word: replace(given, scheme=made) for word, made in named.items()}
    planned = plan(base, list(named), seeds, home.path, objects)
    failed = _play(planned, workers, data, progress=progress, goes_on=True)
    home.remove_when_done()
    runs = [TrainedRun(read_run(each.folder), home) for each in planned if each.done]
    return RunSet(runs, failed=tuple(each.folder for each in failed))


def _settled(
    chosen: Experiment, given: "Given", words: Sequence[str], data: Path | None
) -> Experiment:
    """The experiment, with what suits its task; wrong words are found before torch is imported."""
    from lossyfl.simulation.words import check_words

    check_words(chosen, words, of_task=given.task is None)
    from lossyfl.experiments.compare import settled

    return settled(chosen, data, given.task)


def _play(
    runs: "Sequence[Planned]",
    workers: int,
    data: Path | None,
    *,
    progress: bool,
    goes_on: bool,
) -> "list[Planned]":
    """Run what is not complete; those that diverged, if others go on then."""
    from lossyfl.api.lines import ProgressLine
    from lossyfl.experiments.compare import check, go_on
    from lossyfl.simulation.memory import keep_freed_memory
    from lossyfl.simulation.watcher import Silent

    keep_freed_memory()
    check(runs, data)
    line = ProgressLine(len(runs)) if progress else None
    watcher = cast("Watcher", line or Silent())
    with closing(line or _Nothing()):
        for planned in runs:
            if planned.is_complete or (goes_on and planned.has_diverged):
                if line is not None:
                    line.skipped()
                continue
            try:
                outcome = go_on(planned, workers=workers, data_dir=data, watcher=watcher)
            except Stopped as error:
                if not (goes_on and isinstance(error.__cause__, Diverged)):
                    raise
                watcher.preparing(str(error.__cause__))
                continue
            if outcome.interrupted:
                break
    return [each for each in runs if each.has_diverged]


class _Nothing:
    """What there is to close where nobody watches."""

    def close(self) -> None:
        """Nothing."""


def _folder(said: str | Path | None) -> Path | None:
    return None if said is None else Path(said)
