"""Options that several commands have, and how they become an experiment."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from lossyfl.commands.output import echo
from lossyfl.errors import InputError
from lossyfl.extras import check_installed
from lossyfl.registry import from_outside, items, paths

if TYPE_CHECKING:
    from lossyfl.commands.progress import Display
    from lossyfl.results.experiment import Experiment

D = TypeVar("D", bound="Display")

Text = str | None
Int = int | None
Float = float | None


def option(help: str, *names: str) -> typer.models.OptionInfo:
    """An option whose default is what suits the task, or what its help says last."""
    return typer.Option(*names, help=help, show_default=False)


HOW = ("workers", "out", "data_dir", "checkpoint_every", "tensorboard", "save_updates")
"""Keys that say how a run is done, beside those of the experiment."""

OF_ONE_RUN = ("out", "checkpoint_every", "tensorboard", "save_updates")
"""Those of them that commands of many runs do not take from a file."""

BUDGETS = {
    "downlink_budget": "down_budget",
    "uplink_budget": "up_budget",
    "first_budget": "first_budget",
}
"""Settings that are options of the scheme."""

Config = Annotated[Path | None, typer.Argument(help="A TOML file with these settings.")]
Task = Annotated[Text, option("digits, mnist, ... or package.module:function. digits.")]
Scheme = Annotated[Text, option("lossless, lb, lfl, lgm, ltgm, lean with options. lfl.")]
DownlinkBudget = Annotated[Text, option("A broadcast's: 20kB, 0.5bit, nmse=0.1, 6MB/300rounds.")]
UplinkBudget = Annotated[Text, option("A reply's. Any of the three makes the scheme lean.")]
FirstBudget = Annotated[Text, option("The initial model's, likewise: 3bit. Exact floats.")]
Rounds = Annotated[Int, option("How many.")]
Devices = Annotated[Int, option("How many.")]
Tau = Annotated[Int, option("Local steps a round.")]
Batch = Annotated[Int, option("Samples a local step.")]
Optimizer = Annotated[Text, option("sgd:momentum=0.9 or adam:moments=kept, ...")]
Lr = Annotated[Text, option("Step size: 0.1, or 0.1@0/0.01@50, or cosine:start=...")]
Partition = Annotated[Text, option("paper, iid, dirichlet:alpha=0.5, shards:k=2.")]
Participation = Annotated[Float, option("Fraction of devices asked each round. 1.")]
DropOut = Annotated[Float, option("Probability that a device is away for a round.")]
Slow = Annotated[Float, option("Probability that a reply comes too late.")]
Listen = Annotated[Text, option("Who hears broadcasts: all, or participants. all.")]
Evaluate = Annotated[Text, option("Whose model is looked at: server, devices, average. server.")]
EvaluateEvery = Annotated[Int, option("Rounds between looks at the test set. 1.")]
EvaluateLast = Annotated[Int, option("Rounds at the end that are all looked at. 1.")]
Seed = Annotated[Int, option("Of everything random. 0.")]
Workers = Annotated[Int, option("Processes; the result is the same for any number. One a core.")]
Jobs = Annotated[
    Int,
    typer.Option(
        help="Runs at a time, which share the workers. 1; where devices train in turn, one a worker.",
        show_default=False,
        min=1,
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder of all results.")]
DataDir = Annotated[Path | None, option("Where data sets lie.")]
Every = Annotated[Float, option("Seconds from one checkpoint to the next. 30.")]
Board = Annotated[bool, typer.Option("--tensorboard", help="Also write TensorBoard events.")]
SaveUpdates = Annotated[Text, option("Rounds whose update vectors are kept, as 0,50,99.")]
Allow = Annotated[
    list[str] | None, option("An own package.module:name that the file may name; may be repeated.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


_ends: ContextVar[ExitStack] = ContextVar("ends")


@contextmanager
def until_the_end() -> Generator[None]:
    """A command: what it turns on for itself is turned off when it ends."""
    with ExitStack() as stack:
        token = _ends.set(stack)
        try:
            yield
        finally:
            _ends.reset(token)


def until_it_ends(display: "D") -> "D":
    """A display that is closed with the command, whatever happens."""
    _ends.get().callback(display.ended)
    return display


def merged(config: Path | None, flags: Mapping[str, object]) -> dict[str, object]:
    """The settings of a TOML file, and above them what was said on the command line."""
    return _file(config) | {name: value for name, value in flags.items() if value is not None}


def import_only(allow: Iterable[str] | None, typed: Iterable[object] = ()) -> None:
    """To the end of this command, import nothing that only a file names: it may be a stranger's.

    allow: what --allow says
    typed: what else was typed on the command line
    """
    own = [path for value in typed if value is not None for path in paths(str(value))]
    how = "repeat the command with --allow {} if you trust its code"
    _ends.get().enter_context(from_outside([*(allow or ()), *own], how))


def _file(config: Path | None) -> dict[str, object]:
    """The settings of a TOML file; names may be spelt with - or _."""
    if config is None:
        return {}
    from lossyfl.results.experiment import KEYS, check_keys, read_toml

    settings = {key.replace("-", "_"): value for key, value in read_toml(config).items()}
    check_keys(settings, [*KEYS, *HOW, *BUDGETS])
    return settings


def with_budgets(
    settings: Mapping[str, object], *, scheme_of_file: bool = False
) -> dict[str, object]:
    """The settings with budgets as options of the scheme that keeps to them; they win over a file's.

    >>> with_budgets({"downlink_budget": "20kB", "rounds": 3})
    {'rounds': 3, 'scheme': 'lean:down_budget=20kB'}
    """
    rest = {name: value for name, value in settings.items() if name not in BUDGETS}
    said = {BUDGETS[name]: settings[name] for name in BUDGETS if name in settings}
    if not said:
        return rest
    scheme = str(settings.get("scheme", "lean"))
    if scheme.partition(":")[0] != "lean":
        allowed = "lean, which keeps to one, or left out"
        raise InputError("scheme", of="a run with a budget", allowed=allowed, got=scheme)
    name, _, own = scheme.partition(":")
    over = said if scheme_of_file else {}
    for key in (item.partition("=")[0] for item in items(own)):
        if key in said and key not in over:
            allowed = "given once: as an option, or in the scheme"
            raise InputError(key, of="a run", allowed=allowed, got=f"{said[key]}, and {scheme}")
    kept = [item for item in items(own) if item.partition("=")[0] not in over]
    return rest | {"scheme": f"{name}:{','.join([*kept, *(f'{k}={v}' for k, v in said.items())])}"}


def refuse(settings: Mapping[str, object], names: Sequence[str], why: str, *, of: str) -> None:
    """Raise if a file has a setting that a command does not take."""
    for name in names:
        if name in settings:
            allowed = f"left out of the file; {why}"
            raise InputError(name, of=of, allowed=allowed, got=settings[name])


def import_from_here() -> None:
    """Let `--task mypackage.mymodule:make_task` be found in the current folder, behind all that is installed.

    Not before it, as `python -m` does: a numpy.py in a folder of downloads must not run.
    """
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))


def checked(
    settings: Mapping[str, object], data_dir: Path | None, schemes: Sequence[str] = ()
) -> "Experiment":
    """The experiment of these settings; a wrong word in it costs nothing, as torch is not imported yet.

    schemes: those that are run, where they are not the experiment's
    """
    from lossyfl.results.experiment import experiment

    chosen = experiment(settings)
    check(chosen, data_dir, schemes)
    return chosen


def check(chosen: "Experiment", data_dir: Path | None, schemes: Sequence[str] = ()) -> None:
    """Raise if a word of an experiment is wrong, or the data of its task not there."""
    from lossyfl.simulation.words import check_words
    from lossyfl.tasks import check_data

    check_words(chosen, schemes)
    check_data(chosen.task, data_dir)


def start_workers(asked: object) -> int:
    """How many, and those of them that are processes begin to start; all words have been checked before."""
    if asked is not None and (type(asked) is not int or asked < 1):
        raise InputError("workers", of="a run", allowed="an int >= 1", got=asked)
    check_installed("torch", extra="sim")
    from lossyfl.simulation.memory import keep_freed_memory
    from lossyfl.simulation.warm import default_workers, warm_up

    keep_freed_memory()
    count = default_workers() if asked is None else int(str(asked))
    if count > 1:
        warm_up()
    return count


def announce(text: str, *, quiet: bool) -> None:
    """Say what is done before the first round, and may take a while."""
    if not quiet:
        echo(text, err=True)


def flag(name: str, value: object) -> bool:
    """A yes or no."""
    if value is not None and type(value) is not bool:
        raise InputError(name, of="a run", allowed="true or false", got=value)
    return bool(value)


def seconds(value: object) -> float:
    """Between checkpoints."""
    if value is None:
        return 30.0
    if type(value) not in (int, float) or not float(str(value)) >= 0:
        allowed = "seconds, >= 0"
        raise InputError("checkpoint_every", of="a run", allowed=allowed, got=value)
    return float(str(value))


def rounds_of(said: object) -> frozenset[int]:
    """The rounds that a text names, or a list of a settings file; none if nothing is said.

    >>> sorted(rounds_of("0,10"))
    [0, 10]
    """
    if said is None:
        return frozenset()
    texts = [text.strip() for text in str(said).removeprefix("[").removesuffix("]").split(",")]
    if not texts or not all(text.isascii() and text.isdecimal() for text in texts):
        allowed = "numbers of rounds, as 0,50,99"
        raise InputError("save_updates", of="a run", allowed=allowed, got=said)
    return frozenset(map(int, texts))


def path(name: str, value: object) -> Path | None:
    """A path, if there is one."""
    if value is not None and not isinstance(value, str | Path):
        raise InputError(name, of="a run", allowed="a path", got=value)
    return None if value is None else Path(value)
