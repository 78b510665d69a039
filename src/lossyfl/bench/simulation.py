"""`lossyfl bench simulation`: what federation costs beside the training itself.

rounds   one worker and two, against a bare loop of the same local steps without any federation
phases   where the time of a round goes
Flower   its simulation engine with the same model, data and steps
devices  a round of M = 10 to 10,000 devices: time a visit, memory of all processes
entries  a round of d = 10^4 to 10^7 parameters: time of the protocol an entry
"""
# pyright: reportUnknownMemberType=false
# torch leaves parameters of some functions without types.

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import torch
from rich.console import Console

from lossyfl import machine
from lossyfl.bench import flower
from lossyfl.bench.tables import Sheet
from lossyfl.simulation.experiment import Experiment
from lossyfl.simulation.memory import keep_freed_memory
from lossyfl.simulation.pool import open_pool
from lossyfl.simulation.records import Round, read_rounds
from lossyfl.simulation.rounds import Simulation
from lossyfl.simulation.setup import Setup, prepare
from lossyfl.simulation.store import Store, create
from lossyfl.tasks.training import Trainer, initial_model
from lossyfl.types import Vector

MANY = 1_000_000
"""Rounds that are planned, so that the last one, which looks at the test set, never comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A setting to compare with the bare loop, and the ratios that are asked for."""

    name: str
    task: str
    batch: int
    repeats: int
    most: float
    least: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Medians over rounds that took turns.

    bare:     seconds of the bare loop
    one, two: seconds with one worker and with two, as multiples of the bare loop's
    speedup:  how many times as fast two workers are as one
    """

    name: str
    bare: float
    one: float
    two: float
    speedup: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """Shares of a round with one worker.

    codec: quantize, encode, decode, aggregate, on both sides, and the devices' states
    """

    name: str
    training: float
    broadcast: float
    devices: float
    aggregate: float
    codec: float
    rest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Flower's engine beside ours, two workers each."""

    name: str
    rounds: float
    start_up: float
    flower_round: float
    flower_start_up: float
    own_start_up: float


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


DIGITS = "lossyfl.bench.shapes:digits:samples=2000"
PEER: flower.Settings = {
    "task": DIGITS,
    "tau": 4,
    "batch": 16,
    "optimizer": "sgd",
    "lr": "0.01",
    "partition": "iid",
}
CASES = (
    Case(
        name="MNIST CNN",
        task="lossyfl.bench.shapes:mnist",
        batch=50,
        repeats=5,
        most=1.05,
        least=1.8,
    ),
    Case(name="digits CNN", task=DIGITS, batch=16, repeats=25, most=1.3, least=None),
)


def run(json_file: Path | None, markdown_file: Path | None, *, quick: bool) -> None:
    """Measure everything, print it, and write it down."""
    console = Console()
    keep_freed_memory()  # as `lossyfl run` does; the bare loop gains as much
    cases = CASES[1:] if quick else CASES
    with console.status("rounds against a bare loop") as status:
        compared = [compare(case, quick=quick) for case in cases]
        status.update("Flower's simulation engine")
        peers = [] if quick else [against_flower(compared, console)]
        status.update("many devices")
        counts = (10, 100) if quick else (10, 100, 1000, 10_000)
        devices = [measure_devices(count) for count in counts]
        status.update("large models")
        lengths = (10**4, 10**5) if quick else (10**4, 10**5, 10**6, 10**7)
        entries = [measure_entries(length) for length in lengths]
    results = {
        "machine": machine.describe(),
        "rounds": [asdict(comparison) for comparison, _ in compared],
        "phases": [asdict(phases) for _, phases in compared],
        "flower": [asdict(peer) for peer in peers if peer is not None],
        "devices": [asdict(row) for row in devices],
        "entries": [asdict(row) for row in entries],
    }
    if json_file is not None:
        json_file.write_text(json.dumps(results, indent=1) + "\n")
    sheets = _sheets(compared, [peer for peer in peers if peer], devices, entries)
    if markdown_file is not None:
        markdown_file.write_text("\n\n".join(sheet.markdown() for sheet in sheets) + "\n")
    for sheet in sheets:
        sheet.show(console)


@contextmanager
def simulation(setup: Setup, workers: int) -> Generator[Simulation]:
    """A simulation in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path, shape = Path(folder) / "devices.bin", setup.shape
        create(path, shape)
        pool, store = open_pool(setup, path, shape, workers), Store(path, shape)
        try:
            yield Simulation(setup, pool, store)
        finally:
            store.close()
            pool.close()


class BareLoop:
    """The same local steps as plain PyTorch: no server, no quantizer, no vector."""

    def __init__(self, setup: Setup) -> None:
        self._trainer = Trainer(setup.task, setup.parts, setup.local, seed=setup.experiment.seed)
        self._task, self._devices = setup.task, setup.devices
        self._module = initial_model(setup.task, setup.experiment.seed).module
        for parameter in self._module.parameters():  # tensors of their own, as a module is made
            parameter.data, parameter.grad = parameter.data.clone(), None
        lr = setup.local.step.at(0)
        self._optimizer = torch.optim.SGD(self._module.parameters(), lr=lr)
        self._x = torch.from_numpy(setup.task.train.x)
        self._y = torch.from_numpy(setup.task.train.y).long()

    def play(self, number: int) -> None:
        """One round: all steps of all devices, one after the other."""
        task, module = self._task, self._module
        module.train()
        for device in range(self._devices):
            for batch in self._trainer.batches(device, number):
                self._optimizer.zero_grad()
                task.loss(module(task.prepare(self._x[batch])), self._y[batch]).backward()
                self._optimizer.step()

    def vector(self) -> Vector:
        """What has been learned."""
        return torch.cat([p.detach().reshape(-1) for p in self._module.parameters()]).numpy()


def compare(case: Case, *, quick: bool) -> tuple[Comparison, Phases]:
    """The bare loop, one worker and two, round by round in turns."""
    setup = prepare(_experiment(case.task, 40, case.batch))
    bare, repeats = BareLoop(setup), 3 if quick else case.repeats
    times: dict[str, list[float]] = {"bare": [], "one": [], "two": []}
    records: list[Round] = []
    with simulation(setup, 1) as one, simulation(setup, 2) as two:
        for number in range(repeats + 1):
            times["bare"].append(_seconds(lambda number=number: bare.play(number)))
            times["one"].append(_seconds(lambda: records.append(one.play()[0])))
            times["two"].append(_seconds(two.play))
    bares, ones, twos = (
        values[1:] for values in times.values()
    )  # without the first, which compiles
    comparison = Comparison(
        name=case.name,
        bare=median(bares),
        one=_ratio(ones, bares),
        two=_ratio(twos, bares),
        speedup=_ratio(ones, twos),
    )
    return comparison, _phases(case.name, records[1:])


def _phases(name: str, records: list[Round]) -> Phases:
    def share(part: Callable[[Round], float]) -> float:
        return median(part(record) / record.seconds.total for record in records)

    training = share(lambda record: record.seconds.training)
    broadcast = share(lambda record: record.seconds.broadcast)
    devices = share(lambda record: record.seconds.coding)
    aggregate = share(lambda record: record.seconds.aggregate)
    codec = broadcast + devices + aggregate
    return Phases(
        name=name,
        training=training,
        broadcast=broadcast,
        devices=devices,
        aggregate=aggregate,
        codec=codec,
        rest=max(0.0, 1 - training - codec),
    )


def against_flower(compared: Sequence[tuple[Comparison, Phases]], console: Console) -> Peer | None:
    """Flower's engine on the digits case, if it can be had."""
    theirs = flower.measure(PEER, devices=40, rounds=12)
    if isinstance(theirs, flower.Skipped):
        console.print(f"Flower is skipped: {theirs.reason}")
        return None
    ours = next(c for c, _ in compared if c.name == "digits CNN")
    mine = median(start_up() for _ in range(3))
    return Peer(
        name="digits CNN",
        rounds=median(theirs.seconds) / (ours.bare * ours.two),
        start_up=theirs.start_up / mine,
        flower_round=median(theirs.seconds),
        flower_start_up=theirs.start_up,
        own_start_up=mine,
    )


def start_up(rounds: int = 5) -> float:
    """Seconds from typing `lossyfl run` to the end of the first round, less a round; as for Flower."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "lossyfl", "run", "--task", DIGITS, "--devices", "40"),
            *("--workers", "2", "--rounds", str(rounds), "--quiet", "--out", f"{folder}/out"),
        ]
        written = Path(folder) / "out" / "rounds.jsonl"
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            while not read_rounds(written) and process.poll() is None:
                time.sleep(0.01)
            first = time.perf_counter() - start
        return first - median(record.seconds.total for record in read_rounds(written)[1:])


def measure_devices(count: int) -> Devices:
    """One round of so many devices, each with a batch of its own, two workers."""
    task = f"lossyfl.bench.shapes:digits:samples={16 * count}"
    setup = prepare(_experiment(task, count, 16))
    with simulation(setup, 2) as chosen:
        first = chosen.play()[0]
        record = chosen.play()[0] if count < 10_000 else first
        memory = _memory()
    server = record.seconds.broadcast + record.seconds.aggregate
    return Devices(
        devices=count,
        visit=1e3 * record.seconds.total / count,
        server=1e3 * server / count,
        memory=memory,
    )


def measure_entries(length: int) -> Entries:
    """A few rounds of four devices with a model of so many parameters."""
    task = f"lossyfl.bench.shapes:line:entries={length},samples=8"
    setup = prepare(_experiment(task, 4, 1, tau=1))
    with simulation(setup, 1) as chosen:
        records = [chosen.play()[0] for _ in range(4)][1:]
    spent = [r.seconds.broadcast + r.seconds.aggregate + r.seconds.coding for r in records]
    return Entries(entries=len(setup.theta), protocol=1e9 * median(spent) / 4 / len(setup.theta))


def _experiment(task: str, devices: int, batch: int, tau: int = 4) -> Experiment:
    return Experiment(
        task=task,
        scheme="lfl:q1=2,q2=2",
        rounds=MANY,
        devices=devices,
        tau=tau,
        batch=batch,
        optimizer="sgd",
        lr="0.01",
        partition="iid",
        evaluate_every=MANY,
    )


def _seconds(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def _ratio(times: Sequence[float], others: Sequence[float]) -> float:
    return median(a / b for a, b in zip(times, others, strict=True))


def _memory() -> float:
    """Megabytes of this process and its descendants; pages that several share count once."""
    pids = [str(os.getpid())]
    for pid in pids:
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        pids += [child for path in tasks for child in path.read_text().split()]
    return sum(_pss(Path(f"/proc/{pid}/smaps_rollup")) for pid in pids) / 1e6


def _pss(path: Path) -> int:
    lines = path.read_text().splitlines() if path.exists() else []
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _sheets(
    compared: Sequence[tuple[Comparison, Phases]],
    peers: Sequence[Peer],
    devices: Sequence[Devices],
    entries: Sequence[Entries],
) -> list[Sheet]:
    goals = {case.name: case for case in CASES}
    return [
        Sheet(
            title="A round of 40 devices, tau = 4, as a multiple of a bare loop's time",
            columns=("", "bare, s", "1 worker", "goal", "2 workers", "1 : 2", "goal"),
            rows=[
                (
                    c.name,
                    f"{c.bare:.3f}",
                    f"{c.one:.3f}",
                    f"<= {goals[c.name].most}",
                    f"{c.two:.3f}",
                    f"{c.speedup:.2f}",
                    f">= {goals[c.name].least}" if goals[c.name].least else "-",
                )
                for c, _ in compared
            ],
        ),
        Sheet(
            title="Where a round with one worker goes, %",
            columns=(
                "",
                "training",
                "broadcast",
                "devices' coding",
                "aggregate",
                "codec in all",
                "rest",
            ),
            rows=[(p.name, *(f"{100 * share:.2f}" for share in _shares(p))) for _, p in compared],
        ),
        Sheet(
            title="Flower's simulation engine: its time over ours",
            columns=("", "a round", "goal", "start-up", "goal", "start-up, s", "ours, s"),
            rows=[
                (
                    p.name,
                    f"{p.rounds:.1f}",
                    ">= 2",
                    f"{p.start_up:.1f}",
                    ">= 10",
                    f"{p.flower_start_up:.1f}",
                    f"{p.own_start_up:.1f}",
                )
                for p in peers
            ],
        ),
        Sheet(
            title="Many devices: digits CNN, tau = 4, batch 16, two workers",
            columns=("devices", "ms a visit", "of these the server", "memory of all, MB"),
            rows=[
                (f"{r.devices:,}", f"{r.visit:.2f}", f"{r.server:.3f}", f"{r.memory:,.0f}")
                for r in devices
            ],
        ),
        Sheet(
            title="Large models: what the protocol takes, one worker",
            columns=("parameters", "ns an entry and visit"),
            rows=[(f"{r.entries:,}", f"{r.protocol:.1f}") for r in entries],
        ),
    ]


def _shares(p: Phases) -> tuple[float, ...]:
    return p.training, p.broadcast, p.devices, p.aggregate, p.codec, p.rest
