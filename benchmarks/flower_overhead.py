"""What lossyfl costs on Flower where the link costs nothing: rounds with it against plain FedAvg's.

The same training either way, and little of it, so that what is left is Flower, coding, and what devices keep.
Runs with and without take turns.
"""

import json
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Literal

from rich.console import Console
from rich.table import Table

from benchmarks import flower
from benchmarks.flower import Evaluation
from lossyfl.extras import require
from lossyfl.files.atomic import write_atomically
from lossyfl.results import machine

Engine = Literal["simulation", "deployment"]
GOALS = {"simulation": 1.3, "deployment": 1.1}
SCHEME = "lfl:q1=2,q2=2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An engine of Flower's and a size of model; `hidden` is the width of its layers."""

    engine: Engine
    hidden: int
    nodes: int
    rounds: int

    @property
    def parameters(self) -> int:
        """Of the network on digits."""
        h = self.hidden
        return 64 * h + h + h * h + h + 10 * h + 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Seconds of every round after the first."""

    case: Case
    plain: tuple[float, ...]
    lossy: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Of the medians."""
        return median(self.lossy) / median(self.plain)


def run(json_file: Path | None, *, quick: bool, console: Console) -> None:
    """Measure, print, and write."""
    require("flwr", extra="flower")
    results: list[Measured] = []
    for case in _cases(quick=quick):
        results.append(measure(case, repeats=1 if quick else 2))
        console.print(_line(results[-1]))
    console.print(_table(results))
    if json_file is not None:
        facts = {"machine": machine.describe(), "cases": [asdict(each) for each in results]}
        write_atomically(json_file, [json.dumps(facts, indent=1).encode() + b"\n"])


def _cases(*, quick: bool) -> Iterable[Case]:
    if quick:
        yield Case(engine="simulation", hidden=100, nodes=2, rounds=3)
        return
    for hidden in (400, 2200):
        yield Case(engine="simulation", hidden=hidden, nodes=10, rounds=10)
    for hidden in (400, 2200):
        yield Case(engine="deployment", hidden=hidden, nodes=3, rounds=6)


def measure(case: Case, repeats: int) -> Measured:
    """Rounds of both, in turns."""
    plain: list[float] = []
    lossy: list[float] = []
    play = _simulate if case.engine == "simulation" else _deploy
    for _ in range(repeats):
        for scheme, times in ((flower.PLAIN, plain), (SCHEME, lossy)):
            times += _seconds(play(case, scheme))
    return Measured(case=case, plain=tuple(plain), lossy=tuple(lossy))


def _settings(case: Case, scheme: str) -> dict[str, str | int]:
    return {
        "task": f"mlp:hidden={case.hidden}",
        "scheme": scheme,
        "tau": 1,
        "batch": 16,
        "optimizer": "sgd",
        "lr": "0.05",
        "partition": "iid",
    }


def _simulate(case: Case, scheme: str) -> list[Evaluation]:
    return flower.play(_settings(case, scheme), devices=case.nodes, rounds=case.rounds)


def _deploy(case: Case, scheme: str) -> list[Evaluation]:
    from benchmarks.deployment.federation import federation

    settings = _settings(case, scheme) | {"devices": case.nodes, "rounds": case.rounds}
    with tempfile.TemporaryDirectory(prefix="lossyfl-") as name:
        folder = Path(name)
        with federation(folder / "flower", case.nodes) as running:
            for _ in running.run(settings, folder):
                pass
        return flower.read_evaluations(folder)


def _seconds(evaluations: Iterable[Evaluation]) -> list[float]:
    """From one evaluation to the next; the first round starts everything up."""
    return [after.ended - before.ended for before, after in pairwise(evaluations)][1:]


def _line(each: Measured) -> str:
    case = each.case
    return f"{case.engine}, {case.parameters:,} parameters: {each.ratio:.2f}x of plain Flower"


def _table(results: Iterable[Measured]) -> Table:
    table = Table(title=f"A round of Flower's with {SCHEME} against plain FedAvg, medians")
    heads = ("engine", "nodes", "parameters", "plain", "lossyfl", "ratio", "goal")
    for name in heads:
        table.add_column(name, justify="left" if name == "engine" else "right")
    for each in results:
        case = each.case
        table.add_row(
            case.engine,
            str(case.nodes),
            f"{case.parameters:,}",
            f"{median(each.plain):.2f} s",
            f"{median(each.lossy):.2f} s",
            f"{each.ratio:.2f}x",
            f"{GOALS[case.engine]}x",
        )
    return table
