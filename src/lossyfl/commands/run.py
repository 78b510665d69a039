"""`lossyfl run` and `lossyfl resume`."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import json
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl.commands import options
from lossyfl.commands.options import option
from lossyfl.commands.output import echo
from lossyfl.extras import check_installed
from lossyfl.registry import paths

if TYPE_CHECKING:
    from lossyfl.results.experiment import Experiment
    from lossyfl.simulation.run_loop import RunResult
    from lossyfl.simulation.watcher import Watcher


def run(
    config: options.Config = None,
    task: options.Task = None,
    scheme: options.Scheme = None,
    downlink_budget: options.DownlinkBudget = None,
    uplink_budget: options.UplinkBudget = None,
    first_budget: options.FirstBudget = None,
    rounds: options.Rounds = None,
    devices: options.Devices = None,
    tau: options.Tau = None,
    batch: options.Batch = None,
    optimizer: options.Optimizer = None,
    lr: options.Lr = None,
    partition: options.Partition = None,
    participation: options.Participation = None,
    drop_out: options.DropOut = None,
    slow: options.Slow = None,
    listen: options.Listen = None,
    evaluate: options.Evaluate = None,
    evaluate_every: options.EvaluateEvery = None,
    evaluate_last: options.EvaluateLast = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    out: Annotated[
        Path | None,
        option("Results directory. In runs, named after all that is said.", "--out", "-o"),
    ] = None,
    data_dir: options.DataDir = None,
    checkpoint_every: options.Every = None,
    tensorboard: options.Board = False,
    save_updates: options.SaveUpdates = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the run that is there.")] = False,
    allow: options.Allow = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Train over many devices on this machine, and write a results directory.

    What is not said is what suits the task. A TOML file has the same names; options go before it.
    """
    flags = {
        "task": task, "scheme": scheme, "downlink_budget": downlink_budget,
        "uplink_budget": uplink_budget, "first_budget": first_budget, "rounds": rounds,
        "devices": devices, "tau": tau, "batch": batch, "optimizer": optimizer,
        "lr": lr, "partition": partition,
        "participation": participation, "drop_out": drop_out, "slow": slow, "listen": listen,
        "evaluate": evaluate, "evaluate_every": evaluate_every, "evaluate_last": evaluate_last,
        "seed": seed, "workers": workers,
        "out": out, "data_dir": data_dir, "checkpoint_every": checkpoint_every,
        "tensorboard": tensorboard or None, "save_updates": save_updates,
    }  # fmt: skip
    settings = options.with_budgets(options.merged(config, flags), scheme_of_file=scheme is None)
    how = {name: settings.pop(name) for name in options.HOW if name in settings}
    if config is not None:
        options.import_only(allow, flags.values())
    data = options.path("data_dir", how.get("data_dir"))
    chosen = options.checked(settings, data)
    saved = options.rounds_of(how.get("save_updates"))
    every = options.seconds(how.get("checkpoint_every"))
    board = _board(options.flag("tensorboard", how.get("tensorboard")))
    folder = options.path("out", how.get("out")) or _folder(chosen)
    _check_free(folder, force=force)
    count = options.start_workers(how.get("workers"))
    watcher = _watcher(folder, quiet=quiet, board=board)
    from lossyfl.simulation import run as simulation

    outcome = simulation.run(
        chosen,
        folder,
        workers=count,
        data_dir=data,
        checkpoint_every=every,
        force=force,
        save_updates=saved,
        watcher=watcher,
    )
    _finish(outcome, as_json=as_json)


def resume(
    folder: Annotated[Path, typer.Argument(help="The results directory of the run.")],
    rounds: Annotated[int | None, option("Go on to this many, not to what was planned.")] = None,
    workers: options.Workers = None,
    data_dir: options.DataDir = None,
    checkpoint_every: options.Every = None,
    tensorboard: options.Board = False,
    save_updates: options.SaveUpdates = None,
    allow: options.Allow = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """Go on with a run that was interrupted or killed, or add rounds to one that is done."""
    options.import_only(allow)
    _check_resumed(folder)
    saved, every = options.rounds_of(save_updates), options.seconds(checkpoint_every)
    board = _board(tensorboard)
    count = options.start_workers(workers)
    watcher = _watcher(folder, quiet=quiet, board=board)
    from lossyfl.simulation import run as simulation

    outcome = simulation.resume(
        folder,
        rounds=rounds,
        workers=count,
        data_dir=data_dir,
        checkpoint_every=every,
        save_updates=saved,
        watcher=watcher,
    )
    _finish(outcome, as_json=as_json)


def _folder(chosen: "Experiment") -> Path:
    """Where a run goes if nobody says: other settings, another folder."""
    from lossyfl.results.experiment import named

    return Path("runs") / named(chosen)


def _check_free(folder: Path, *, force: bool) -> None:
    from lossyfl.results.directory import Results

    Results(folder).check_free(force=force)


def _check_resumed(folder: Path) -> None:
    """Raise if there is no run, or one that cannot go on here."""
    from lossyfl.results.directory import Results
    from lossyfl.simulation.words import check_words

    check_words(Results(folder).read_config())


def _board(wanted: bool) -> bool:
    if wanted:
        check_installed("tensorboard", extra="tensorboard")
    return wanted


def _watcher(folder: Path, *, quiet: bool, board: bool) -> "Watcher | None":
    """Who is told how the run goes; from now on, as the import of torch takes a while."""
    from lossyfl.commands.progress import Several, progress

    shown = None if quiet else options.until_it_ends(progress())
    if shown is not None:
        shown.preparing("importing torch")
    if not board:
        return shown
    from lossyfl.simulation.tensorboard import TensorBoard

    events = TensorBoard(folder / "tensorboard")
    return Several((shown, events)) if shown else events


def _finish(outcome: "RunResult", *, as_json: bool) -> None:
    """Say what the run came to, and how to go on if it is not done."""
    from lossyfl.results.directory import Results

    if as_json:
        facts = {"folder": str(outcome.folder), "finished": outcome.finished}
        echo(json.dumps(facts | asdict(outcome.summary)))
    else:
        from lossyfl.commands.progress import describe

        echo(describe(outcome))
    if not outcome.finished:
        own = dict.fromkeys(paths(Results(outcome.folder).config.read_text()))
        allow = "".join(f" --allow {path}" for path in own)
        folder = shlex.quote(str(outcome.folder))
        echo(f"interrupted; `lossyfl resume {folder}{allow}` goes on", err=True)
        raise typer.Exit(130)
