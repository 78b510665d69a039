"""How the simulator grows: a round of many devices, and of large models."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.trial import experiment, simulation
from lossyfl.report.text_table import TextTable
from lossyfl.simulation.setup import prepare


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """One number of devices; milliseconds a visit, the server's share of them, and megabytes."""

    devices: int
    visit: float
    server: float
    memory: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """One number of parameters; nanoseconds an entry and visit that the protocol takes."""

    entries: int
    protocol: float


def measure_devices(count: int) -> Devices:
    """One round of so many devices, each with a batch of its own, two workers."""
    task = f"benchmarks.shapes:digits:samples={16 * count}"
    setup = prepare(experiment(task, count, 16))
    with simulation(setup, 2) as chosen:
        first = chosen.run_round()[0]
        record = chosen.run_round()[0] if count < 10_000 else first
        used = memory()
    server = record.seconds.broadcast + record.seconds.aggregate
    return Devices(
        devices=count,
        visit=1e3 * record.seconds.total / count,
        server=1e3 * server / count,
        memory=used,
    )


def measure_entries(length: int) -> Entries:
    """A few rounds of four devices with a model of so many parameters."""
    task = f"benchmarks.shapes:line:entries={length},samples=8"
    setup = prepare(experiment(task, 4, 1, tau=1))
    with simulation(setup, 1) as chosen:
        records = [chosen.run_round()[0] for _ in range(4)][1:]
    spent = [r.seconds.broadcast + r.seconds.aggregate + r.seconds.coding for r in records]
    return Entries(entries=len(setup.theta), protocol=1e9 * median(spent) / 4 / len(setup.theta))


def memory() -> float:
    """Megabytes of this process and its descendants; pages that several share count once."""
    pids = [str(os.getpid())]
    for pid in pids:
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        pids += [child for path in tasks for child in path.read_text().split()]
    return sum(_pss(Path(f"/proc/{pid}/smaps_rollup")) for pid in pids) / 1e6


def _pss(path: Path) -> int:
    lines = path.read_text().splitlines() if path.exists() else []
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def sheets(devices: Sequence[Devices], entries: Sequence[Entries]) -> list[TextTable]:
    """A row for each number."""
    return [
        TextTable(
            title="Many devices: digits CNN, tau = 4, batch 16, two workers",
            columns=("devices", "ms a visit", "of these the server", "memory of all, MB"),
            rows=[
                (f"{r.devices:,}", f"{r.visit:.2f}", f"{r.server:.3f}", f"{r.memory:,.0f}")
                for r in devices
            ],
        ),
        TextTable(
            title="Large models: what the protocol takes, one worker",
            columns=("parameters", "ns an entry and visit"),
            rows=[(f"{r.entries:,}", f"{r.protocol:.1f}") for r in entries],
        ),
    ]
