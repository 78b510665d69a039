"""`lossyfl run` and `lossyfl resume`."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl.commands import options, session, training
from lossyfl.commands.execution import SETTINGS
from lossyfl.commands.output import echo, echo_json
from lossyfl.commands.spread import Said, of
from lossyfl.extras import check_installed
from lossyfl.registry import paths
from lossyfl.results.experiment import experiment, named

if TYPE_CHECKING:
    from lossyfl.results.experiment import Experiment
    from lossyfl.simulation.run_loop import RunResult
    from lossyfl.simulation.watcher import Watcher


def run(
    config: options.Config = None,
    *,
    said: Annotated[Said, of(*SETTINGS)],
    force: Annotated[bool, typer.Option("--force", help="Replace the run that is there.")] = False,
    allow: options.Allow = None,
    output: options.Output,
) -> None:
    """Train over many devices on this machine, and write a results directory.

    Settings that are not given are the task's own. CONFIG is a TOML file with the
    same names; options override it.
    """
    merged = options.merged(config, said)
    settings, how = options.split(options.with_budgets(merged, scheme_of_file="scheme" not in said))
    if config is not None:
        session.import_only(allow, said.values())
    chosen = training.checked(settings, how.data_dir)
    _check_board(how.tensorboard)
    folder = how.out or _folder(chosen)
    _check_free(folder, force=force)
    workers = training.start_workers(how)
    watcher = _watcher(folder, quiet=output.quiet, board=how.tensorboard)
    from lossyfl.simulation import run as simulation

    outcome = simulation.run(
        chosen,
        folder,
        workers=workers,
        data_dir=how.data_dir,
        checkpoint_every=how.checkpoint_every,
        force=force,
        save_updates=how.saved,
        watcher=watcher,
    )
    _finish(outcome, as_json=output.as_json)


def resume(
    folder: Annotated[Path, typer.Argument(help="The results directory of the run.")],
    *,
    said: Annotated[
        Said,
        of(
            "rounds",
            "workers",
            "data_dir",
            "checkpoint_every",
            "tensorboard",
            "save_updates",
            rounds="as planned",
            data_dir="where they were",
        ),
    ],
    allow: options.Allow = None,
    output: options.Output,
) -> None:
    """Go on with a run that was interrupted or killed, or add rounds to one that is done."""
    session.import_only(allow)
    _check_resumed(folder)
    settings, how = options.split(said)
    rounds = experiment(settings).rounds  # checked as that of a run
    _check_board(how.tensorboard)
    workers = training.start_workers(how)
    watcher = _watcher(folder, quiet=output.quiet, board=how.tensorboard)
    from lossyfl.simulation import run as simulation

    outcome = simulation.resume(
        folder,
        rounds=rounds,
        workers=workers,
        data_dir=how.data_dir,
        checkpoint_every=how.checkpoint_every,
        save_updates=how.saved,
        watcher=watcher,
    )
    _finish(outcome, as_json=output.as_json)


def _folder(chosen: "Experiment") -> Path:
    """Where a run goes if nobody says: other settings, another folder."""
    return Path("runs") / named(chosen)


def _check_free(folder: Path, *, force: bool) -> None:
    from lossyfl.results.directory import Results

    Results(folder).check_free(force=force)


def _check_resumed(folder: Path) -> None:
    """Raise if there is no run, or one that cannot go on here."""
    from lossyfl.results.directory import Results
    from lossyfl.simulation.words import check_words

    check_words(Results(folder).read_config())


def _check_board(wanted: bool) -> None:
    if wanted:
        check_installed("tensorboard", extra="tensorboard")


def _watcher(folder: Path, *, quiet: bool, board: bool) -> "Watcher | None":
    """Who is told how the run goes; from now on, as the import of torch takes a while."""
    from lossyfl.commands.progress import Watchers, progress

    shown = None if quiet else session.until_it_ends(progress())
    if shown is not None:
        shown.preparing("importing torch")
    if not board:
        return shown
    from lossyfl.simulation.tensorboard import TensorBoard

    events = TensorBoard(folder / "tensorboard")
    return Watchers((shown, events)) if shown else events


def _finish(outcome: "RunResult", *, as_json: bool) -> None:
    """Say what the run came to, and how to go on if it is not done."""
    from lossyfl.results.directory import Results

    if as_json:
        facts = {"folder": str(outcome.folder), "finished": outcome.finished}
        echo_json(facts | asdict(outcome.summary))
    else:
        from lossyfl.commands.progress import describe

        echo(describe(outcome))
    if not outcome.finished:
        from shlex import quote

        named = dict.fromkeys(paths(Results(outcome.folder).config.read_text()))
        allow = "".join(f" --allow {path}" for path in named)
        folder = quote(str(outcome.folder))
        echo(f"interrupted; `lossyfl resume {folder}{allow}` goes on", err=True)
        raise typer.Exit(130)
