"""`lossyfl sweep`: settings crossed."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from lossyfl.commands import options, session, training
from lossyfl.commands.compare import play, tell
from lossyfl.commands.execution import BUDGETS, OF_MANY_RUNS
from lossyfl.commands.output import console, echo, echo_json
from lossyfl.commands.spread import Said, of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossyfl.commands.execution import Execution
    from lossyfl.experiments.grid import Axis
    from lossyfl.experiments.sweep import SweepPlan
    from lossyfl.experiments.sweep_table import SweepTable
    from lossyfl.results.experiment import Experiment


class Crossed(NamedTuple):
    """What is compared with what, and how."""

    config: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file with the settings that are not crossed.", show_default=False
        ),
    ] = None
    baseline: Annotated[
        str,
        typer.Option(
            help="A scheme that every point is compared with, at its own other settings. "
            "Default: the point that learned best.",
            show_default=False,
        ),
    ] = ""
    confidence: Annotated[
        float, typer.Option(help="Of intervals, and of all differences together.")
    ] = 0.95
    figures: Annotated[
        bool, typer.Option(help="Draw what was measured against every setting, and heat maps.")
    ] = True
    seeds: Annotated[int, typer.Option(help="Runs of each point, from --seed on.", min=1)] = 1
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Runs at a time, which share the workers. Default: one per worker.",
            show_default=False,
            min=1,
        ),
    ] = None


def sweep(
    axes: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE,VALUE...",
            help="Settings and their values, as q1=1,2,5.",
            show_default=False,
        ),
    ],
    *,
    crossed: Crossed,
    said: Annotated[Said, of("scheme", *OF_MANY_RUNS)],
    out: options.Out = Path("runs/sweep"),
    allow: options.Allow = None,
    output: options.Output,
) -> None:
    """Train with every combination of some settings; then tests, figures and a report.

    NAME is a setting, as tau=1,4,8, an option of the scheme, as q1=1,2,5, or what stands in braces in it.
    Values with commas of their own stand in parentheses: 'scheme=lossless,lfl(q1=2,q2=2)'.

    Can be stopped and repeated, also with more values: nothing that is complete is run again.
    """
    settings, how = options.split_for_many(
        options.merged(crossed.config, said),
        tuple(BUDGETS),
        "cross options of lean instead",
        of="a sweep",
    )
    if crossed.config is not None:
        session.import_only(allow, [*said.values(), *axes, crossed.baseline])
    from lossyfl.experiments.grid import axis
    from lossyfl.results.experiment import experiment

    chosen = [axis(text) for text in axes]
    _check_said(settings, [each.name for each in chosen])
    _run(chosen, experiment(settings), crossed, how, out, output)


def _run(
    axes: "Sequence[Axis]",
    base: "Experiment",
    crossed: Crossed,
    how: "Execution",
    out: Path,
    output: options.Output,
) -> None:
    """All of it, once words have become settings."""
    _check(axes, base, crossed, how.data_dir)
    workers = training.start_workers(how)
    from lossyfl.experiments.sweep import plan_sweep

    data, quiet = how.data_dir, output.quiet
    plan = plan_sweep(axes, base, crossed.seeds, out, crossed.baseline, data_dir=data)
    if not quiet:
        echo(_counts(plan, crossed.seeds), err=True)
    jobs = crossed.jobs or workers
    failed = play(plan.runs, out, workers=workers, jobs=jobs, data_dir=data, quiet=quiet)
    _finish(plan, out, crossed, as_json=output.as_json)
    tell(failed)


def _check(
    axes: "Sequence[Axis]", base: "Experiment", crossed: Crossed, data_dir: Path | None
) -> None:
    """Raise for what is wrong, before anything takes time."""
    from lossyfl.experiments.grid import grid
    from lossyfl.experiments.significance import check_confidence
    from lossyfl.extras import check_installed

    check_confidence(crossed.confidence, of="a sweep")
    for point in grid(axes, base):
        training.check(point.experiment, data_dir)
    if crossed.figures:
        check_installed("matplotlib", extra="report")


def _check_said(settings: dict[str, object], names: "Sequence[str]") -> None:
    """Raise if a setting is said, and crossed as well."""
    from lossyfl.errors import InputError

    for name in names:
        if name in settings:
            allowed = "given once: as an option, or with the values that are crossed"
            raise InputError(name, of="a sweep", allowed=allowed, got=settings[name])


def _counts(plan: "SweepPlan", seeds: int) -> str:
    """How much there is to do."""
    runs = plan.runs
    points, done = len(plan.points), sum(run.is_complete for run in runs)
    distinct = len(runs) // seeds
    many = f"{points} point{'s' * (points != 1)}"
    same = f", {distinct} different experiments" if distinct != points else ""
    return f"{many}{same}, {len(runs)} runs, {done} of them complete"


def _finish(plan: "SweepPlan", out: Path, crossed: Crossed, *, as_json: bool) -> None:
    """Write the table, figures and the report, and show the table."""
    from dataclasses import asdict

    from lossyfl.experiments.sweep import result_of
    from lossyfl.experiments.sweep_report import write_sweep
    from lossyfl.experiments.sweep_table import table_of

    result = result_of(plan)
    table = table_of(result, crossed.confidence)
    written = write_sweep(result, table, out, figures=crossed.figures)
    if as_json:
        rows = [
            asdict(row) | {"values": dict(zip(table.axes, row.values, strict=True))}
            for row in table.rows
        ]
        facts = {"reference": table.reference, "confidence": table.confidence}
        echo_json(facts | {"comparisons": table.comparisons, "note": table.note, "rows": rows})
        return
    _show(table)
    echo(table.note)
    echo(f"in {out}: {', '.join(path.name for path in written)}")


def _show(table: "SweepTable") -> None:
    from rich.table import Table
    from rich.text import Text

    from lossyfl.errors import printable
    from lossyfl.experiments.sweep_text import short_cells, short_heads

    shown = Table()
    for name in short_heads(table):
        shown.add_column(printable(name), no_wrap=name not in table.axes)
    for row in table.rows:
        shown.add_row(*(Text(printable(cell)) for cell in short_cells(table, row)))
    console(width=110).print(shown)
