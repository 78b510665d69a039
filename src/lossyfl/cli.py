"""The command line: thin, and quick to answer; everything heavy is imported by the command."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import sys
from typing import Annotated

import typer

from lossyfl.commands import (
    bench,
    bound,
    codec,
    compare,
    data,
    demo,
    deploy_demo,
    report,
    reproduce,
    run,
    tune,
)
from lossyfl.commands.variadic import Variadic
from lossyfl.errors import LossyflError

app = typer.Typer(
    help="Federated learning over thin links: quantized updates, real bytes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo.demo)
app.command()(run.run)
app.command()(run.resume)
app.command(cls=Variadic)(compare.compare)
app.command(cls=Variadic)(reproduce.reproduce)
app.command()(tune.tune)
app.command()(report.report)
app.command()(bound.bound)
app.command()(deploy_demo.deploy_demo)
app.add_typer(data.app, name="data")
app.add_typer(codec.app, name="codec")
app.add_typer(bench.app, name="bench")


def main() -> None:
    """Run the command line; errors that lossyfl raises on purpose are one line and exit code 2."""
    try:
        app()
    except LossyflError as error:
        typer.echo(f"lossyfl: {error}", err=True)
        sys.exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        from lossyfl import __version__

        typer.echo(f"lossyfl {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Federated learning over thin links: quantized updates, real bytes."""
