"""What a worker does: one visit to a device after the other, or a part of the test set."""

import time
from dataclasses import dataclass, replace

from lossyfl.errors import Diverged, NotFinite
from lossyfl.links import LinkState
from lossyfl.protocol.device import Device
from lossyfl.protocol.measures import Measured, measure
from lossyfl.protocol.schemes import Scheme
from lossyfl.protocol.states import Delivery, DeviceState
from lossyfl.simulation.store import Remembered, Store
from lossyfl.tasks.training import Moments, Score, Trainer
from lossyfl.types import Vector
from lossyfl.wire.codec import decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
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
class Answer:
    """What came of a visit: the reply, and how long training and all the rest took.

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


class Workshop:
    """One process's tools, for all devices: a model with its data, the store, the shared vectors.

    shared: theta_hat of the round, or the model that is evaluated
    common: moments that all devices share or hand on, where they do
    """

    def __init__(
        self, trainer: Trainer, scheme: Scheme, store: Store, shared: Vector, common: Vector
    ) -> None:
        self.trainer, self.scheme, self.store = trainer, scheme, store
        self.shared, self.common = shared, common
        self._tensors = trainer.model.tensors
        self._downlink = (-1, LinkState())

    def visit(self, visit: Visit, round: int, common_steps: int) -> Answer:
        """Lines 3 to 5 of Algorithm 1 for one device."""
        start = time.perf_counter()
        remembered = self.store.read(visit.device, visit.source)
        device = self._device(visit.device, round, remembered)
        theta = device.receive(Delivery(frames=(), accepted=visit.accepted))
        moments = self._moments(remembered.moments, common_steps)
        middle = time.perf_counter()
        outcome = self.trainer.train(visit.device, round, theta, moments)
        trained = time.perf_counter()
        try:
            frame = device.reply(outcome.theta)
        except NotFinite as error:
            raise Diverged(visit.device, round, outcome.loss) from error
        measured = self._measure(outcome.theta, remembered.uplink, device, frame)
        device.settle(arrived=not visit.late)
        state = device.state()
        kept = replace(
            remembered,
            accepted=state.accepted,
            uplink=state.uplink,
            moments=self._hand_on(outcome.moments),
        )
        self.store.write(visit.device, visit.target, kept)
        return Answer(
            device=visit.device,
            late=visit.late,
            frame=frame,
            loss=outcome.loss,
            measured=measured,
            memory=measure(state.uplink.memory).norm,
            training=trained - middle,
            coding=time.perf_counter() - trained + middle - start,
        )

    def _measure(self, theta: Vector, uplink: LinkState, device: Device, frame: bytes) -> Measured:
        """What the reply's quantizer was given, and what it lost."""
        given = theta - self.shared
        left = device.state().uplink.memory
        if not len(left):
            left = given - decode(frame, max_entries=len(given))
        return measure(given + uplink.memory if len(uplink.memory) else given, left)

    def evaluate(self, chunk: int) -> Score:
        """What the shared model is worth on one chunk of the test set."""
        return self.trainer.evaluate(chunk, self.shared)

    def _device(self, number: int, round: int, remembered: Remembered) -> Device:
        """The device, in sync: it holds the round's estimate."""
        device = Device(number, self.scheme, seed=self.trainer.seed, tensors=self._tensors)
        if self._downlink[0] != round:
            self._downlink = (round, self.scheme.downlink.init(self.shared))
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

    def _moments(self, own: Moments, common_steps: int) -> Moments:
        if self.trainer.local.optimizer.moments in ("shared", "carried"):
            return Moments(values=self.common, steps=common_steps)
        return own

    def _hand_on(self, moments: Moments) -> Moments:
        """What the device keeps: nothing where the next one goes on from its moments."""
        if self.trainer.local.optimizer.moments != "carried":
            return moments
        self.common[:] = moments.values
        return Moments()


@dataclass(frozen=True, slots=True, kw_only=True)
class Visits:
    """Some devices of a round.

    common_steps: that the common moments have seen when the first of them begins
    more_steps:   that each device adds to them
    """

    round: int
    common_steps: int
    more_steps: int
    visits: tuple[Visit, ...]

    def do(self, workshop: Workshop) -> list[Answer]:
        """One answer per device."""
        return [
            workshop.visit(visit, self.round, self.common_steps + turn * self.more_steps)
            for turn, visit in enumerate(self.visits)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The sums of one chunk of the test set."""

    chunk: int
    score: Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One chunk of the test set."""

    chunk: int

    def do(self, workshop: Workshop) -> Seen:
        """Its sums."""
        return Seen(chunk=self.chunk, score=workshop.evaluate(self.chunk))
