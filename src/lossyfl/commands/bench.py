"""`lossyfl bench`: speed and size against peers, in one run."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from pathlib import Path
from typing import Annotated

import typer

from lossyfl.commands.output import can_write, console
from lossyfl.extras import check_installed

app = typer.Typer(help="Speed and size against peers, in one run.", no_args_is_help=True)

JsonFile = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Also write all measurements to this file, as JSON."),
]
MarkdownFile = Annotated[
    Path | None, typer.Option("--markdown", help="Also write the tables to this file.")
]


@app.command("codec")
def bench_codec(
    json_file: JsonFile = None,
    markdown_file: MarkdownFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and smaller vectors.")] = False,
) -> None:
    """The codec against memcpy, NumPy, constriction and zstandard."""
    from lossyfl.bench.codec import run

    can_write(json_file)
    can_write(markdown_file)
    screen, progress = console(width=100), console(err=True)
    run(json_file, markdown_file, quick=quick, console=screen, progress=progress)


@app.command("quantizers")
def bench_quantizers(
    json_file: JsonFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only short vectors.")] = False,
) -> None:
    """Every quantizer, frames made and read, against the paper's."""
    from lossyfl.bench.quantizers import run

    can_write(json_file)
    run(json_file, quick=quick, console=console(), progress=console(err=True))


@app.command("server")
def bench_server(
    json_file: JsonFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and smaller rounds.")] = False,
) -> None:
    """Replies aggregated, memory of a round, and the rotation."""
    from lossyfl.bench.server import run

    can_write(json_file)
    run(json_file, quick=quick, console=console())


@app.command("simulation")
def bench_simulation(
    json_file: JsonFile = None,
    markdown_file: MarkdownFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small models and few devices.")] = False,
) -> None:
    """Rounds against a bare loop and Flower's engine; many devices, large models."""
    from lossyfl.bench.simulation import run

    can_write(json_file)
    can_write(markdown_file)
    run(json_file, markdown_file, quick=quick, console=console())


@app.command("flower")
def bench_flower(
    json_file: JsonFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="One small case.")] = False,
) -> None:
    """Rounds of Flower's engines with and without lossyfl, where the link costs nothing."""
    check_installed("torch", extra="sim")  # here: the engine's processes would say it late
    from lossyfl.bench.flower_overhead import run

    can_write(json_file)
    run(json_file, quick=quick, console=console())
