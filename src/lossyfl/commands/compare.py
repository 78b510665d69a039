"""`lossyfl compare`: several schemes on one task."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl.commands import options, session, training
from lossyfl.commands.execution import BUDGETS, OF_MANY_RUNS
from lossyfl.commands.output import echo, echo_json
from lossyfl.commands.spread import Said, of
from lossyfl.errors import Diverged, Interrupted, Stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossyfl.experiments.compare import Planned
    from lossyfl.report import Group

SYSTEMS = ("lossless", "lb:q2=2", "lfl:q1=2,q2=2", "lgm:q1=2,q2=2", "ltgm:q1=50,q2=2")


def compare(
    config: options.Config = None,
    *,
    schemes: Annotated[
        list[str],
        typer.Option(help="Schemes, any number. Default: the paper's five.", show_default=False),
    ] = list(SYSTEMS),  # noqa: B006 - typer copies it
    seeds: options.Seeds = 1,
    said: Annotated[Said, of(*OF_MANY_RUNS)],
    jobs: options.Jobs = None,
    out: options.Out = Path("runs/compare"),
    allow: options.Allow = None,
    output: options.Output,
) -> None:
    """Train with several schemes: same seeds, same start, same batches; then a report.

    Can be stopped and repeated: runs that are complete are not run again.
    """
    settings, how = options.split_for_many(
        options.merged(config, said),
        ("scheme", *BUDGETS),
        "--schemes says them",
        of="a comparison",
    )
    if config is not None:
        session.import_only(allow, [*said.values(), *schemes])
    quiet, data = output.quiet, how.data_dir
    base, workers = training.settle(settings, how, schemes, quiet=quiet)
    from lossyfl.experiments.compare import plan

    planned = plan(base, schemes, seeds, out)
    failed = play(planned, out, workers=workers, jobs=jobs, data_dir=data, quiet=quiet)
    if output.as_json:
        write_report(out, [run.folder for run in planned])
        echo_json([facts(run) for run in planned])
    else:
        finish(out, [run.folder for run in planned])
    tell(failed)


def play(
    planned: "Sequence[Planned]",
    out: Path,
    *,
    workers: int,
    data_dir: Path | None,
    quiet: bool,
    jobs: int | None = None,
) -> "list[Planned]":
    """All runs that are not complete; those whose loss became no number.

    jobs: runs at a time, which share the workers; None for what suits them
    """
    from lossyfl.experiments.compare import check
    from lossyfl.experiments.side_by_side import jobs_for
    from lossyfl.results.directory import Results

    check(planned, data_dir)
    left = [run for run in planned if not (run.is_complete or run.has_diverged)]
    count = jobs_for(left, workers) if jobs is None else min(jobs, len(left))
    with Results(out).locked():  # who watches sees that it goes on
        if count > 1:
            finished = _play_side_by_side(left, count, workers, data_dir, quiet=quiet)
        else:
            finished = _play_in_turn(planned, workers, data_dir, quiet=quiet)
    if not finished:
        echo("interrupted; the same command goes on", err=True)
        raise typer.Exit(130)
    return [run for run in planned if run.has_diverged]


def _play_side_by_side(
    left: "Sequence[Planned]", jobs: int, workers: int, data_dir: Path | None, *, quiet: bool
) -> bool:
    """Several at a time; False if somebody stopped them."""
    from lossyfl.commands.board import Board
    from lossyfl.experiments.side_by_side import play_side_by_side

    with ExitStack() as stack:
        board = None if quiet else Board(left)
        if board:
            stack.callback(board.close)
        return play_side_by_side(
            left,
            jobs=jobs,
            workers=max(1, workers // jobs),
            data_dir=data_dir,
            listener=board,
        )


def _play_in_turn(
    planned: "Sequence[Planned]", workers: int, data_dir: Path | None, *, quiet: bool
) -> bool:
    """One after the other, under one display; False if somebody stopped them."""
    from lossyfl.commands.progress import Campaign
    from lossyfl.experiments.compare import go_on
    from lossyfl.simulation.watcher import Silent

    total = sum(run.rounds for run in planned)
    campaign = None if quiet else Campaign(total, len(planned))
    with ExitStack() as stack:
        if campaign:
            stack.callback(campaign.close)
        for run in planned:
            if run.is_complete or run.has_diverged:
                if campaign:
                    campaign.skip(run.rounds)
                continue
            try:
                watcher = campaign or Silent()
                outcome = go_on(run, workers=workers, data_dir=data_dir, watcher=watcher)
            except Interrupted:
                return False
            except Stopped as error:
                if not isinstance(error.__cause__, Diverged):
                    raise
                echo(f"{error.__cause__}; the others go on", err=True)
                continue
            if outcome.interrupted or not outcome.finished:
                return False
    return True


def tell(failed: "Sequence[Planned]") -> None:
    """End with what went wrong, if anything did."""
    if failed:
        names = ", ".join(str(run.folder) for run in failed)
        echo(f"lossyfl: training diverged in {names}", err=True)
        raise typer.Exit(1)


def finish(out: Path, folders: "Sequence[Path]", note: str = "") -> None:
    """Print a table, and say where the rest is."""
    from lossyfl.commands.table import show

    groups = write_report(out, folders, note)
    show(
        groups,
        "Last evaluation, bytes of all frames, and how many times fewer than as floats",
    )
    echo(f"results in {out}: table.md and table.csv have more, report.html all of it")


def write_report(out: Path, folders: "Sequence[Path]", note: str = "") -> "list[Group]":
    """Write a page with everything and the tables into the folder; `note` says how it was made."""
    from lossyfl import report
    from lossyfl.files.atomic import write_atomically

    groups = report.group(report.find(folders))
    for name, text in (
        ("report.html", report.page(groups, report.Options(note=note))),
        ("table.md", report.markdown(groups, note)),
        ("table.csv", report.csv_of_groups(groups)),
    ):
        write_atomically(out / name, [text.encode()])
    return groups


def facts(run: "Planned") -> dict[str, object]:
    """A run as JSON."""
    from lossyfl.results.directory import Results
    from lossyfl.results.summary import summarize

    summary = summarize(Results(run.folder).rounds_as_sent())
    chosen = run.experiment
    named: dict[str, object] = {"scheme": chosen.scheme, "seed": chosen.seed}
    return named | {"folder": str(run.folder)} | asdict(summary)
