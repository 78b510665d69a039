"""What comes of runs, as objects for a notebook: numbers, tables, plots, and how they show themselves.

Everything is read from results directories, so what was run here, on another machine or on a command line is
the same: `load`.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lossyfl.api.folders import ResultsFolder
from lossyfl.errors import InputError, one_of
from lossyfl.extras import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lossyfl.protocol.ledger import Ledger
    from lossyfl.report.groups import Group
    from lossyfl.report.runs import Run
    from lossyfl.results.experiment import Experiment
    from lossyfl.results.records import Round
    from lossyfl.results.summary import RunSummary

Key = tuple[str, int]
"""A scheme and a seed."""
X = Literal["rounds", "bytes", "savings"]


def load(*folders: str | Path) -> "RunSet":
    """The runs in these results directories, and in all folders below."""
    from lossyfl.report.runs import find

    return RunSet([TrainedRun(run) for run in find(Path(folder) for folder in folders)])


def read_run(folder: Path) -> "Run":
    """The run of one results directory."""
    from lossyfl.report.runs import read

    return read(folder)


class _Shown:
    """What one run and several have in common: runs, in groups that differ in the seed only."""

    @property
    def _runs(self) -> "tuple[TrainedRun, ...]":
        raise NotImplementedError

    @cached_property
    def groups(self) -> "list[Group]":
        """As reports have them: runs that differ in their seed only are one group."""
        from lossyfl.report.groups import group

        return group(each.run for each in self._runs)

    def columns(self, per: Literal["round", "run"] = "round") -> dict[str, list[Any]]:
        """A table of lists by name, a row per round, or per run with its last evaluation."""
        from lossyfl.api.tables import of_rounds, of_runs

        if per not in ("round", "run"):
            raise InputError("per", of="a table", allowed="round or run", got=per)
        return (of_rounds if per == "round" else of_runs)(self._runs)

    def to_pandas(self, per: Literal["round", "run"] = "round") -> Any:  # noqa: ANN401 - no stubs here
        """The same as a DataFrame of pandas."""
        return require("pandas", extra="notebook").DataFrame(self.columns(per))

    def plot(
        self, x: X = "rounds", *, metric: str | None = None, title: str | None = None
    ) -> "Figure":
        """A figure of matplotlib's: the metric against rounds, against bytes sent, or against savings.

        metric: which of the task's; None for the first
        """
        from lossyfl.report import figure, sheet

        if x not in ("rounds", "bytes", "savings"):
            allowed = one_of(("rounds", "bytes", "savings"), x)
            raise InputError("x", of="a figure", allowed=allowed, got=x)
        made = figure.made(self.groups, x=x, title=title, metric=metric)
        # A notebook shows what has this; matplotlib's own way needs pyplot to be imported.
        made.__dict__["_repr_png_"] = partial(sheet.png, made)
        return made

    def report(self, out: str | Path = "report.html", *, title: str | None = None) -> Path:
        """Write the interactive page of `lossyfl report`; it needs nothing beside itself."""
        from lossyfl import report
        from lossyfl.files.atomic import write_atomically

        page = report.page(self.groups, report.Options(title=title))
        write_atomically(Path(out), [page.encode()])
        return Path(out)

    def _repr_html_(self) -> str:
        from lossyfl.api.html import shown

        return shown(self.groups)


class TrainedRun(_Shown):
    """One run: its settings, what every round came to, and every frame.

    run:    as reports read it
    folder: the results directory; without `out` it is gone with the last result that refers to it
    """

    def __init__(self, run: "Run", home: ResultsFolder | None = None) -> None:
        self.run, self.folder, self._home = run, Path(run.name), home

    @property
    def _runs(self) -> "tuple[TrainedRun, ...]":
        return (self,)

    @property
    def settings(self) -> "Experiment":
        """All of them, with what suited the task where nothing was said."""
        return self.run.settings

    @property
    def scheme(self) -> str:
        """The scheme, as it was asked for."""
        return self.settings.scheme

    @property
    def task(self) -> str:
        """What the task is called."""
        return self.run.about.task.name or self.settings.task

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of what was measured, the most important one first."""
        return tuple(metric.name for metric in self.run.about.task.metrics)

    @property
    def finished(self) -> bool:
        """Whether all rounds are done; else the same call with the same `out` goes on."""
        return self.run.about.state == "done"

    @property
    def rounds(self) -> "tuple[Round, ...]":
        """What was written down of every round."""
        return self.run.rounds

    @cached_property
    def summary(self) -> "RunSummary":
        """All rounds in a few numbers."""
        from lossyfl.results.summary import summarize

        return summarize(list(self.rounds))

    @cached_property
    def ledger(self) -> "Ledger":
        """Every frame that was handed over."""
        from lossyfl.results import ledger_file

        return ledger_file.read(self.folder / "ledger.csv")

    def __repr__(self) -> str:
        metrics = self.run.about.task.metrics
        shown = [f"{m.name} {m.text(self.summary.metrics.get(m.name))}" for m in metrics]
        seed = self.settings.seed
        return (
            f"<TrainedRun {self.task}, {self.scheme}, seed {seed}: {len(self.rounds)} rounds, "
            f"{', '.join(shown)}, down {self.summary.saving_down:.1f}x, up {self.summary.saving_up:.1f}x>"
        )


class RunSet(_Shown):
    """Several runs, in the order in which they were asked for; `failed` has the folders of diverged ones."""

    def __init__(self, runs: Sequence[TrainedRun], *, failed: Sequence[Path] = ()) -> None:
        self._all, self.failed = tuple(runs), tuple(failed)

    @property
    def _runs(self) -> tuple[TrainedRun, ...]:
        return self._all

    def __iter__(self) -> Iterator[TrainedRun]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, which: int | str | Key) -> TrainedRun:
        """A run by its place, its scheme, or its scheme and seed."""
        if isinstance(which, int):
            return self._runs[which]
        scheme, seed = (which, None) if isinstance(which, str) else which
        for each in self._runs:
            if each.scheme == scheme and seed in (None, each.settings.seed):
                return each
        known = [
            each.scheme if seed is None else f"{each.scheme}, {each.settings.seed}" for each in self
        ]
        got = scheme if seed is None else f"{scheme}, {seed}"
        raise KeyError(
            f"no run of {got}: there {'is' if len(known) == 1 else 'are'} {'; '.join(known)}"
        )

    @property
    def rounds(self) -> "Mapping[Key, tuple[Round, ...]]":
        """The rounds of every run, by scheme and seed."""
        return {_key(each): each.rounds for each in self}

    @property
    def ledger(self) -> "Mapping[Key, Ledger]":
        """The ledger of every run, by scheme and seed."""
        return {_key(each): each.ledger for each in self}

    @property
    def summary(self) -> "Mapping[Key, RunSummary]":
        """Every run in a few numbers, by scheme and seed."""
        return {_key(each): each.summary for each in self}

    def __repr__(self) -> str:
        return "\n".join(map(repr, self)) or "<RunSet without runs>"


def _key(run: TrainedRun) -> Key:
    return run.scheme, run.settings.seed
