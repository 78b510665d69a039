"""Rounds, one after the other: Algorithm 1 with the devices' work done by a pool.

The same as `round.run_round` over complete devices, to the bit (a test compares them), but for two
things that change no byte. The broadcast is decoded once, by one listener, for all devices that are
in sync: they would all get the same. And a device is told at once whether its reply arrived.
"""

import time
from collections.abc import Iterator
from functools import reduce
from operator import add
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import NotFinite
from lossyfl.links.state import arrays_of
from lossyfl.protocol.device import Device
from lossyfl.protocol.ledger import Ledger
from lossyfl.protocol.round import sample
from lossyfl.protocol.rules import ReplyRule
from lossyfl.protocol.server import Server
from lossyfl.protocol.states import Delivery, DeviceState, ServerState
from lossyfl.results.records import Round, Seconds
from lossyfl.simulation.average import averaged
from lossyfl.simulation.checkpoint import fresh
from lossyfl.simulation.clock import Clock
from lossyfl.simulation.pool import Pool
from lossyfl.simulation.round_record import OpenRound, round_record
from lossyfl.simulation.setup import Setup
from lossyfl.simulation.store import DeviceStore, Slots
from lossyfl.simulation.updates import NO_UPDATES, Updates
from lossyfl.simulation.work import DeviceJob, DeviceJobs, DeviceResult, EvaluationJob
from lossyfl.streams import stream
from lossyfl.tasks.partitions import sizes
from lossyfl.tasks.training import Score, chunks
from lossyfl.types import Vector

MOST = 256
"""Devices in a portion at the most: what waits in a pipe must be short."""

Flags: TypeAlias = NDArray[np.bool_]


class Simulation:
    """The server, the devices' slots and a pool, round after round.

    committed: the slots that the last checkpoint names
    slots:     the slots that hold now
    average:   of the models that devices held; empty if it is not evaluated
    """

    def __init__(
        self, setup: Setup, pool: Pool, store: DeviceStore, updates: Updates = NO_UPDATES
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
        """The model that is evaluated: theta, theta_hat, which the devices hold, or the average of those."""
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

    def run_round(self, saving: float = 0.0) -> tuple[Round, Ledger]:
        """One round; `saving` is what was spent on files since the last one."""
        clock, before = Clock(), saving
        away = self._draw("drop-out", self.setup.experiment.drop_out)
        participants = self._open(away)
        broadcast = clock.lap()
        results, accepting = self._collect(participants)
        devices = clock.lap()
        opened = OpenRound.measured(self.server, away=int(away.sum()))
        self.updates.save(self.server, results, self.store, self.slots)
        saving += clock.lap()
        self._close(results)
        aggregate = accepting + clock.lap()
        score = self._evaluate()
        seconds = Seconds(
            broadcast=broadcast,
            devices=devices,
            aggregate=aggregate,
            evaluate=clock.lap(),
            save=saving,
            total=before + clock.total,
            training=sum(result.training for result in results),
            coding=sum(result.coding for result in results),
        )
        ledger = self.server.ledger.drain()
        ledger.entries.sort(key=lambda entry: (entry.direction, entry.device))  # not by arrival
        weights = [len(self.setup.parts[result.device]) for result in results]
        metrics = self.setup.task.metrics
        return round_record(opened, results, weights, ledger, score, seconds, metrics), ledger

    def _close(self, results: list[DeviceResult]) -> None:
        """Line 6: the new model, and what is kept of the old ones."""
        self._share_moments(results)
        self.server.close_round()
        if self.server.ledger.refusals.counts["overflow"]:
            raise NotFinite("the sum of replies", of=f"round {self.server.round}", got="infinity")
        if self.setup.experiment.evaluate == "average":
            self.average = averaged(self.average, self.server.estimate)

    def _open(self, away: Flags) -> list[int]:
        """Line 2: broadcast to all who are there; the devices that will train."""
        server, chosen = self.server, self.setup.experiment
        number = server.round + 1
        asked = sample(
            server.members,
            chosen.participation,
            seed=chosen.seed,
            round=number,
            recent=chosen.ask_recent,
            held=lambda device: server.version_of(device).round,
        )
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

    def _collect(self, participants: list[int]) -> tuple[list[DeviceResult], float]:
        """Lines 4 and 5: all results, in the order of devices, and the seconds of accepting them."""
        results: list[DeviceResult] = []
        seconds = 0.0
        for batch in self._batches(participants):
            start = time.perf_counter()
            for result in batch:
                if not result.late:
                    self.server.accept(result.device, result.frame)
            results += batch
            seconds += time.perf_counter() - start
        for device in participants:
            self.slots[device] = self._target(device)
        self.common_steps += len(participants) * self._more_steps
        return sorted(results, key=lambda result: result.device), seconds

    @property
    def _more_steps(self) -> int:
        """By how many steps a device moves the moments that the next one goes on from."""
        carried = self.setup.local.optimizer.moments == "carried"
        return self.setup.local.tau if carried else 0

    def _batches(self, participants: list[int]) -> Iterator[list[DeviceResult]]:
        """Results, portion by portion; carried moments leave no two portions to do at once."""
        jobs = self._jobs(participants)
        if not self._more_steps:
            yield from self.pool.run(jobs)
        else:
            for job in jobs:
                yield from self.pool.run([job])

    def _jobs(self, participants: list[int]) -> Iterator[DeviceJobs]:
        """Jobs in portions that get smaller towards the end, so that all workers end together."""
        late = self._draw("slow", self.setup.experiment.slow)
        start = 0
        while start < len(participants):
            share = (len(participants) - start) // (4 * self.pool.workers)
            stop = start + min(max(1, share), MOST)
            portion = tuple(
                DeviceJob(
                    device=device,
                    accepted=self._accepted[device],
                    source=int(self.slots[device]),
                    target=self._target(device),
                    late=bool(late[device]),
                )
                for device in participants[start:stop]
            )
            yield DeviceJobs(
                round=self.server.round,
                common_steps=self.common_steps + start * self._more_steps,
                more_steps=self._more_steps,
                jobs=portion,
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
        """The sums over the test set, if this round has an evaluation."""
        done, chosen = self.server.round + 1, self.setup.experiment
        if done % chosen.evaluate_every and done <= self.setup.rounds - chosen.evaluate_last:
            return None
        self.pool.shared[:] = self.model
        jobs = (EvaluationJob(chunk=chunk) for chunk in range(chunks(self.setup.task)))
        scores = sorted(self.pool.run(jobs), key=lambda chunk: chunk.chunk)
        return reduce(add, (chunk.score for chunk in scores))

    def _share_moments(self, results: list[DeviceResult]) -> None:
        """The mean of the moments that came in time, by the devices' samples, where they share them."""
        results = [result for result in results if not result.late]
        if (
            self.setup.local.optimizer.moments != "shared"
            or not len(self.pool.common)
            or not results
        ):
            return
        total = np.zeros_like(self.pool.common)
        weight = sum(len(self.setup.parts[result.device]) for result in results)
        for result in results:
            moments = self.store.read(result.device, int(self.slots[result.device])).moments
            total += moments.values * np.float32(len(self.setup.parts[result.device]) / weight)
            self.common_steps = moments.steps
        self.pool.common[:] = total

    def _hold_estimate(self, round: int) -> None:
        """Let the listener hold the server's estimate, which it did before."""
        estimate = self.server.estimate
        uplink = self.setup.scheme.uplink.init(estimate)
        state = DeviceState(
            round=round,
            estimate=estimate,
            downlink=self.server.state().link,
            uplink=arrays_of(uplink),
        )
        self._listener.restore(state)
