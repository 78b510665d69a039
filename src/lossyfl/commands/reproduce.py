"""`lossyfl reproduce`: the paper's figures."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lossyfl.commands import options
from lossyfl.commands.compare import finish, play


def reproduce(
    name: Annotated[str, typer.Argument(help="fig1a or fig1b.")],
    scale: Annotated[
        str, typer.Option(help="paper: to the letter; small: hours on two cores.")
    ] = "small",
    seeds: Annotated[int, typer.Option(help="Runs of each scheme, from --seed on.", min=1)] = 1,
    seed: options.Seed = None,
    schemes: Annotated[
        list[str], typer.Option(help="Only these of the figure's schemes, by their names.")
    ] = [],  # noqa: B006 - typer copies it
    rounds: options.Rounds = None,
    workers: options.Workers = None,
    out: Annotated[Path | None, options.option("Folder of all runs. runs/NAME-SCALE.")] = None,
    data_dir: options.DataDir = None,
    quiet: options.Quiet = False,
) -> None:
    """Run the schemes of a figure of the paper on the real data, and draw it.

    Can be stopped and repeated: runs that are complete are not run again.
    """
    from lossyfl.experiments.figures import figure

    chosen = figure(name, scale)
    specs = chosen.named(schemes)
    count = options.start_workers(workers)
    from lossyfl import report
    from lossyfl.experiments.compare import plan

    folder = out or Path(f"runs/{name}-{scale}")
    base = replace(chosen.experiment, seed=seed or 0)
    planned = plan(replace(base, rounds=rounds or base.rounds), specs, seeds, folder)
    typer.echo(chosen.caption, err=True)
    play(planned, workers=count, data_dir=data_dir, quiet=quiet)
    groups = report.group(report.find([run.folder for run in planned]))
    for suffix in (".png", ".svg"):
        path = (folder / name).with_suffix(suffix)
        report.draw(groups, path, title=chosen.title, caption=chosen.caption)
    finish(folder, [run.folder for run in planned])
