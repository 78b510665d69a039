"""Options that several commands have beside settings, and settings from a file and the command line."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from lossyfl.commands.execution import BUDGETS, HOW, OF_MANY_RUNS, SETTINGS, Execution
from lossyfl.errors import InputError
from lossyfl.registry import items
from lossyfl.results.experiment import read_toml
from lossyfl.results.settings import build, check_keys

Config = Annotated[Path | None, typer.Argument(help="A TOML file with these settings.")]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        help="A package.module:name that the file may import; may be repeated.",
        show_default=False,
    ),
]
Seeds = Annotated[int, typer.Option(help="Runs of each scheme, from --seed on.", min=1)]
Jobs = Annotated[
    int | None,
    typer.Option(
        help="Runs at a time, which share the workers. "
        "Default: 1; where devices train in turn, one per worker.",
        show_default=False,
        min=1,
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder of all results.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]


class Output(NamedTuple):
    """What a command shows."""

    quiet: Quiet = False
    as_json: Json = False


def merged(config: Path | None, said: Mapping[str, object]) -> dict[str, object]:
    """The settings of a TOML file, and above them what was said on the command line."""
    return _file(config) | dict(said)


def _file(config: Path | None) -> dict[str, object]:
    """The settings of a TOML file; names may be spelt with - or _."""
    if config is None:
        return {}
    settings = {key.replace("-", "_"): value for key, value in read_toml(config).items()}
    check_keys(settings, tuple(SETTINGS))
    return settings


def split(settings: Mapping[str, object]) -> tuple[dict[str, object], Execution]:
    """The settings of the experiment, and how it is run."""
    how = {name: value for name, value in settings.items() if name in HOW}
    rest = {name: value for name, value in settings.items() if name not in HOW}
    return rest, build(Execution, how)


def split_for_many(
    settings: Mapping[str, object], refused: Sequence[str], why: str, *, of: str
) -> tuple[dict[str, object], Execution]:
    """The same for a command of many runs, which does not take all settings of a file."""
    _refuse(settings, refused, why, of=of)
    of_one_run = [name for name in HOW if name not in OF_MANY_RUNS]
    _refuse(settings, of_one_run, "it has no such setting", of=of)
    return split(settings)


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
    name, _, chosen = scheme.partition(":")
    over = said if scheme_of_file else {}
    for key in (item.partition("=")[0] for item in items(chosen)):
        if key in said and key not in over:
            allowed = "given once: as an option, or in the scheme"
            raise InputError(key, of="a run", allowed=allowed, got=f"{said[key]}, and {scheme}")
    kept = [item for item in items(chosen) if item.partition("=")[0] not in over]
    return rest | {"scheme": f"{name}:{','.join([*kept, *(f'{k}={v}' for k, v in said.items())])}"}


def _refuse(settings: Mapping[str, object], names: Sequence[str], why: str, *, of: str) -> None:
    """Raise if a file has a setting that a command does not take."""
    for name in names:
        if name in settings:
            allowed = f"left out of the file; {why}"
            raise InputError(name, of=of, allowed=allowed, got=settings[name])
