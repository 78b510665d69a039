"""`lossyfl flower`: what Flower's nodes keep on this machine, and how to be rid of it."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import time
from pathlib import Path
from typing import Annotated

import typer

from lossyfl.commands.options import Json
from lossyfl.commands.output import echo, echo_json
from lossyfl.errors import InputError

app = typer.Typer(help="Flower's nodes on this machine.", no_args_is_help=True)


@app.callback()
def _root() -> None:
    """Flower's nodes on this machine."""


@app.command()
def clean(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="The nodes' lossyfl-dir. Default: $LOSSYFL_STATE, or the user's state directory."
        ),
    ] = None,
    days: Annotated[
        float, typer.Option(help="Only what nobody has used for so many days.", min=0)
    ] = 0.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would go.")] = (
        False
    ),
    as_json: Json = False,
) -> None:
    """Remove what devices keep of trainings; what a node works with stays.

    A device whose state is gone is sent the model anew.
    """
    from lossyfl.adapters.folders import default_root, remove, state_folders

    root = default_root() if folder is None else folder
    if folder is not None and not folder.is_dir():
        raise InputError(
            "folder", of="lossyfl flower clean", allowed="one that exists", got=str(folder)
        )
    old = [own for own in state_folders(root) if own.touched <= time.time() - 86400 * days]
    gone = old if dry_run else [own for own in old if remove(own)]
    nbytes = sum(own.nbytes for own in gone)
    facts = {
        "folder": str(root),
        "trainings": len({own.training for own in gone}),
        "devices": len(gone),
        "bytes": nbytes,
        "in_use": len(old) - len(gone),
        "dry_run": dry_run,
    }
    if as_json:
        echo_json(facts)
        return
    done = "would be removed" if dry_run else "removed"
    echo(
        f"{nbytes / 1e6:,.1f} MB of {facts['devices']} devices in {facts['trainings']} "
        f"trainings {done} from {root}"
    )
    if facts["in_use"]:
        echo(f"{facts['in_use']} devices are in use, and stay")
