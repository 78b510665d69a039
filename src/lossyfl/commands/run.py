"""`lossyfl run` and `lossyfl resume`."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl.errors import InputError

if TYPE_CHECKING:
    from lossyfl.simulation.run import Outcome, Watcher

Text = str | None
Int = int | None
Float = float | None


def _option(help: str, *names: str) -> typer.models.OptionInfo:
    return typer.Option(*names, help=help, show_default=False)


HOW = ("workers", "out", "data_dir", "checkpoint_every", "tensorboard")
"""Keys that say how a run is done, beside those of the experiment."""

Workers = Annotated[Int, _option("Processes; the result is the same for any number. One a core.")]
DataDir = Annotated[Path | None, _option("Where data sets lie.")]
Every = Annotated[Float, _option("Seconds from one checkpoint to the next. 30.")]
Board = Annotated[bool, typer.Option("--tensorboard", help="Also write TensorBoard events.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


def run(
    config: Annotated[Path | None, typer.Argument(help="A TOML file with these settings.")] = None,
    task: Annotated[Text, _option("digits, mnist, ... or package.module:function. digits.")] = None,
    scheme: Annotated[Text, _option("lossless, lb, lfl, lgm, ltgm with options. lfl.")] = None,
    rounds: Annotated[Int, _option("How many.")] = None,
    devices: Annotated[Int, _option("How many.")] = None,
    tau: Annotated[Int, _option("Local steps a round.")] = None,
    batch: Annotated[Int, _option("Samples a local step.")] = None,
    optimizer: Annotated[Text, _option("sgd:momentum=0.9 or adam:moments=kept, ...")] = None,
    lr: Annotated[Text, _option("Step size: 0.1, or 0.1@0/0.01@50, or cosine:start=...")] = None,
    partition: Annotated[Text, _option("paper, iid, dirichlet:alpha=0.5, shards:k=2.")] = None,
    participation: Annotated[Float, _option("Fraction of devices asked each round. 1.")] = None,
    drop_out: Annotated[Float, _option("Probability that a device is away for a round.")] = None,
    slow: Annotated[Float, _option("Probability that a reply comes too late.")] = None,
    listen: Annotated[Text, _option("Who hears broadcasts: all, or participants. all.")] = None,
    evaluate_every: Annotated[Int, _option("Rounds between looks at the test set. 1.")] = None,
    seed: Annotated[Int, _option("Of everything random. 0.")] = None,
    workers: Workers = None,
    out: Annotated[Path | None, _option("Results directory. runs/TASK-SCHEME-SEED.")] = None,
    data_dir: DataDir = None,
    checkpoint_every: Every = None,
    tensorboard: Board = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the run that is there.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Train over many devices on this machine, and write a results directory.

    What is not said is what suits the task. A TOML file has the same names; options go before it.
    """
    flags = {
        "task": task, "scheme": scheme, "rounds": rounds, "devices": devices, "tau": tau,
        "batch": batch, "optimizer": optimizer, "lr": lr, "partition": partition,
        "participation": participation, "drop_out": drop_out, "slow": slow, "listen": listen,
        "evaluate_every": evaluate_every, "seed": seed, "workers": workers, "out": out,
        "data_dir": data_dir, "checkpoint_every": checkpoint_every,
        "tensorboard": tensorboard or None,
    }  # fmt: skip
    settings = _file(config) | {name: v for name, v in flags.items() if v is not None}
    how = {name: settings.pop(name) for name in HOW if name in settings}
    _import_from_here()
    count = start_workers(how.get("workers"))
    from lossyfl.simulation import run as simulation
    from lossyfl.simulation.experiment import experiment

    chosen = experiment(settings)
    folder = Path(str(how.get("out") or _name(chosen.task, chosen.scheme, chosen.seed)))
    outcome = simulation.run(
        chosen,
        folder,
        workers=count,
        data_dir=_path(how.get("data_dir")),
        checkpoint_every=_seconds(how.get("checkpoint_every")),
        force=force,
        watcher=_watcher(folder, quiet=quiet, board=bool(how.get("tensorboard"))),
    )
    _finish(outcome, as_json=as_json)


def resume(
    folder: Annotated[Path, typer.Argument(help="The results directory of the run.")],
    rounds: Annotated[Int, _option("Go on to this many, if not to what was planned.")] = None,
    workers: Workers = None,
    data_dir: DataDir = None,
    checkpoint_every: Every = None,
    tensorboard: Board = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Go on with a run that was interrupted or killed, or add rounds to one that is done."""
    _import_from_here()
    count = start_workers(workers)
    from lossyfl.simulation import run as simulation

    outcome = simulation.resume(
        folder,
        rounds=rounds,
        workers=count,
        data_dir=data_dir,
        checkpoint_every=_seconds(checkpoint_every),
        watcher=_watcher(folder, quiet=quiet, board=tensorboard),
    )
    _finish(outcome, as_json=as_json)


def _file(config: Path | None) -> dict[str, object]:
    """The settings of a TOML file; names may be spelt with - or _."""
    if config is None:
        return {}
    from lossyfl.simulation.experiment import KEYS, check_keys, read_toml

    settings = {key.replace("-", "_"): value for key, value in read_toml(config).items()}
    check_keys(settings, [*KEYS, *HOW])
    return settings


def _import_from_here() -> None:
    """Let `--task mypackage.mymodule:make_task` be found in the current folder, as `python -m` does."""
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))


def start_workers(asked: object) -> int:
    """How many, and those of them that are processes begin to start."""
    from lossyfl.simulation.memory import keep_freed_memory
    from lossyfl.simulation.warm import default_workers, warm_up

    keep_freed_memory()

    if asked is not None and (type(asked) is not int or asked < 1):
        raise InputError("workers", of="a run", allowed="an int >= 1", got=asked)
    count = default_workers() if asked is None else int(str(asked))
    if count > 1:
        warm_up()
    return count


def _seconds(value: object) -> float:
    if value is None:
        return 30.0
    if type(value) not in (int, float):
        allowed = "seconds, >= 0"
        raise InputError("checkpoint_every", of="a run", allowed=allowed, got=value)
    return float(str(value))


def _path(value: object) -> Path | None:
    return None if value is None else Path(str(value))


def _name(task: str, scheme: str, seed: int) -> str:
    """A folder for a run that was given none."""
    words = re.sub(r"[^A-Za-z0-9.=+-]+", "-", f"{task}-{scheme}-{seed}")
    return f"runs/{words}"


def _watcher(folder: Path, *, quiet: bool, board: bool) -> "Watcher":
    from lossyfl.commands.progress import Several, progress
    from lossyfl.simulation.run import Silent

    shown = Silent() if quiet else progress()
    if not board:
        return shown
    from lossyfl.simulation.tensorboard import TensorBoard

    return Several((shown, TensorBoard(folder / "tensorboard")))


def _finish(outcome: "Outcome", *, as_json: bool) -> None:
    """Say what the run came to, and how to go on if it is not done."""
    if as_json:
        facts = {"folder": str(outcome.folder), "finished": outcome.finished}
        typer.echo(json.dumps(facts | asdict(outcome.summary)))
    else:
        from lossyfl.commands.progress import describe

        typer.echo(describe(outcome))
    if not outcome.finished:
        typer.echo(f"interrupted; `lossyfl resume {outcome.folder}` goes on", err=True)
        raise typer.Exit(130)
