"""`lossyfl bench`: speed and size against peers, in one run.

They are the package `benchmarks` of the repository, found beside the source or in the current folder.
"""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from lossyfl.commands.output import can_write, console
from lossyfl.errors import InputError
from lossyfl.extras import check_installed

CHECKOUT = Path(__file__).parents[3]
"""The folder of the repository, where the package is not installed elsewhere."""

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
    can_write(json_file)
    can_write(markdown_file)
    screen, progress = console(width=100), console(err=True)
    benchmark("codec").run(json_file, markdown_file, quick=quick, console=screen, progress=progress)


@app.command("quantizers")
def bench_quantizers(
    json_file: JsonFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only short vectors.")] = False,
) -> None:
    """Every quantizer, frames made and read, against the paper's."""
    can_write(json_file)
    benchmark("quantizers").run(
        json_file, quick=quick, console=console(), progress=console(err=True)
    )


@app.command("server")
def bench_server(
    json_file: JsonFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and smaller rounds.")] = False,
) -> None:
    """Replies aggregated, memory of a round, and the rotation."""
    can_write(json_file)
    benchmark("server").run(json_file, quick=quick, console=console())


@app.command("simulation")
def bench_simulation(
    json_file: JsonFile = None,
    markdown_file: MarkdownFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small models and few devices.")] = False,
) -> None:
    """Rounds against a bare loop and Flower's engine; many devices, large models."""
    can_write(json_file)
    can_write(markdown_file)
    benchmark("simulation").run(json_file, markdown_file, quick=quick, console=console())


@app.command("scale")
def bench_scale(
    json_file: JsonFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer members and devices.")] = False,
) -> None:
    """A round of few participants, as the number of members grows to a million."""
    check_installed("torch", extra="sim")
    can_write(json_file)
    benchmark("scale").run(json_file, quick=quick, console=console())


@app.command("flower")
def bench_flower(
    json_file: JsonFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="One small case.")] = False,
) -> None:
    """Rounds of Flower's engines with and without lossyfl, where the link costs nothing."""
    check_installed("torch", extra="sim")  # here: the engine's processes would say it late
    can_write(json_file)
    benchmark("flower_overhead").run(json_file, quick=quick, console=console())


@app.command("versions")
def bench_versions(
    other: Annotated[str, typer.Argument(help="A Python with another version of lossyfl.")],
    *,
    json_file: JsonFile = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only short vectors.")] = False,
) -> None:
    """Frames and rounds against those of another version of lossyfl, in turns."""
    can_write(json_file)
    benchmark("versions").run(other, json_file, quick=quick, console=console())


@app.command("nncodec")
def bench_nncodec(
    python: Annotated[
        str | None, typer.Argument(help="A Python with nncodec; without one, --build makes it.")
    ] = None,
    *,
    build: Annotated[
        Path | None,
        typer.Option(
            "--build", help="The folder of its environment.", show_default="build/nncodec"
        ),
    ] = None,
    json_file: JsonFile = None,
    markdown_file: MarkdownFile = None,
    workers: Annotated[int, typer.Option(help="Processes, while sizes are measured.", min=1)] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Only updates of digits.")] = False,
) -> None:
    """Frames of updates against NNCodec's bitstreams at the same error."""
    check_installed("torch", extra="sim")  # here: updates come from training
    can_write(json_file)
    can_write(markdown_file)
    screen = console(width=100)
    benchmark("nncodec").run(
        python, build, json_file, markdown_file, quick=quick, console=screen, workers=workers
    )


def benchmark(name: str) -> ModuleType:
    """A benchmark of the repository; child processes find its package as this one does."""
    for folder in (CHECKOUT, Path.cwd()):
        if (folder / "benchmarks" / f"{name}.py").is_file():
            sys.path.insert(0, str(folder))
            inherited = os.environ.get("PYTHONPATH")
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), inherited)))
            return importlib.import_module(f"benchmarks.{name}")
    allowed = "run in a checkout: benchmarks are part of the repository, not of the package"
    raise InputError("benchmark", of="lossyfl bench", allowed=allowed, got=name)
