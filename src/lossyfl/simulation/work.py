"""What a worker does: the work of one device after the other, or a part of the test set."""

import time
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from lossyfl.errors import Diverged, NotFinite
from lossyfl.links.base import nothing
from lossyfl.links.state import Arrays, beside_estimate
from lossyfl.protocol.device import Device
from lossyfl.protocol.measures import Measured, measure
from lossyfl.protocol.scheme import Scheme
from lossyfl.protocol.states import Delivery, DeviceState
from lossyfl.simulation.store import DeviceRecord, DeviceStore
from lossyfl.tasks.training import OptimizerMoments, Score, Trainer
from lossyfl.types import Vector

C = TypeVar("C", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceJob:
    """One device's part of a round.

    accepted: the last round of which the server has its reply
    source:   the slot of the store to go on from
    target:   the slot to leave the result in
    late:     whether the reply will come too late
    """

    device: int
    accepted: int
    source: int
    target: int
    late: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceResult:
    """What came of a job: the reply, and how long training and all the rest took.

    measured: of the vector that was quantized, the update with what earlier replies left over
    memory:   the norm of what this one leaves over, ||delta_m||
    """

    device: int
    late: bool
    frame: bytes
    loss: float
    measured: Measured
    memory: float
    training: float
    coding: float


class WorkerContext:
    """One process's tools, for all devices: a model with its data, the store, the shared vectors.

    shared: theta_hat of the round, or the model that is evaluated
    common: moments that all devices share or hand on, where they do
    """

    def __init__(
        self, trainer: Trainer, scheme: Scheme, store: DeviceStore, shared: Vector, common: Vector
    ) -> None:
        self.trainer, self.scheme, self.store = trainer, scheme, store
        self.shared, self.common = shared, common
        self._tensors = trainer.model.tensors
        self._downlink: tuple[int, Arrays] = (-1, {})

    def run(self, job: DeviceJob, round: int, common_steps: int) -> DeviceResult:
        """Lines 3 to 5 of Algorithm 1 for one device."""
        start = time.perf_counter()
        remembered = self.store.read(job.device, job.source)
        device = self._device(job.device, round, remembered)
        theta = device.receive(Delivery(frames=(), accepted=job.accepted))
        moments = self._moments(remembered.moments, common_steps)
        middle = time.perf_counter()
        trained = self.trainer.train(job.device, round, theta, moments)
        ended = time.perf_counter()
        try:
            sent = device.send(trained.theta)
        except NotFinite as error:
            raise Diverged(job.device, round, trained.loss) from error
        # Before the slot is written: the source is made of what it holds.
        measured = measure(sent.source(), sent.lost)
        device.settle(arrived=not job.late)
        state = device.state()
        kept = replace(
            remembered,
            accepted=state.accepted,
            uplink=state.uplink,
            moments=self._hand_on(trained.moments),
        )
        self.store.write(job.device, job.target, kept)
        return DeviceResult(
            device=job.device,
            late=job.late,
            frame=sent.frame,
            loss=trained.loss,
            measured=measured,
            memory=measure(state.uplink.get("memory", nothing())).norm,
            training=ended - middle,
            coding=time.perf_counter() - ended + middle - start,
        )

    def evaluate(self, chunk: int) -> Score:
        """What the shared model is worth on one chunk of the test set."""
        return self.trainer.evaluate(chunk, self.shared)

    def _device(self, number: int, round: int, remembered: DeviceRecord) -> Device:
        """The device, in sync: it holds the round's estimate."""
        device = Device(number, self.scheme, seed=self.trainer.seed, tensors=self._tensors)
        if self._downlink[0] != round:
            self._downlink = (round, beside_estimate(self.scheme.downlink.init(self.shared)))
        device.restore(
            DeviceState(
                round=round,
                estimate=self.shared,
                downlink=self._downlink[1],
                uplink=remembered.uplink,
                accepted=remembered.accepted,
            )
        )
        return device

    def _moments(self, own: OptimizerMoments, common_steps: int) -> OptimizerMoments:
        if self.trainer.local.optimizer.moments in ("shared", "carried"):
            return OptimizerMoments(values=self.common, steps=common_steps)
        return own

    def _hand_on(self, moments: OptimizerMoments) -> OptimizerMoments:
        """What the device keeps: nothing where the next one goes on from its moments."""
        if self.trainer.local.optimizer.moments != "carried":
            return moments
        self.common[:] = moments.values
        return OptimizerMoments()


class Job(Protocol[C]):
    """Something that a worker can be given to do."""

    def do(self, context: WorkerContext) -> C:
        """The result of the job."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceJobs:
    """Some devices of a round.

    common_steps: that the common moments have seen when the first of them begins
    more_steps:   that each device adds to them
    """

    round: int
    common_steps: int
    more_steps: int
    jobs: tuple[DeviceJob, ...]

    def do(self, context: WorkerContext) -> list[DeviceResult]:
        """The results, in the order of the jobs."""
        return [
            context.run(job, self.round, self.common_steps + turn * self.more_steps)
            for turn, job in enumerate(self.jobs)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkScore:
    """The sums over one chunk of the test set."""

    chunk: int
    score: Score


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationJob:
    """To evaluate the shared model on one chunk of the test set."""

    chunk: int

    def do(self, context: WorkerContext) -> ChunkScore:
        """The sums over the chunk."""
        return ChunkScore(chunk=self.chunk, score=context.evaluate(self.chunk))
