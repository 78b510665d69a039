"""`lossyfl demo`: the first minutes."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import json
from pathlib import Path
from typing import Annotated

import typer

from lossyfl.commands import options
from lossyfl.commands.compare import SYSTEMS, facts, play, tell, write_report
from lossyfl.commands.output import echo
from lossyfl.commands.table import show


def demo(
    out: options.Out = Path("runs/demo"),
    rounds: Annotated[int, typer.Option(help="Rounds of each.", min=1)] = 100,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """The paper's five systems on the embedded digits, and a report.

    Runs that are complete are not run again; another --out begins anew.
    """
    chosen = options.checked({"task": "digits", "rounds": rounds}, None, SYSTEMS)
    workers = options.start_workers(None)
    options.announce("importing torch, loading the data of digits", quiet=quiet)
    from lossyfl.experiments.compare import plan, settled

    base = settled(chosen, None)
    planned = plan(base, SYSTEMS, 1, out)
    failed = play(planned, out, workers=workers, data_dir=None, quiet=quiet)
    groups = write_report(out, [run.folder for run in planned])
    if as_json:
        echo(json.dumps([facts(run) for run in planned]))
    else:
        show(groups, "Digits over 20 devices, the bytes of all frames both ways")
        echo(f"open {out / 'report.html'} in a browser; next: lossyfl compare --help")
    tell(failed)
