"""`lossyfl tune`: which scheme to use."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl.commands import options
from lossyfl.commands.output import FIGURES, can_write, console, echo
from lossyfl.errors import InputError, Stopped
from lossyfl.extras import require

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossyfl.experiments.tune import Answer, Trial
    from lossyfl.experiments.vectors import Coded
    from lossyfl.results.experiment import Experiment


def tune(
    config: options.Config = None,
    vector: Annotated[
        list[Path] | None,
        options.option(
            "Look at a saved update, a .npy file, instead of training; may be repeated."
        ),
    ] = None,
    figure: Annotated[
        Path | None, options.option("With --vector: also error against rate, .png, .svg or .pdf.")
    ] = None,
    downlink_budget: options.DownlinkBudget = None,
    uplink_budget: options.UplinkBudget = None,
    keep: Annotated[
        float | None, options.option("The accuracy to keep, as 0.95. That of lossless links.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="How far below the accuracy of lossless links is kept.", min=0)
    ] = 0.005,
    extra: Annotated[
        str, typer.Option(help="Options of every scheme, as server_optimizer=adam.")
    ] = "",
    task: options.Task = None,
    rounds: options.Rounds = None,
    devices: options.Devices = None,
    tau: options.Tau = None,
    batch: options.Batch = None,
    optimizer: options.Optimizer = None,
    lr: options.Lr = None,
    partition: options.Partition = None,
    evaluate: options.Evaluate = None,
    evaluate_every: options.EvaluateEvery = None,
    evaluate_last: options.EvaluateLast = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    out: options.Out = Path("runs/tune"),
    data_dir: options.DataDir = None,
    allow: options.Allow = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Find the scheme with the fewest bytes that still learns as well, on short runs.

    Without budgets: the lowest rates that keep the accuracy. With both budgets: the quantizer that learns
    best within them. With --vector: every quantizer's size and error on a saved update. Can be stopped and
    repeated: runs that are complete are not run again.
    """
    flags = {
        "task": task, "rounds": rounds, "devices": devices, "tau": tau, "batch": batch,
        "optimizer": optimizer, "lr": lr, "partition": partition, "evaluate": evaluate,
        "evaluate_every": evaluate_every, "evaluate_last": evaluate_last, "seed": seed,
        "workers": workers, "data_dir": data_dir,
    }  # fmt: skip
    if vector:
        limit = _one_of(downlink_budget, uplink_budget)
        _check_untrained(flags | {"config": config, "keep": keep, "extra": extra or None})
        _vectors(vector, limit, figure, as_json=as_json)
        return
    if figure is not None:
        raise InputError("figure", of="tune", allowed="given with --vector", got=str(figure))
    budgets = {"downlink_budget": downlink_budget, "uplink_budget": uplink_budget}
    settings = options.merged(config, flags | budgets)
    down = _text(settings.pop("downlink_budget", None))
    up = _text(settings.pop("uplink_budget", None))
    how = {name: settings.pop(name) for name in options.HOW if name in settings}
    options.refuse(settings, ("scheme", "first_budget"), "it finds one", of="tune")
    options.refuse(how, options.OF_ONE_RUN, "it has no such setting", of="tune")
    if config is not None:
        options.import_only(allow, [*flags.values(), extra])
    from lossyfl.experiments.tune import Question, answer, words

    question = Question(tensors=(), keep=keep, tolerance=tolerance, extra=extra)
    folder = options.path("data_dir", how.get("data_dir"))
    chosen = options.checked(settings, folder, words(question, down, up))
    count = options.start_workers(how.get("workers"))
    options.announce(f"importing torch, loading the data of {chosen.task}", quiet=quiet)
    from lossyfl.experiments.compare import settled
    from lossyfl.simulation.setup import prepare

    base = settled(chosen, folder)
    lengths = prepare(replace(base, scheme="lossless"), folder).tensors
    question = replace(question, tensors=lengths, rounds=base.rounds)

    def attempt(spec: str) -> "Trial":
        return _try(base, spec, out, count, folder, quiet=quiet)

    _show(answer(question, down, up, attempt), as_json=as_json)


def _check_untrained(flags: "Mapping[str, object]") -> None:
    """Raise if something is said about training where there is none."""
    for name, value in flags.items():
        if value is not None:
            allowed = "left out: nothing is trained"
            raise InputError(name, of="tune --vector", allowed=allowed, got=value)


def _one_of(down: str | None, up: str | None) -> str | None:
    """The budget of a vector, which goes one way only."""
    if down is not None and up is not None:
        got = f"{down} and {up}"
        raise InputError("budget", of="tune --vector", allowed="given once", got=got)
    return up if down is None else down


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _try(
    base: "Experiment", spec: str, out: Path, workers: int, data_dir: Path | None, *, quiet: bool
) -> "Trial":
    """Run a scheme, unless it is there; one that diverges, or cannot keep to its budget, has failed."""
    from lossyfl.commands.compare import play
    from lossyfl.experiments.compare import plan
    from lossyfl.experiments.tune import failure, trial

    planned = plan(base, [spec], 1, out)
    try:
        failed = play(planned, out, workers=workers, data_dir=data_dir, quiet=quiet)
    except (InputError, Stopped) as error:
        cause = error.__cause__ if isinstance(error, Stopped) else error
        if not spec.startswith("lean") or not isinstance(cause, InputError):
            raise
        return failure(spec, str(cause))
    return failure(spec, "diverged") if failed else trial(spec, planned[0].folder)


def _show(found: "Answer", *, as_json: bool) -> None:
    from rich.table import Table

    from lossyfl.experiments.tune import frontier
    from lossyfl.report.text import percent, size

    tried, best = found.tried, found.best
    front = frontier(list(tried.values()))
    if as_json:
        rows = [asdict(each) | {"frontier": each in front} for each in tried.values()]
        echo(json.dumps({"trials": rows, "best": asdict(best) if best else None}))
        return
    title = (
        "Accuracy of the looks in the last fifth, ten at the most; bytes a round after the first"
    )
    table = Table(title=f"{title} model; * none is better in all three")
    table.add_column("")
    table.add_column("scheme", overflow="fold")
    for name in ("accuracy", "a broadcast", "a reply"):
        table.add_column(name, justify="right")
    for each in sorted(tried.values(), key=lambda each: -(each.down + each.up)):
        mark = "*" if each in front else ""
        cells = (percent(each.accuracy), size(each.down), size(each.up))
        cells = ("failed", "", "") if each.failed else cells
        table.add_row(mark, each.scheme, *cells, style="bold" if each == best else None)
    console().print(table)
    for each in tried.values():
        if each.failed:
            echo(f"{each.scheme} failed: {each.failed}", err=True)
    if best is None:
        echo(f"{found.words}: none{_reached(list(tried.values()))}")
    else:
        echo(f"{found.words}: --scheme '{best.scheme}'")


def _reached(tried: "Sequence[Trial]") -> str:
    """The best accuracy of all, if there is one."""
    from lossyfl.report.text import percent

    best = max((each.accuracy for each in tried if not each.failed), default=None)
    return "" if best is None else f"; the best of all was {percent(best)}"


def _vectors(paths: list[Path], limit: str | None, figure: Path | None, *, as_json: bool) -> None:
    from lossyfl.experiments.vectors import measure, read

    if figure is not None:
        can_write(figure, FIGURES)
        require("matplotlib", extra="report")  # before the work
    vectors = {str(path): read(path) for path in paths}
    measured = {name: measure(x, limit) for name, x in vectors.items()}
    rows = {name: own.rows for name, own in measured.items()}
    if as_json:
        flat = [{"vector": name} | asdict(each) for name, own in rows.items() for each in own]
        echo(json.dumps(flat))
    else:
        for name, own in rows.items():
            _show_vector(name, own)
    for name, own in measured.items():
        for quantizer, why in own.refused.items():
            echo(f"{name} is nothing for {quantizer}: {why}", err=True)
    if figure is not None:
        from lossyfl.experiments.distortion import draw

        draw(rows, figure)


def _show_vector(name: str, rows: "Sequence[Coded]") -> None:
    from rich.table import Table

    from lossyfl.theory.limits import gaussian

    table = Table(title=f"{name} as a frame; nmse is ||Q(x) - x||^2 / ||x||^2")
    for head in ("quantizer", "bytes", "bits an entry", "nmse", "x Gaussian limit"):
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
