"""`lossyfl data`: which data sets are here, fetch them, check them."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl.commands.output import console, echo, echo_json
from lossyfl.errors import LossyflError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossyfl.data.status import Status

app = typer.Typer(help="Data sets: list, fetch, check.", no_args_is_help=True)

Folder = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Look only here. Default: $LOSSYFL_DATA, or the user's cache."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
ALL = "all"


@app.command("list")
def list_sets(data_dir: Folder = None, as_json: Json = False) -> None:
    """Show every data set and where it is; nothing is read but names and sizes."""
    from lossyfl.data import names
    from lossyfl.data.status import status

    states = [status(name, data_dir) for name in names()]
    if as_json:
        echo_json([asdict(state) for state in states])
    else:
        _print_states(states)


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Data sets, or `all`.")],
    data_dir: Folder = None,
) -> None:
    """Download data sets, check them, and store them."""
    from lossyfl.data.fetch import fetch as get

    failed = False
    for name in _chosen(names):
        try:
            get(name, data_dir, say=lambda line: echo(line, err=True))
        except LossyflError as error:  # the others may still be had
            echo(f"lossyfl: {error}", err=True)
            failed = True
    if failed:
        raise typer.Exit(2)


@app.command()
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Default: all that are here.")
    ] = None,
    data_dir: Folder = None,
) -> None:
    """Read data sets and compare them with their known sums."""
    chosen = _chosen(names or [ALL])
    required = names is not None and ALL not in names
    verdicts = [_is_fine(name, data_dir, required=required) for name in chosen]
    if not all(verdicts):
        raise typer.Exit(2)


def _chosen(names: "Sequence[str]") -> list[str]:
    """The data sets that are meant, each once; InputError if one is unknown, before any work."""
    from lossyfl.data import names as every
    from lossyfl.data.catalog import known

    meant = every() if ALL in names else list(dict.fromkeys(names))
    return [known(name).name for name in meant]


def _is_fine(name: str, folder: Path | None, *, required: bool) -> bool:
    """Whether a data set is as it should be; one that nobody asked for may be absent. Prints a line."""
    from lossyfl.data.status import check as read
    from lossyfl.data.status import status

    state = status(name, folder)
    if state.place is None and not state.partly and not required:
        echo(f"{name}: not here")
        return True
    try:
        read(name, folder)
    except LossyflError as error:
        echo(f"{name}: {error}")
        return False
    count = f"{state.train:,}" + (f" + {state.test:,}" if state.test else "")
    echo(f"{name}: ok, {count} {state.samples} in {state.place}")
    return True


def _print_states(states: "Sequence[Status]") -> None:
    from rich.table import Table

    table = Table(box=None)
    for column in ("data set", "train", "test", "shape", "classes", "size"):
        table.add_column(column, justify="left" if column == "data set" else "right", no_wrap=True)
    table.add_column("where", overflow="fold")
    for state in states:
        table.add_row(
            state.name,
            f"{state.train:,}",
            f"{state.test:,}" if state.test else "-",
            " x ".join(map(str, state.shape)) or "-",
            f"{state.classes}",
            f"{state.nbytes / 1e6:.1f} MB" if state.nbytes else "-",
            state.place or f"not here ({state.hint})",
        )
    console(width=120).print(table)  # a path wraps badly
