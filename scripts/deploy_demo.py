"""A real Flower deployment on this machine: python -m scripts.deploy_demo --nodes 5."""

import json
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl import cli
from lossyfl.commands import options, training
from lossyfl.commands.output import console, echo
from lossyfl.commands.spread import Said, of, spread
from lossyfl.errors import InputError
from lossyfl.registry import paths

if TYPE_CHECKING:
    from rich.console import Console

    from benchmarks.deployment.federation import Federation, Seen
    from benchmarks.deployment.network import Links


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One training: what was seen after every round."""

    scheme: str
    seen: "tuple[Seen, ...]"

    @property
    def best(self) -> float:
        """The best accuracy."""
        return max(each.accuracy for each in self.seen)

    def reached(self, accuracy: float) -> "Seen | None":
        """The first round whose model was as good."""
        return next((each for each in self.seen if each.accuracy >= accuracy), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """Of the links between server and nodes; none for those of this machine."""

    downlink: Annotated[
        str | None, typer.Option(help="Rate to each node, as 1Mbit.", show_default=False)
    ] = None
    uplink: Annotated[
        str | None, typer.Option(help="Rate from each node, as 250kbit.", show_default=False)
    ] = None


SETTINGS = {
    "task": "digits",
    "scheme": "lfl:q1=2,q2=2",
    "rounds": 8,
    "tau": 40,
    "batch": 16,
    "lr": "0.1",
}


def deploy_demo(
    nodes: Annotated[int, typer.Option(help="SuperNodes.", min=1, max=200)] = 5,
    *,
    said: Annotated[Said, of(**{name: str(value) for name, value in SETTINGS.items()})],
    rates: Rates,
    out: options.Out = Path("runs/deploy-demo"),
    as_json: options.Json = False,
) -> None:
    """Train on a SuperLink and SuperNodes of Flower's: real processes, TLS, and if wanted slow links.

    With --downlink and --uplink (as root) every node has a link of its own, and plain FedAvg is trained
    on the same links beside it. Everything that is started is stopped, also by Ctrl-C.
    """
    fixed = {"devices": nodes, "optimizer": "sgd", "partition": "iid", "seed": 0}
    settings = SETTINGS | fixed | said
    asked = training.checked(settings, None)  # raises before anything starts
    links = _links(nodes, rates)
    _clear(out)
    from benchmarks.deployment.federation import federation
    from benchmarks.flower import PLAIN

    ran: list[Ran] = []
    own = [*paths(asked.task), *paths(asked.scheme)]
    # All of them stop everything, also in the background.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    with ExitStack() as stack:
        if links is not None:
            stack.enter_context(links)
        for chosen in (asked.scheme,) if links is None else (PLAIN, asked.scheme):
            echo(f"{chosen}: a SuperLink and {nodes} SuperNodes start", err=True)
            folder = (out / ("plain" if chosen == PLAIN else "lossy")).resolve()
            with federation(folder / "flower", nodes, links, allow=own) as flower:
                ran.append(_train(flower, settings | {"scheme": chosen}, folder))
    if as_json:
        echo(json.dumps([asdict(each) for each in ran]))
    else:
        _show(ran, out)


def _links(nodes: int, rates: Rates) -> "Links | None":
    from lossyfl.extras import require
    from lossyfl.report.units import rate

    require("flwr", extra="flower")
    downlink, uplink = rates.downlink, rates.uplink
    if downlink is None and uplink is None:
        return None
    if downlink is None or uplink is None:
        got = f"only {'--uplink' if downlink is None else '--downlink'}"
        raise InputError("links", of="scripts.deploy_demo", allowed="given both ways", got=got)
    from benchmarks.deployment.network import Links

    down, up = rate(downlink, name="downlink"), rate(uplink, name="uplink")
    return Links(nodes, downlink=down, uplink=up)


def _clear(out: Path) -> None:
    """Remove what an earlier demo left, and nothing else."""
    mark = out / ".deploy-demo"
    if out.exists() and any(out.iterdir()) and not mark.is_file():
        allowed = "a new folder, or that of an earlier demo"
        raise InputError("out", of="scripts.deploy_demo", allowed=allowed, got=str(out))
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    mark.touch()


def _train(flower: "Federation", settings: Mapping[str, object], folder: Path) -> Ran:
    from lossyfl.report.text import duration, percent, size

    seen: list[Seen] = []
    for each in flower.run(settings, folder):
        seen.append(each)
        echo(
            f"round {each.round}/{settings['rounds']}  accuracy {percent(each.accuracy)}  "
            f"{duration(each.seconds)}  on the wire: down {size(each.down)}, up {size(each.up)}",
            err=True,
        )
    return Ran(scheme=str(settings["scheme"]), seen=tuple(seen))


def _show(ran: Sequence[Ran], out: Path) -> None:
    from rich.table import Table

    from lossyfl.report.text import duration, percent, size

    goal = min(each.best for each in ran)
    table = Table(title=f"Over real links, to {percent(goal)} and in all")
    table.add_column("")
    for each in ran:
        table.add_column(each.scheme, justify="right")
    there = [each.reached(goal) or each.seen[-1] for each in ran]
    last = [each.seen[-1] for each in ran]
    for name, seen in ((f"to {percent(goal)}", there), ("in all", last)):
        table.add_row(f"{name}: rounds", *(str(each.round) for each in seen))
        table.add_row("time", *(duration(each.seconds) for each in seen))
        table.add_row("bytes down, all nodes", *(size(each.down) for each in seen))
        table.add_row("bytes up, all nodes", *(size(each.up) for each in seen), end_section=True)
    table.add_row("best accuracy", *(percent(each.best) for each in ran))
    screen = console()
    screen.print(table)
    screen.print("Bytes are those of all connections: Flower's own and TLS included.")
    if len(ran) > 1:
        faster = there[0].seconds / there[1].seconds
        screen.print(f"{ran[1].scheme} is there {faster:.1f}x sooner than {ran[0].scheme}.")
    if (out / "lossy/results").is_dir():
        _ledger(out / "lossy/results", screen)


def _ledger(results: Path, screen: "Console") -> None:
    from lossyfl.report.text import size, size_down
    from lossyfl.results.records import read_rounds

    rounds = read_rounds(results / "rounds.jsonl")
    for name, sides in (("down", [r.handed for r in rounds]), ("up", [r.up for r in rounds])):
        frames, raw = sum(side.unicast for side in sides), sum(side.raw for side in sides)
        carrier, late = sum(s.carrier for s in sides), sum(s.catch_up for s in sides)
        screen.print(
            f"{name}: frames {size_down(frames, late)}, messages as Flower counts them "
            f"{size(carrier)}; 32-bit floats to and from the same nodes {size(raw)}"
        )
    _refused(results / "refusals.json", screen)
    screen.print(f"results in {results}; lossyfl report {results}")


def _refused(path: Path, screen: "Console") -> None:
    """How often replies were refused, or taken with a note, by reason."""
    counts: dict[str, int] = json.loads(path.read_text())["counts"] if path.is_file() else {}
    said = ", ".join(f"{reason} {count}" for reason, count in sorted(counts.items()))
    screen.print(f"replies refused, or taken with a note: {said or 'none'}")


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(spread(deploy_demo))
    cli.main(app)
