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
from lossyfl.commands.trials import show
from lossyfl.errors import InputError, Stopped
from lossyfl.extras import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossyfl.commands.execution import Execution
    from lossyfl.experiments.compare import Planned
    from lossyfl.experiments.trials import Trial
    from lossyfl.experiments.tune import Hopeless
    from lossyfl.experiments.vectors import CodedVector
    from lossyfl.results.experiment import Experiment

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
            help="The accuracy to reach, as 0.95, or value of the task's metric. "
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
    seeds: Annotated[
        int,
        typer.Option(
            help="Runs of each scheme, from --seed on; what is hopeless after the first has no other.",
            min=1,
        ),
    ] = 3
    confidence: Annotated[
        float,
        typer.Option(help="Of verdicts; one minus the rate at which a good scheme is given up."),
    ] = 0.95


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

    Without budgets: the lowest rates that keep the metric, that of lossless links or --keep. With both
    budgets: the quantizer that learns best within them. Says which differences are within the noise of
    seeds and of the test set. With --vector: every quantizer's size and error on a saved update.

    Can be stopped and repeated: runs that are complete are not run again.
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
    _search(settings, how, (down, up), goal, out, output)


def _search(
    settings: dict[str, object],
    how: "Execution",
    budgets: tuple[str | None, str | None],
    goal: Goal,
    out: Path,
    output: options.Output,
) -> None:
    """Train, judge, and show what was found."""
    from lossyfl.experiments.racing import Race
    from lossyfl.experiments.tune import Question, answer, words
    from lossyfl.tasks.metrics import Metric

    race = Race(seeds=goal.seeds, confidence=goal.confidence)
    unknown = Metric(name="metric")  # what it is, the task says when it is loaded
    question = Question(
        tensors=(),
        metric=unknown,
        keep=goal.keep,
        tolerance=goal.tolerance,
        extra=goal.extra,
    )
    schemes = words(question, *budgets)
    base, workers = training.settle(settings, how, schemes, quiet=output.quiet)
    from lossyfl.simulation.setup import prepare

    ready = prepare(replace(base, scheme="lossless"), how.data_dir)
    metric = ready.task.metrics[0]
    question = replace(question, tensors=ready.tensors, rounds=base.rounds, metric=metric)
    player = _Player(base, goal.seeds, out, workers, how.data_dir, output.quiet)
    found = answer(question, *budgets, player.attempt, race)
    from lossyfl.experiments.choice import choice
    from lossyfl.experiments.tune_report import write_tune

    within = budgets[0] is not None
    samples = ready.task.test.y.size
    chosen = choice(question, found, confidence=goal.confidence, samples=samples, budgets=within)
    page = write_tune(found, chosen, out)
    show(found, chosen, page, as_json=output.as_json)


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


class _Player(NamedTuple):
    """Runs schemes: what all of them have in common."""

    base: "Experiment"
    seeds: int
    out: Path
    workers: int
    data_dir: Path | None
    quiet: bool

    def attempt(self, spec: str, hopeless: "Hopeless") -> "Trial":
        """Run a scheme, unless it is there; one that diverges, or cannot keep to its budget, has failed."""
        from lossyfl.experiments.compare import plan
        from lossyfl.experiments.trials import failure, trial

        first, *others = plan(self.base, [spec], self.seeds, self.out)
        why = self._play(first)
        if why:
            return failure(spec, why, [first.folder])
        alone = trial(spec, [first.folder], given_up=True)
        if alone.failed or (others and hopeless(alone.value)):
            return alone
        for each in others:
            why = self._play(each)
            if why:
                return failure(spec, f"{why}, with seed {each.experiment.seed}", [first.folder])
        return trial(spec, [first.folder, *(each.folder for each in others)])

    def _play(self, planned: "Planned") -> str:
        """Run one seed; why it came to nothing, empty if it did not."""
        from lossyfl.commands.compare import play

        try:
            failed = play(
                [planned],
                self.out,
                workers=self.workers,
                data_dir=self.data_dir,
                quiet=self.quiet,
            )
        except (InputError, Stopped) as error:
            cause = error.__cause__ if isinstance(error, Stopped) else error
            spec = planned.experiment.scheme
            if not spec.startswith("lean") or not isinstance(cause, InputError):
                raise
            return str(cause)
        return "diverged" if failed else ""


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
