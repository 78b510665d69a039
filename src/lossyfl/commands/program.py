"""The program with all commands: thin, and quick to answer; everything heavy is imported by the command."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Annotated

import typer
from typer.models import CommandInfo

from lossyfl.commands import (
    bench,
    bound,
    codec,
    compare,
    data,
    demo,
    flower,
    listing,
    overviewed,
    report,
    reproduce,
    run,
    session,
    sweep,
    tune,
)
from lossyfl.commands.output import echo
from lossyfl.commands.overview import examples
from lossyfl.commands.spread import spread
from lossyfl.commands.variadic import Variadic
from lossyfl.errors import Caution, Interrupted, LossyflError

_python_shows = warnings.showwarning
_said = set[str]()
app = typer.Typer(
    help="Federated learning over thin links: quantized updates, real bytes.",
    no_args_is_help=True,
    cls=overviewed.Overviewed,
    pretty_exceptions_enable=False,
)
app.command()(spread(demo.demo))
app.command(epilog=examples("run"))(spread(run.run))
app.command(epilog=examples("resume"))(spread(run.resume))
app.command(cls=Variadic, epilog=examples("compare"))(spread(compare.compare))
app.command(cls=Variadic, epilog=examples("reproduce"))(spread(reproduce.reproduce))
app.command(epilog=examples("sweep"))(spread(sweep.sweep))
app.command("list", epilog=examples("list"))(spread(listing.listing))
app.command(epilog=examples("tune"))(spread(tune.tune))
app.command(epilog=examples("report"))(spread(report.report))
app.command(cls=bound.BoundCommand)(spread(bound.bound))
app.add_typer(data.app, name="data")
app.add_typer(flower.app, name="flower")
app.add_typer(codec.app, name="codec")
app.add_typer(bench.app, name="bench")


class _Break(BaseException):
    """Ctrl-C. Not a KeyboardInterrupt, of which typer makes an exit code of its own."""


def conduct(program: Callable[[], object] | None = None) -> None:
    """Run the program, or another one, as `lossyfl.cli.main` says."""
    warnings.showwarning = _show
    signal.signal(signal.SIGINT, _break)
    if program is None:
        _leave_out_others(sys.argv[1:2])
    try:
        (program or app)()
    except _Break:
        echo("lossyfl: stopped", err=True)
        sys.exit(130)
    except Interrupted as error:
        echo(f"lossyfl: {error}", err=True)
        sys.exit(130)
    except LossyflError as error:
        echo(f"lossyfl: {error}", err=True)
        sys.exit(2)


def _leave_out_others(asked: Sequence[str]) -> None:
    """Keep the command that is asked for: typer makes all of them, which takes longer than to code a file."""
    groups = [each for each in app.registered_groups if each.name in asked]
    commands = [each for each in app.registered_commands if _name_of(each) in asked]
    if groups or commands:
        app.registered_groups, app.registered_commands = groups, commands


def _name_of(command: CommandInfo) -> str:
    return command.name or getattr(command.callback, "__name__", "").replace("_", "-")


def _break(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise _Break


def _show(message: Warning | str, category: type[Warning], *where: object) -> None:
    """A caution as one line, once; other warnings as Python shows them."""
    if issubclass(category, Caution):
        if str(message) not in _said:
            echo(f"lossyfl: caution: {message}", err=True)
        _said.add(str(message))
    else:
        _python_shows(message, category, *where)  # type: ignore[arg-type]


def _version(wanted: bool) -> None:
    if wanted:
        from lossyfl import __version__

        echo(f"lossyfl {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Federated learning over thin links: quantized updates, real bytes."""
    del version  # it has been said, and that was all
    session.import_from_here()
    context.with_resource(session.until_the_end())
