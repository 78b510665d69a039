"""`lossyfl reproduce`: the paper's figures."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl.commands import options, training
from lossyfl.commands.compare import finish, play, tell
from lossyfl.commands.output import echo
from lossyfl.commands.spread import Said, of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossyfl.experiments.figures import Figure


Reading = Annotated[
    str,
    typer.Option(
        help="What the paper's Adam is taken for: carried; for fig1a also server-adam, for fig1b also "
        "kept, and for readings these, reset and shared."
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Folder of all runs. Default: runs/NAME, and what is not the default.",
        show_default=False,
    ),
]


def reproduce(
    name: Annotated[str, typer.Argument(help="fig1a, fig1b, or readings, a small study.")],
    *,
    reading: Reading = "carried",
    seeds: options.Seeds = 1,
    schemes: Annotated[
        list[str], typer.Option(help="Only these of the figure's schemes, by their names.")
    ] = [],  # noqa: B006 - typer copies it
    said: Annotated[
        Said,
        of(
            "seed",
            "workers",
            "data_dir",
            rounds="the figure's",
            batch="20; the paper's are 500 and 250",
        ),
    ],
    jobs: options.Jobs = None,
    out: Folder = None,
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
    settings, how = options.split(said)
    base = replace(chosen.experiment, **settings)
    training.check(base, how.data_dir, specs)
    workers = training.start_workers(how)
    from lossyfl.experiments.compare import plan

    usual = base.batch == chosen.experiment.batch
    special = [reading] * (reading != "carried") + [f"batch{base.batch}"] * (not usual)
    folder = out or Path("runs") / "-".join([name, *special])
    planned = plan(base, specs, seeds, folder)
    caption = chosen.caption(base, seeds)
    echo(caption, err=True)
    failed = play(planned, folder, workers=workers, jobs=jobs, data_dir=how.data_dir, quiet=quiet)
    folders = [run.folder for run in planned]
    finish(folder, folders, caption)
    _draw(chosen, folders, folder / name, caption)
    tell(failed)


def _draw(chosen: "Figure", folders: "Sequence[Path]", path: Path, caption: str) -> None:
    """The figure as .png and .svg."""
    from lossyfl import report

    groups = report.group(report.find(folders))
    for suffix in (".png", ".svg"):
        report.draw(groups, path.with_suffix(suffix), title=chosen.title, caption=caption)
