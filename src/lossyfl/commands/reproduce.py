"""`lossyfl reproduce`: the paper's figures."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lossyfl.commands import options
from lossyfl.commands.compare import finish, play, tell


def reproduce(
    name: Annotated[str, typer.Argument(help="fig1a or fig1b.")],
    scale: Annotated[
        str, typer.Option(help="paper: all that the paper says; small: hours on two cores.")
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
    from lossyfl.extras import require

    chosen = figure(name, scale)
    specs = chosen.named(schemes)
    require("matplotlib", extra="report")  # now, not after hours
    count = options.start_workers(workers)
    from lossyfl import report
    from lossyfl.experiments.compare import plan

    folder = out or Path(f"runs/{name}-{scale}")
    base = chosen.experiment
    base = replace(
        base,
        seed=base.seed if seed is None else seed,
        rounds=base.rounds if rounds is None else rounds,
    )
    planned = plan(base, specs, seeds, folder)
    caption = chosen.caption(base, seeds)
    typer.echo(caption, err=True)
    failed = play(planned, folder, workers=count, data_dir=data_dir, quiet=quiet)
    folders = [run.folder for run in planned]
    finish(folder, folders, caption)
    groups = report.group(report.find(folders))
    for suffix in (".png", ".svg"):
        path = (folder / name).with_suffix(suffix)
        report.draw(groups, path, title=chosen.title, caption=caption)
    tell(failed)
