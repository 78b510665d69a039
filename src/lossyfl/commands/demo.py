"""`lossyfl demo`: the first minutes."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl.commands import options
from lossyfl.commands.compare import SYSTEMS, facts, play, tell, write_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossyfl.report import Group


def demo(
    out: Annotated[Path, typer.Option(help="Where the results go.")] = Path("runs/demo"),
    rounds: Annotated[int, typer.Option(help="Rounds of each.", min=1)] = 100,
    as_json: options.Json = False,
) -> None:
    """The paper's five systems on the embedded digits, and a report.

    Runs that are complete are not run again; another --out begins anew.
    """
    workers = options.start_workers(None)
    from lossyfl.experiments.compare import plan, settled
    from lossyfl.simulation.experiment import Experiment

    base = settled(Experiment(task="digits", rounds=rounds), None)
    planned = plan(base, SYSTEMS, 1, out)
    failed = play(planned, out, workers=workers, data_dir=None, quiet=as_json)
    groups = write_report(out, [run.folder for run in planned])
    if as_json:
        typer.echo(json.dumps([facts(run) for run in planned]))
    else:
        _show(groups)
        typer.echo(f"open {out / 'report.html'} in a browser; next: lossyfl compare --help")
    tell(failed)


def _show(groups: "Sequence[Group]") -> None:
    """The table of the README."""
    from rich.console import Console
    from rich.table import Table

    from lossyfl.report.rows import row
    from lossyfl.report.text import percent, size

    table = Table(title="Digits over 20 devices, the bytes of all frames both ways")
    for name in ("scheme", "accuracy", "bytes down", "bytes up", "saving down", "saving up"):
        table.add_column(name, justify="left" if name == "scheme" else "right")
    for group in groups:
        r = row(group)
        sizes = (size(r.nbytes.down or 0), size(r.nbytes.up or 0))
        savings = (f"{r.saving.down or 1:.1f}x", f"{r.saving.up or 1:.1f}x")
        table.add_row(r.label, percent(r.last), *sizes, *savings)
    Console().print(table)
