"""`lossyfl bound`."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lossyfl.commands.output import FIGURES, can_write


def bound(
    plot: Annotated[Path | None, typer.Option(help="Also draw the figure to this file.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Also write everything to this file.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Few rounds and devices.")] = False,
) -> None:
    """Theorem 1 beside what it bounds, on a strongly convex problem."""
    from rich.console import Console

    from lossyfl.experiments import bound as experiment

    can_write(json_file)
    can_write(plot, FIGURES)
    console = Console()
    console.width = max(console.width, 150)  # a wide table wraps better than it shrinks
    settings = experiment.small_settings() if quick else experiment.default_settings()
    with console.status(f"{len(settings)} settings, about a minute"):
        outcomes = experiment.run(settings)
    if json_file is not None:
        json_file.write_text(json.dumps([asdict(outcome) for outcome in outcomes]))
    if plot is not None:
        experiment.plot(outcomes, plot)
    experiment.sheet(outcomes).show(console)
    console.print(experiment.LEGEND)
    kept = sum(outcome.holds for outcome in outcomes)
    console.print(f"the bound holds at every round in {kept} of {len(outcomes)} settings")
