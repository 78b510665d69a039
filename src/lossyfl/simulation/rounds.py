"""Rounds, one after the other: Algorithm 1 with the devices' work done by a pool.

The same as `round.run_round` over complete devices, to the bit (a test compares them), but for two
things that change no byte. The broadcast is decoded once, by one listener, for all devices that are
in sync: they would all get the same. And a device is told at once whether its reply arrived.
"""

import math
import time
from collections.abc import Iterator
from functools import reduce
from operator import add
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import NotFinite
from lossyfl.protocol.device import Device
from lossyfl.protocol.ledger import Ledger
from lossyfl.protocol.measures import mean, measure
from lossyfl.protocol.round import sample
from lossyfl.protocol.rules import ReplyRule
from lossyfl.protocol.server import Server
from lossyfl.protocol.states import Delivery, DeviceState, ServerState
from lossyfl.results.records import Round, Seconds, traffic
from lossyfl.simulation.average import averaged
from lossyfl.simulation.checkpoint import fresh
from lossyfl.simulation.pool import Pool
from lossyfl.simulation.setup import Setup
from lossyfl.simulation.store import Slots, Store
from lossyfl.simulation.updates import NO_UPDATES, Updates
from lossyfl.simulation.work import Answer, Look, Visit, Visits
from lossyfl.streams import stream
from lossyfl.tasks.partitions import sizes
from lossyfl.tasks.training import Score, chunks
from lossyfl.types import Vector

MOST = 256
"""Visits in a portion at the most: what waits in a pipe must be short."""

Flags: TypeAlias = NDArray[np.bool_]


class Clock:
    """Seconds, phase by phase."""

    def __init__(self) -> None:
        self._begin = self._last = time.perf_counter()

    @property
    def total(self) -> float:
        """Seconds from the beginning to the last lap."""
        return self._last - self._begin

    def lap(self) -> float:
        """Seconds since the last lap."""
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return seconds


class Simulation:
    """The server, the devices' slots and a pool, round after round.

    committed: the slots that the last checkpoint names
    slots:     the slots that hold now
    average:   of the models that devices held; empty if nobody looks at it
    """

    def __init__(
        self, setup: Setup, pool: Pool, store: Store, updates: Updates = NO_UPDATES
    ) -> None:
        self.setup, self.pool, self.store, self.updates = setup, pool, store, updates
        chosen = setup.experiment
        self.server = Server(
            setup.theta,
            setup.scheme,
            samples=sizes(setup.parts),
            seed=chosen.seed,
            listen="all" if chosen.listen == "all" else "participants",
            tensors=setup.tensors,
            rule=ReplyRule(norm="off"),  # all devices are ours: what they send is the experiment
        )
        self.committed, self.slots = fresh(setup.devices), fresh(setup.devices)
        self.common_steps = 0
        self.average = np.zeros(0, dtype=np.float32)
        self._accepted: dict[int, int] = {}
        self._listener = Device(0, setup.scheme, seed=chosen.seed, tensors=setup.tensors)
        self._hold_estimate(0)

    @property
    def model(self) -> Vector:
        """The model to look at: theta, theta_hat, which the devices hold, or the average of those."""
        match self.setup.experiment.evaluate:
            case "devices":
                return self.server.estimate
            case "average":
                return self.average
            case _:
                return self.server.theta

    def restore(
        self, server: ServerState, slots: Slots, common_steps: int, average: Vector
    ) -> None:
        """Go on from a checkpoint."""
        self.server.restore(server)
        self.average = average
        self.committed, self.slots, self.common_steps = slots.copy(), slots.copy(), common_steps
        self._hold_estimate(max(server.round, 0))

    def commit(self) -> None:
        """The slots that hold now are those of a checkpoint."""
        self.committed = self.slots.copy()

    def play(self, saving: float = 0.0) -> tuple[Round, Ledger]:
        """One round; `saving` is what was spent on files since the last one."""
        clock, before = Clock(), saving
        away = self._draw("drop-out", self.setup.experiment.drop_out)
        participants = self._open(away)
        broadcast = clock.lap()
        answers, accepting = self._collect(participants)
        devices = clock.lap()
        distance = float(np.linalg.norm(self.server.theta - self.server.estimate))
        model_peak = measure(self.server.theta).peak
        self.updates.save(self.server, answers, self.store, self.slots)
        saving += clock.lap()
        self._share_moments(answers)
        self.server.close_round()
        if self.server.ledger.refusals.counts["overflow"]:
            raise NotFinite("the sum of replies", of=f"round {self.server.round}", got="infinity")
        if self.setup.experiment.evaluate == "average":
            self.average = averaged(self.average, self.server.estimate)
        aggregate = accepting + clock.lap()
        score = self._evaluate()
        seconds = Seconds(
            broadcast=broadcast,
            devices=devices,
            aggregate=aggregate,
            evaluate=clock.lap(),
            save=saving,
            total=before + clock.total,
            training=sum(answer.training for answer in answers),
            coding=sum(answer.coding for answer in answers),
        )
        ledger = self.server.ledger.drain()
        ledger.entries.sort(key=lambda entry: (entry.direction, entry.device))  # not by arrival
        down, up = traffic(ledger)
        late = [answer for answer in answers if answer.late]
        record = Round(
            round=self.server.round,
            accuracy=score.correct / score.samples if score else None,
            test_loss=score.loss / score.samples if score else None,
            train_loss=self._train_loss(answers),
            eps=ledger.eps.get(self.server.round),
            distance=distance,
            model_peak=model_peak,
            broadcast=self.server.measured,
            reply=mean([answer.measured for answer in answers]),
            memory=_rms([answer.memory for answer in answers]),
            replies=len(answers) - len(late),
            late=len(late),
            late_bytes=sum(len(answer.frame) for answer in late),
            away=int(away.sum()),
            down=down,
            up=up,
            seconds=seconds,
        )
        return record, ledger

    def _open(self, away: Flags) -> list[int]:
        """Line 2: broadcast to all who are there; the devices that will train."""
        server, chosen = self.server, self.setup.experiment
        number = server.round + 1
        asked = sample(server.members, chosen.participation, seed=chosen.seed, round=number)
        participants = [device for device in asked if not away[device]]
        server.open_round(participants)
        self._accepted = {
            device: server.frames_for(device).accepted
            for device in server.listeners
            if not away[device]
        }
        if number > 0:
            self._listener.receive(Delivery(frames=(server.broadcast,), accepted=-1))
        self.pool.shared[:] = self._listener.estimate  # line 3, once for all
        return participants

    def _collect(self, participants: list[int]) -> tuple[list[Answer], float]:
        """Lines 4 and 5: all answers in the order of devices, and the seconds of accepting them."""
        answers: list[Answer] = []
        seconds = 0.0
        for batch in self._batches(participants):
            start = time.perf_counter()
            for answer in batch:
                if not answer.late:
                    self.server.accept(answer.device, answer.frame)
            answers += batch
            seconds += time.perf_counter() - start
        for device in participants:
            self.slots[device] = self._target(device)
        self.common_steps += len(participants) * self._more_steps
        return sorted(answers, key=lambda answer: answer.device), seconds

    @property
    def _more_steps(self) -> int:
        """By how many steps a device moves the moments that the next one goes on from."""
        carried = self.setup.local.optimizer.moments == "carried"
        return self.setup.local.tau if carried else 0

    def _batches(self, participants: list[int]) -> Iterator[list[Answer]]:
        """Answers, portion by portion; carried moments leave no two portions to do at once."""
        jobs = self._jobs(participants)
        if not self._more_steps:
            yield from self.pool.run(jobs)
        else:
            for job in jobs:
                yield from self.pool.run([job])

    def _jobs(self, participants: list[int]) -> Iterator[Visits]:
        """Visits in portions that get smaller towards the end, so that all workers end together."""
        late = self._draw("slow", self.setup.experiment.slow)
        start = 0
        while start < len(participants):
            share = (len(participants) - start) // (4 * self.pool.workers)
            stop = start + min(max(1, share), MOST)
            visits = tuple(
                Visit(
                    device=device,
                    accepted=self._accepted[device],
                    source=int(self.slots[device]),
                    target=self._target(device),
                    late=bool(late[device]),
                )
                for device in participants[start:stop]
            )
            yield Visits(
                round=self.server.round,
                common_steps=self.common_steps + start * self._more_steps,
                more_steps=self._more_steps,
                visits=visits,
            )
            start = stop

    def _target(self, device: int) -> int:
        """The slot that the last checkpoint does not name."""
        return 1 if self.committed[device] == 0 else 0

    def _draw(self, purpose: str, probability: float) -> Flags:
        """For every device whether it happens in the next round."""
        number = self.server.round + (not self.server.is_open)
        rng = stream(self.setup.experiment.seed, purpose=purpose, round=number)
        return rng.bits(0, self.setup.devices) < np.uint64(probability * 2**32)

    def _evaluate(self) -> Score | None:
        """What the model is worth on the test set, if it is time to look."""
        done, chosen = self.server.round + 1, self.setup.experiment
        if done % chosen.evaluate_every and done <= self.setup.rounds - chosen.evaluate_last:
            return None
        self.pool.shared[:] = self.model
        jobs = (Look(chunk=chunk) for chunk in range(chunks(self.setup.task)))
        scores = sorted(self.pool.run(jobs), key=lambda look: look.chunk)
        return reduce(add, (look.score for look in scores))

    def _share_moments(self, answers: list[Answer]) -> None:
        """The mean of the moments that came in time, by the devices' samples, where they share them."""
        answers = [answer for answer in answers if not answer.late]
        if (
            self.setup.local.optimizer.moments != "shared"
            or not len(self.pool.common)
            or not answers
        ):
            return
        total = np.zeros_like(self.pool.common)
        weight = sum(len(self.setup.parts[answer.device]) for answer in answers)
        for answer in answers:
            own = self.store.read(answer.device, int(self.slots[answer.device])).moments
            total += own.values * np.float32(len(self.setup.parts[answer.device]) / weight)
            self.common_steps = own.steps
        self.pool.common[:] = total

    def _train_loss(self, answers: list[Answer]) -> float | None:
        """The mean of the devices' losses by their samples."""
        weights = [len(self.setup.parts[answer.device]) for answer in answers]
        sums = (w * answer.loss for w, answer in zip(weights, answers, strict=True))
        return sum(sums) / sum(weights) if answers else None

    def _hold_estimate(self, round: int) -> None:
        """Let the listener hold the server's estimate, which it did before."""
        estimate = self.server.estimate
        uplink = self.setup.scheme.uplink.init(estimate)
        state = DeviceState(
            round=round, estimate=estimate, downlink=self.server.state().link, uplink=uplink
        )
        self._listener.restore(state)


def _rms(values: list[float]) -> float | None:
    """The root of the mean square, of as many devices as have trained."""
    return math.sqrt(sum(value * value for value in values) / len(values)) if values else None
