"""`lossyfl bench simulation`: what federation costs beside the training itself.

rounds   one worker and two, against a bare loop of the same local steps without any federation
phases   where the time of a round goes
Flower   its simulation engine with the same model, data and steps
devices  a round of M = 10 to 10,000 devices: time a visit, memory of all processes
entries  a round of d = 10^4 to 10^7 parameters: time of the protocol an entry
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from benchmarks import growth, peer, rounds
from benchmarks.growth import Devices, Entries
from benchmarks.peer import Peer
from benchmarks.rounds import CASES, Comparison, Phases
from lossyfl.report.text_table import TextTable
from lossyfl.results import machine
from lossyfl.simulation.memory import keep_freed_memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Everything that was measured; without Flower, `flower` is empty."""

    rounds: tuple[Comparison, ...]
    phases: tuple[Phases, ...]
    flower: tuple[Peer, ...]
    devices: tuple[Devices, ...]
    entries: tuple[Entries, ...]

    def sheets(self) -> list[TextTable]:
        """All of it as tables."""
        return [
            *rounds.sheets(self.rounds, self.phases),
            peer.sheet(self.flower),
            *growth.sheets(self.devices, self.entries),
        ]


def run(
    json_file: Path | None, markdown_file: Path | None, *, quick: bool, console: Console
) -> None:
    """Measure everything, print it, and write it down."""
    results = _measure(console, quick=quick)
    if json_file is not None:
        facts = {"machine": machine.describe(), **asdict(results)}
        json_file.write_text(json.dumps(facts, indent=1) + "\n")
    sheets = results.sheets()
    if markdown_file is not None:
        markdown_file.write_text("\n\n".join(sheet.markdown() for sheet in sheets) + "\n")
    for sheet in sheets:
        sheet.show(console)


def _measure(console: Console, *, quick: bool) -> Results:
    keep_freed_memory()  # as `lossyfl run` does; the bare loop gains as much
    cases = CASES[1:] if quick else CASES
    counts = (10, 100) if quick else (10, 100, 1000, 10_000)
    lengths = (10**4, 10**5) if quick else (10**4, 10**5, 10**6, 10**7)
    with console.status("rounds against a bare loop") as status:
        compared, phases = zip(*(rounds.compare(case, quick=quick) for case in cases), strict=True)
        status.update("Flower's simulation engine")
        beside = None if quick else peer.against_flower(compared, console)
        status.update("many devices")
        devices = tuple(growth.measure_devices(count) for count in counts)
        status.update("large models")
        entries = tuple(growth.measure_entries(length) for length in lengths)
    return Results(
        rounds=compared,
        phases=phases,
        flower=() if beside is None else (beside,),
        devices=devices,
        entries=entries,
    )
