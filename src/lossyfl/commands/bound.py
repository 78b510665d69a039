"""`lossyfl bound`: Theorem 1 beside the distance that it bounds."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import math
import time
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import typer

from lossyfl.commands import options
from lossyfl.commands.output import FIGURES, can_write, console, echo
from lossyfl.commands.spread import Said, of, option
from lossyfl.commands.variadic import Variadic
from lossyfl.errors import printable
from lossyfl.extras import check_installed, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from lossyfl.experiments.bound import Outcome
    from lossyfl.experiments.bound_settings import Grid

PLAIN_EVERY = 10.0
"""Seconds from one line to the next where there is no terminal."""


class BoundCommand(Variadic):
    """Options of which all combinations are run."""

    several: ClassVar[tuple[str, ...]] = ("--tau", "--eta", "--partition", "--q1", "--q2")


class Values(NamedTuple):
    """Settings of which several may be given."""

    partition: Annotated[list[str] | None, option("partition", "iid paper")] = None
    tau: Annotated[list[int] | None, option("tau", "1 4")] = None
    eta: Annotated[
        list[str] | None,
        typer.Option(
            help="Step size: 0.1, or 0.1@0/0.01@50, or inverse:start=... Default: two that suit tau.",
            show_default=False,
        ),
    ] = None
    q1: Annotated[
        list[str] | None,
        typer.Option(
            help="Levels of the broadcast, also 8@0/2@50; or exact. Default: exact 1 2 5.",
            show_default=False,
        ),
    ] = None
    q2: Annotated[
        list[str] | None,
        typer.Option(
            help="Levels of the replies, likewise. Default: exact, as Theorem 1 assumes.",
            show_default=False,
        ),
    ] = None

    def grid(self) -> "Grid":
        """All combinations, with the usual values where nothing was said."""
        from lossyfl.experiments.bound_settings import Grid

        said = {f"{name}s": tuple(value) for name, value in self._asdict().items() if value}
        return Grid(**said)


class ProblemOptions(NamedTuple):
    """What is solved."""

    samples: Annotated[
        int | None,
        typer.Option(
            help="How many samples of the task, drawn at random. Default: all.", show_default=False
        ),
    ] = None
    seeds: Annotated[
        int | None,
        typer.Option(help="Runs that the mean is taken of. Default: 5.", show_default=False),
    ] = None
    regulariser: Annotated[
        float, typer.Option(help="lambda, which is mu: eta must be in (0, min(1, 1/(mu tau))].")
    ] = 0.1


class Files(NamedTuple):
    """What is written."""

    plot: Annotated[Path | None, typer.Option(help="Also draw the figure to this file.")] = None
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Also write everything to this file, as JSON."),
    ] = None

    def check(self) -> None:
        """Raise if one of them cannot be written."""
        can_write(self.out)
        can_write(self.plot, FIGURES)

    def write(self, outcomes: "Sequence[Outcome]") -> None:
        """Those that are asked for."""
        from lossyfl.experiments import bound_report
        from lossyfl.files.atomic import write_atomically

        if self.out is not None:
            write_atomically(self.out, [_text(outcomes).encode()])
        if self.plot is not None:
            bound_report.plot(outcomes, self.plot)


def bound(
    *,
    values: Values,
    said: Annotated[Said, of("task", "data_dir", devices="20", rounds="120", batch="20")],
    problem: ProblemOptions,
    quick: Annotated[
        bool, typer.Option("--quick", help="10 devices, 12 rounds, batch 10, 2 seeds.")
    ] = False,
    files: Files,
    output: options.Output,
) -> None:
    """Theorem 1 beside what it bounds: logistic regression on anybody's samples.

    --tau, --eta, --partition, --q1 and --q2 take several values: all combinations are run.
    """
    from lossyfl import tasks
    from lossyfl.experiments.bound_settings import BoundSetting

    files.check()
    sizes, how = options.split(said)
    task = str(sizes.setdefault("task", "digits"))
    tasks.check(task)
    few = {"devices": 10, "rounds": 12, "batch": 10, "seeds": 2} if quick else {}
    told = {name: value for name, value in problem._asdict().items() if value is not None}
    settings = values.grid().settings(partial(BoundSetting, **(few | sizes | told)))
    tasks.check_data(task, how.data_dir)
    check_installed("torch", extra="sim")
    if files.plot is not None:
        require("matplotlib", extra="report")  # now, not after the work
    from lossyfl.experiments import bound as experiment

    with ExitStack() as stack:
        tick = experiment.silent if output.quiet else stack.enter_context(Progress())
        outcomes = experiment.run(settings, data_dir=how.data_dir, tick=tick)
    files.write(outcomes)
    if output.as_json:
        echo(_text(outcomes))
    else:
        _show(outcomes)


def _show(outcomes: "Sequence[Outcome]") -> None:
    from lossyfl.experiments import bound_report

    screen = console(width=240)  # a wide table wraps better than it shrinks
    for line in bound_report.constants(outcomes):
        screen.print(line)
    bound_report.sheet(outcomes).show(screen)
    screen.print(bound_report.LEGEND)
    if warning := bound_report.growing(outcomes):
        screen.print(warning)
    kept = sum(outcome.holds for outcome in outcomes)
    screen.print(f"the bound holds at every round in {kept} of {len(outcomes)} settings")


def _text(outcomes: "Sequence[Outcome]") -> str:
    """Everything as JSON; a bound beyond all numbers, which JSON has no word for, is null."""
    rows = [asdict(outcome) for outcome in outcomes]
    for row in rows:
        for name in ("distance_bound", "by_round", "gap_bound"):
            row[name] = [value if math.isfinite(value) else None for value in row[name]]
    import json

    return json.dumps(rows, allow_nan=False)


class Progress:
    """How far it is, and the time that is left: a bar, or a line every few seconds."""

    def __init__(self, screen: "Console | None" = None) -> None:
        from rich import progress

        self._console = screen or console(err=True)
        self._bar = progress.Progress(
            progress.TextColumn(
                "{task.description} {task.completed:,}/{task.total:,}", markup=False
            ),
            progress.BarColumn(bar_width=20),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left"),
            progress.TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._tasks = dict[str, progress.TaskID]()
        self._began = dict[str, float]()
        self._last = self._before = time.monotonic()

    def __enter__(self) -> "Progress":
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """So much of something has been done."""
        from lossyfl.report.text import duration

        now = time.monotonic()
        if what not in self._tasks:
            self._tasks[what] = self._bar.add_task(printable(what), total=total)
            self._began[what] = self._before
        self._before = now
        self._bar.update(self._tasks[what], completed=done)
        if not self._console.is_terminal and now - self._last > PLAIN_EVERY:
            self._last = now
            left = duration((now - self._began[what]) / done * (total - done))
            self._console.print(f"{what} {done:,}/{total:,}, {left} left")
