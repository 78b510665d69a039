"""`lossyfl demo`: the first minute."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl.commands import options
from lossyfl.errors import InputError

if TYPE_CHECKING:
    from lossyfl.simulation.run import Outcome

SCHEMES = ("lossless", "lfl:q1=2,q2=2")


def demo(
    out: Annotated[Path, typer.Option(help="Where the results go.")] = Path("runs/demo"),
    rounds: Annotated[int, typer.Option(help="Rounds of each.", min=1)] = 100,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Train on the embedded digits with exact floats and with LFL, and compare."""
    from lossyfl.commands.progress import progress
    from lossyfl.simulation.experiment import Experiment
    from lossyfl.simulation.run import Silent, run

    workers = options.start_workers(None)
    outcomes: dict[str, Outcome] = {}
    for scheme in SCHEMES:
        folder = out / scheme.partition(":")[0]
        watcher = Silent() if as_json else progress()
        chosen = Experiment(task="digits", scheme=scheme, rounds=rounds)
        _check_demo(folder, scheme)
        outcomes[scheme] = run(chosen, folder, workers=workers, force=True, watcher=watcher)
        if not outcomes[scheme].finished:
            typer.echo("interrupted; `lossyfl demo` begins anew", err=True)
            raise typer.Exit(130)
    if as_json:
        typer.echo(json.dumps({name: asdict(o.summary) for name, o in outcomes.items()}))
    else:
        _show(outcomes, out)


def _check_demo(folder: Path, scheme: str) -> None:
    """Raise if the folder holds a run that is no earlier demo."""
    from lossyfl.simulation.results import Results

    results = Results(folder)
    if results.config.is_file():
        found = results.read_config()
        if (found.task, found.scheme) != ("digits", scheme):
            allowed = "a new folder, or that of an earlier demo"
            raise InputError("out", of="demo", allowed=allowed, got=str(folder))


def _show(outcomes: "dict[str, Outcome]", out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from lossyfl.report.text import size

    table = Table(title="Digits over 20 devices, the bytes of all frames both ways")
    for name in ("scheme", "accuracy", "bytes down", "bytes up", "saving down", "saving up"):
        table.add_column(name, justify="left" if name == "scheme" else "right")
    for name, outcome in outcomes.items():
        s = outcome.summary
        table.add_row(
            name,
            f"{100 * (s.accuracy or 0):.2f} %",
            size(s.down),
            size(s.up),
            f"{s.saving_down:.1f}x",
            f"{s.saving_up:.1f}x",
        )
    console = Console()
    console.print(table)
    console.print(f"results in {out}; next: lossyfl run --help, or lossyfl run --task mnist")
