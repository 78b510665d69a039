"""`lossyfl tune`: which scheme to use."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from lossyfl.commands import options, session, training
from lossyfl.commands.execution import OF_MANY_RUNS
from lossyfl.commands.output import FIGURES, can_write, console, echo, echo_json
from lossyfl.commands.spread import Said, of
from lossyfl.errors import InputError, Stopped
from lossyfl.extras import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossyfl.experiments.compare import Planned
    from lossyfl.experiments.tune import SearchResult, Trial
    from lossyfl.experiments.vectors import CodedVector
    from lossyfl.tasks.metrics import Metric

LINKS = ("downlink_budget", "uplink_budget")


class SavedUpdates(NamedTuple):
    """What is asked about saved updates."""

    vector: Annotated[
        list[Path] | None,
        typer.Option(
            help="Measure a saved update, a .npy file, instead of training; may be repeated.",
            show_default=False,
        ),
    ] = None
    figure: Annotated[
        Path | None,
        typer.Option(help="With --vector: also error against rate, .png, .svg or .pdf."),
    ] = None


class Goal(NamedTuple):
    """What a scheme is to do."""

    keep: Annotated[
        float | None,
        typer.Option(
            help="The accuracy to keep, as 0.95, or value of the task's metric. "
            "Default: that of lossless links.",
            show_default=False,
        ),
    ] = None
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="How much worse than lossless links is kept. Default: 0.005 of an accuracy, "
            "else 1 % of the value.",
            show_default=False,
            min=0,
        ),
    ] = None
    extra: Annotated[
        str, typer.Option(help="Options of every scheme, as server_optimizer=adam.")
    ] = ""


def tune(
    config: options.Config = None,
    *,
    saved: SavedUpdates,
    goal: Goal,
    said: Annotated[Said, of(*LINKS, *OF_MANY_RUNS)],
    out: options.Out = Path("runs/tune"),
    allow: options.Allow = None,
    output: options.Output,
) -> None:
    """Find the scheme with the fewest bytes that still learns as well, on short runs.

    Without budgets: the lowest rates that keep the metric. With both budgets: the quantizer that learns
    best within them. With --vector: every quantizer's size and error on a saved update. Can be stopped and
    repeated: runs that are complete are not run again.
    """
    if saved.vector:
        _check_untrained(said, config, goal)
        _vectors(saved.vector, _one_of(said), saved.figure, as_json=output.as_json)
        return
    if saved.figure is not None:
        allowed = "given with --vector"
        raise InputError("figure", of="tune", allowed=allowed, got=str(saved.figure))
    settings = options.merged(config, said)
    down, up = (_text(settings.pop(name, None)) for name in LINKS)
    settings, how = options.split_for_many(
        settings, ("scheme", "first_budget"), "it finds one", of="tune"
    )
    if config is not None:
        session.import_only(allow, [*said.values(), goal.extra])
    from lossyfl.experiments.tune import Question, answer, words
    from lossyfl.tasks.metrics import Metric

    unknown = Metric(name="metric")  # what it is, the task says when it is loaded
    question = Question(tensors=(), metric=unknown, **goal._asdict())
    schemes = words(question, down, up)
    base, workers = training.settle(settings, how, schemes, quiet=output.quiet)
    from lossyfl.experiments.compare import plan
    from lossyfl.simulation.setup import prepare

    setup = prepare(replace(base, scheme="lossless"), how.data_dir)
    metric = setup.task.metrics[0]
    question = replace(question, tensors=setup.tensors, rounds=base.rounds, metric=metric)

    def attempt(spec: str) -> "Trial":
        planned = plan(base, [spec], 1, out)
        return _try(planned, metric, workers, how.data_dir, quiet=output.quiet)

    _show(answer(question, down, up, attempt), metric, as_json=output.as_json)


def _check_untrained(said: Said, config: Path | None, goal: Goal) -> None:
    """Raise if something is said about training where there is none."""
    others = {"config": config, "keep": goal.keep, "extra": goal.extra or None}
    for name, value in (said | others).items():
        if value is not None and name not in LINKS:
            allowed = "left out: nothing is trained"
            raise InputError(name, of="tune --vector", allowed=allowed, got=value)


def _one_of(said: Said) -> str | None:
    """The budget of a vector, which goes one way only."""
    budgets = [str(said[name]) for name in LINKS if name in said]
    if len(budgets) > 1:
        got = " and ".join(budgets)
        raise InputError("budget", of="tune --vector", allowed="given once", got=got)
    return budgets[0] if budgets else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _try(
    planned: "list[Planned]", metric: "Metric", workers: int, data_dir: Path | None, *, quiet: bool
) -> "Trial":
    """Run a scheme, unless it is there; one that diverges, or cannot keep to its budget, has failed."""
    from lossyfl.commands.compare import play
    from lossyfl.experiments.tune import failure, trial

    folder, spec = planned[0].folder, planned[0].experiment.scheme
    try:
        failed = play(planned, folder.parent, workers=workers, data_dir=data_dir, quiet=quiet)
    except (InputError, Stopped) as error:
        cause = error.__cause__ if isinstance(error, Stopped) else error
        if not spec.startswith("lean") or not isinstance(cause, InputError):
            raise
        return failure(spec, str(cause))
    return failure(spec, "diverged") if failed else trial(spec, folder, metric)


def _show(found: "SearchResult", metric: "Metric", *, as_json: bool) -> None:
    from rich.table import Table

    from lossyfl.experiments.tune import frontier
    from lossyfl.report.text import size

    tried, best = found.tried, found.best
    front = frontier(list(tried.values()), metric)
    if as_json:
        rows = [asdict(each) | {"frontier": each in front} for each in tried.values()]
        best_row = asdict(best) if best else None
        echo_json({"metric": metric.name, "trials": rows, "best": best_row})
        return
    title = f"The {metric.name} is of the evaluations in the last fifth, ten at most; bytes are per round"
    table = Table(title=f"{title} after the initial model; * none is better in all three")
    table.add_column("")
    table.add_column("scheme", overflow="fold")
    for name in (metric.name, "broadcast", "reply"):
        table.add_column(name, justify="right")
    for each in sorted(tried.values(), key=lambda each: -(each.down + each.up)):
        mark = "*" if each in front else ""
        cells = (metric.text(each.value), size(each.down), size(each.up))
        cells = ("failed", "", "") if each.failed else cells
        table.add_row(mark, each.scheme, *cells, style="bold" if each == best else None)
    console().print(table)
    for each in tried.values():
        if each.failed:
            echo(f"{each.scheme} failed: {each.failed}", err=True)
    if best is None:
        echo(f"{found.words}: none{_reached(list(tried.values()), metric)}")
    else:
        echo(f"{found.words}: --scheme '{best.scheme}'")


def _reached(tried: "Sequence[Trial]", metric: "Metric") -> str:
    """The best value of all, if there is one."""
    best = metric.best([each.value for each in tried if not each.failed])
    return "" if best is None else f"; the best of all was {metric.text(best)}"


def _vectors(paths: list[Path], limit: str | None, figure: Path | None, *, as_json: bool) -> None:
    from lossyfl.experiments.vectors import measure, read

    if figure is not None:
        can_write(figure, FIGURES)
        require("matplotlib", extra="report")  # before the work
    vectors = {str(path): read(path) for path in paths}
    measured = {name: measure(x, limit) for name, x in vectors.items()}
    rows = {name: found.rows for name, found in measured.items()}
    if as_json:
        flat = [{"vector": name} | asdict(each) for name, some in rows.items() for each in some]
        echo_json(flat)
    else:
        for name, some in rows.items():
            _show_vector(name, some)
    for name, found in measured.items():
        for quantizer, why in found.refused.items():
            echo(f"{name} is nothing for {quantizer}: {why}", err=True)
    if figure is not None:
        from lossyfl.experiments.distortion import draw

        draw(rows, figure)


def _show_vector(name: str, rows: "Sequence[CodedVector]") -> None:
    from rich.table import Table

    from lossyfl.theory.limits import gaussian

    table = Table(title=f"{name} as a frame; nmse is ||Q(x) - x||^2 / ||x||^2")
    for head in ("quantizer", "bytes", "bits per entry", "nmse", "x Gaussian limit"):
        table.add_column(head, justify="left" if head == "quantizer" else "right")
    for each in rows:
        table.add_row(
            each.quantizer,
            f"{each.nbytes:,}",
            f"{each.bits:.3f}",
            f"{each.nmse:.4g}",
            f"{each.nmse / gaussian(each.bits):.3g}",
        )
    console().print(table)
