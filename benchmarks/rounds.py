"""Rounds of the simulator against a bare loop of the same local steps, and where their time goes."""
# pyright: reportUnknownMemberType=false
# torch leaves parameters of some functions without types.

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.trial import experiment, simulation
from lossyfl.extras import of_extra
from lossyfl.report.text_table import TextTable
from lossyfl.results.records import Round
from lossyfl.simulation.setup import Setup, prepare
from lossyfl.tasks.training import Trainer, initial_model, without_denormals
from lossyfl.types import Vector

with of_extra("sim"):
    import torch


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


DIGITS = "benchmarks.shapes:digits:samples=2000"
CASES = (
    Case(
        name="MNIST CNN",
        task="benchmarks.shapes:mnist",
        batch=50,
        repeats=5,
        most=1.05,
        least=1.8,
    ),
    Case(name="digits CNN", task=DIGITS, batch=16, repeats=25, most=1.3, least=None),
)


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

    @without_denormals()
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
    setup = prepare(experiment(case.task, 40, case.batch))
    bare, repeats = BareLoop(setup), 3 if quick else case.repeats
    times: dict[str, list[float]] = {"bare": [], "one": [], "two": []}
    records: list[Round] = []
    with simulation(setup, 1) as one, simulation(setup, 2) as two:
        for number in range(repeats + 1):
            times["bare"].append(_seconds(lambda number=number: bare.play(number)))
            times["one"].append(_seconds(lambda: records.append(one.run_round()[0])))
            times["two"].append(_seconds(two.run_round))
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


def _seconds(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def _ratio(times: Sequence[float], others: Sequence[float]) -> float:
    return median(a / b for a, b in zip(times, others, strict=True))


def sheets(compared: Sequence[Comparison], phases: Sequence[Phases]) -> list[TextTable]:
    """Against the bare loop, and where the time goes."""
    goals = {case.name: case for case in CASES}
    parts = ("training", "broadcast", "devices' coding", "aggregate", "codec in all", "rest")
    return [
        TextTable(
            title="A round of 40 devices, tau = 4, as a multiple of a bare loop's time",
            columns=("", "bare, s", "1 worker", "goal", "2 workers", "1 : 2", "goal"),
            rows=[_row(c, goals[c.name]) for c in compared],
        ),
        TextTable(
            title="Where a round with one worker goes, %",
            columns=("", *parts),
            rows=[(p.name, *(f"{100 * share:.2f}" for share in _shares(p))) for p in phases],
        ),
    ]


def _row(c: Comparison, goal: Case) -> tuple[str, ...]:
    return (
        c.name,
        f"{c.bare:.3f}",
        f"{c.one:.3f}",
        f"<= {goal.most}",
        f"{c.two:.3f}",
        f"{c.speedup:.2f}",
        f">= {goal.least}" if goal.least else "-",
    )


def _shares(p: Phases) -> tuple[float, ...]:
    return p.training, p.broadcast, p.devices, p.aggregate, p.codec, p.rest
