"""`lossyfl reproduce`: the paper's figures."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lossyfl.commands import options
from lossyfl.commands.compare import finish, play, tell
from lossyfl.commands.output import echo


def reproduce(
    name: Annotated[str, typer.Argument(help="fig1a, fig1b, or readings, a small study.")],
    reading: Annotated[
        str,
        typer.Option(
            help="What Adam means: carried; server-adam for fig1a, kept for fig1b, both for readings, "
            "and reset and shared."
        ),
    ] = "carried",
    seeds: Annotated[int, typer.Option(help="Runs of each scheme, from --seed on.", min=1)] = 1,
    seed: options.Seed = None,
    schemes: Annotated[
        list[str], typer.Option(help="Only these of the figure's schemes, by their names.")
    ] = [],  # noqa: B006 - typer copies it
    rounds: options.Rounds = None,
    batch: Annotated[
        int | None, options.option("Samples a local step; the paper's are 500 and 250. 20.")
    ] = None,
    workers: options.Workers = None,
    jobs: options.Jobs = None,
    out: Annotated[
        Path | None,
        options.option(
            "Folder of all runs. runs/NAME, and what is not the default.", "--out", "-o"
        ),
    ] = None,
    data_dir: options.DataDir = None,
    quiet: options.Quiet = False,
) -> None:
    """Run the schemes of a figure of the paper on the real data, and draw it.

    Can be stopped and repeated: runs that are complete are not run again.
    """
    from lossyfl.experiments.figures import figure
    from lossyfl.extras import require

    chosen = figure(name, reading)
    specs = chosen.named(schemes)
    require("matplotlib", extra="report")  # now, not after hours
    asked = {"seed": seed, "rounds": rounds, "batch": batch}
    said = {key: value for key, value in asked.items() if value is not None}
    base = replace(chosen.experiment, **said)
    options.check(base, data_dir, specs)
    count = options.start_workers(workers)
    from lossyfl import report
    from lossyfl.experiments.compare import plan

    usual = base.batch == chosen.experiment.batch
    special = [reading] * (reading != "carried") + [f"batch{base.batch}"] * (not usual)
    folder = out or Path("runs") / "-".join([name, *special])
    planned = plan(base, specs, seeds, folder)
    caption = chosen.caption(base, seeds)
    echo(caption, err=True)
    failed = play(planned, folder, workers=count, jobs=jobs, data_dir=data_dir, quiet=quiet)
    folders = [run.folder for run in planned]
    finish(folder, folders, caption)
    groups = report.group(report.find(folders))
    for suffix in (".png", ".svg"):
        path = (folder / name).with_suffix(suffix)
        report.draw(groups, path, title=chosen.title, caption=caption)
    tell(failed)
