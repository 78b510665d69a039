"""`lossyfl demo`: the first minutes."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from pathlib import Path
from typing import Annotated

from lossyfl.commands import options, training
from lossyfl.commands.compare import SYSTEMS, facts, play, tell, write_report
from lossyfl.commands.output import echo, echo_json
from lossyfl.commands.spread import Said, of
from lossyfl.commands.table import show

ROUNDS = 100


def demo(
    out: options.Out = Path("runs/demo"),
    *,
    said: Annotated[Said, of(rounds=str(ROUNDS))],
    output: options.Output,
) -> None:
    """The paper's five systems on the embedded digits, and a report.

    Runs that are complete are not run again; another --out begins anew.
    """
    settings, how = options.split({"task": "digits", "rounds": ROUNDS} | said)
    base, workers = training.settle(settings, how, SYSTEMS, quiet=output.quiet)
    from lossyfl.experiments.compare import plan

    planned = plan(base, SYSTEMS, 1, out)
    failed = play(planned, out, workers=workers, data_dir=None, quiet=output.quiet)
    groups = write_report(out, [run.folder for run in planned])
    if output.as_json:
        echo_json([facts(run) for run in planned])
    else:
        show(groups, "Digits over 20 devices, the bytes of all frames both ways")
        echo(f"open {out / 'report.html'} in a browser; next: lossyfl compare --help")
    tell(failed)
