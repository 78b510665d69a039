"""A device: frames in, frames out.

    receive   line 3 of Algorithm 1: theta_hat(t) = theta_hat(t-1) + Q(...), for every frame in turn
    reply     lines 4 and 5: Q(theta_m - theta_hat + delta_m); delta_m keeps the error

A reply that never arrived is not forgotten. The device keeps its last reply until the server says which
was the last that it accepted; if that is an older one, what the lost reply carried goes back into
delta_m, so that the next reply carries it. A link without memory (lossless) has nowhere to keep it: then
a lost update is lost, as in plain federated averaging.

A server that was restored to an older state asks for rounds that the device has answered. What is open of
such a round goes back into delta_m, too, and the device follows the server. An answer in a round of which the
server has said that it has one already will be refused: what it carries stays in delta_m from the beginning.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lossyfl.compressors import SendContext
from lossyfl.compressors.bounded import norm
from lossyfl.errors import FrameError, InputError, NotFinite, OutOfSync
from lossyfl.links import LinkState
from lossyfl.links.base import nothing
from lossyfl.protocol.digests import NOTHING, EstimateVersion, digest, reply_digest, training_id
from lossyfl.protocol.rules import FINITE, is_within
from lossyfl.protocol.schemes import Scheme
from lossyfl.protocol.state_checks import check_device
from lossyfl.protocol.states import UNKNOWN, Delivery, DeviceState, check_number
from lossyfl.streams import stream
from lossyfl.types import Vector, read_only
from lossyfl.wire.codec import decode
from lossyfl.wire.header import MAX_ENTRIES, FrameMeta, Header, Kind, read_header
from lossyfl.wire.vectors import as_vector

NO_TREND = (FrameMeta(), nothing())
"""No trend has come that waits for its model."""


class Device:
    """A device's side of a scheme.

    number:      the device's, as the server knows it
    tensors:     lengths of the model's tensors: no other model is taken
    max_entries: without them, the largest model that it takes
    training:    the name of the training, as the server has it
    """

    def __init__(
        self,
        number: int,
        scheme: Scheme,
        *,
        seed: int = 0,
        tensors: Sequence[int] | None = None,
        max_entries: int = MAX_ENTRIES,
        threads: int = 1,
        training: str = "",
    ) -> None:
        check_number(number)
        stream(seed)  # raises if it is no seed
        self.number, self.scheme, self.seed = number, scheme, seed
        self.training = training_id(seed, training)
        self._tensors, self._threads = tensors, threads
        self._limit = max_entries if tensors is None else sum(tensors)
        self.restore(DeviceState())

    def state(self) -> DeviceState:
        """Everything that the device remembers now."""
        return replace(self._state)

    def restore(self, state: DeviceState) -> None:
        """Go on from a saved state, compact or not; it must be of this scheme."""
        self.scheme.check_state(state.scheme, of=f"device {self.number}")
        if self.scheme.downlink.incremental and not len(state.downlink.estimate):
            state = replace(state, downlink=replace(state.downlink, estimate=state.estimate))
        links = ((self.scheme.uplink, state.uplink), (self.scheme.downlink, state.downlink))
        for link, saved in links:
            if state.round >= 0 and not link.fits(saved, len(state.estimate)):
                allowed = f"of the scheme {self.scheme.name}"
                raise InputError(
                    "state", of=f"device {self.number}", allowed=allowed, got="another's"
                )
        check_device(state, of=f"device {self.number}")
        self._state = replace(state, scheme=self.scheme.spec)
        self._digest = digest(state.estimate)
        self._waiting = NO_TREND
        self._asked = state.round

    @property
    def held(self) -> EstimateVersion:
        """Which estimate the device holds, for the server to choose what to send."""
        state = self._state
        return (
            NOTHING if state.round < 0 else EstimateVersion(round=state.round, digest=self._digest)
        )

    @property
    def estimate(self) -> Vector:
        """theta_hat, to look at; `receive` gives a copy to train."""
        return read_only(self._state.estimate)

    @property
    def memory(self) -> Vector:
        """delta_m, to look at."""
        return read_only(self._state.uplink.memory)

    @property
    def unsettled(self) -> bytes:
        """The last reply, to be sent again within its round if it was lost; empty for none."""
        return self._state.reply

    def receive(self, delivery: Delivery) -> Vector:
        """Line 3: apply all frames; returns a copy of theta_hat.

        Updates of rounds that the device has reached are passed over: a server that does not know
        whether its last frames arrived sends them again. Where the device went astray since, the
        digest in the next update, or in its own reply, tells.

        A frame that is damaged raises FrameError, one for another estimate OutOfSync; the frames
        before it have been applied, it and those after it have not.
        """
        self.move(delivery)
        return self._state.estimate.copy()

    def move(self, delivery: Delivery) -> None:
        """`receive` for those who look at `estimate` themselves."""
        for frame in delivery.frames:
            self._apply(frame)
        if not delivery.frames:
            self._asked = self._state.round
        self._settle(delivery.accepted)

    def _apply(self, frame: bytes) -> None:
        header = read_header(frame, self._limit)
        if header.meta.kind == Kind.MODEL:
            self._start(frame, header.meta)
        elif header.meta.kind == Kind.UPDATE:
            if header.meta.round > self._state.round:  # else it was applied, or the digest tells
                self._move(frame, header)
        elif header.meta.kind == Kind.TREND:
            self._waiting = (header.meta, self._decode(frame))
        else:
            allowed = "a model, its trend or an update"
            raise FrameError(4, allowed, header.meta.kind.name.lower())
        self._asked = header.meta.round

    def _start(self, frame: bytes, meta: FrameMeta) -> None:
        """Hold the model of a frame, with the trend that came before it."""
        state = self._state
        estimate = self._decode(frame)
        if self._tensors is not None and len(estimate) != self._limit:
            raise FrameError(8, f"{self._limit} entries", len(estimate))
        if digest(estimate) != meta.digest:
            raise FrameError(24, f"the digest {digest(estimate):016x}", f"{meta.digest:016x}")
        downlink = self._joined(estimate, meta)
        if len(estimate) != len(state.estimate):
            state.uplink = self.scheme.uplink.init(estimate)
            state.replied, state.reply = -1, b""
        state.downlink = downlink
        self._hold(estimate, meta.round)

    def _decode(self, frame: bytes) -> Vector:
        return decode(frame, max_entries=self._limit, threads=self._threads)

    def _joined(self, estimate: Vector, meta: FrameMeta) -> LinkState:
        """The downlink's state of a device that joins in some round."""
        fresh = self.scheme.downlink.init(estimate)
        (came, trend), self._waiting = self._waiting, NO_TREND
        if not len(fresh.trend) or meta.round == 0:  # nothing has moved yet
            return fresh
        if came != replace(meta, kind=Kind.TREND) or len(trend) != len(estimate):
            allowed = f"the trend of round {meta.round} before its model"
            raise FrameError(4, allowed, f"one of round {came.round}" if len(trend) else "none")
        return replace(fresh, trend=trend)

    def _move(self, frame: bytes, header: Header) -> None:
        """Move the estimate by an update."""
        meta = header.meta
        needs = EstimateVersion(round=meta.round - 1, digest=meta.digest)
        if self.held != needs:
            raise OutOfSync(self.number, str(self.held), str(needs))
        if header.entries != len(self._state.estimate):
            raise FrameError(8, f"{len(self._state.estimate)} entries", header.entries)
        with np.errstate(over="ignore", invalid="ignore"):  # that is looked at below
            estimate, downlink = self.scheme.downlink.receive(frame, self._state.downlink)
        if not (is_within(estimate, FINITE) and is_within(downlink.trend, FINITE)):
            raise FrameError(0, "an update that leaves the model finite", "one that does not")
        self._state.downlink = downlink
        self._hold(estimate, meta.round)

    def _hold(self, estimate: Vector, round: int) -> None:
        self._state.estimate, self._state.round = estimate, round
        self._digest = digest(estimate)

    def _settle(self, accepted: int) -> None:
        """Find out what became of the last reply, from the last one that the server accepted."""
        state = self._state
        state.told = accepted
        if accepted == UNKNOWN:
            # An update too few is what plain federated averaging would lose; one too many is worse.
            state.accepted = max(state.accepted, state.replied, state.round - 1)
            state.replied, state.reply = -1, b""
            return
        unknown = accepted > state.accepted and accepted != state.replied
        lost = 0 <= state.replied < state.round and accepted != state.replied
        if unknown:
            # The device was restored to a time before that reply, which carried all that it holds.
            state.uplink = LinkState(memory=np.zeros_like(state.uplink.memory))
        elif lost:
            self._take_back()
        arrived = 0 <= state.replied == accepted
        state.accepted = accepted if arrived else max(state.accepted, accepted)
        if unknown or lost or arrived:
            state.replied, state.reply = -1, b""

    def settle(self, *, arrived: bool) -> None:
        """Say at once what became of the last reply; otherwise the next delivery tells."""
        state = self._state
        if state.replied < 0:
            raise InputError("reply", of=f"device {self.number}", allowed="open", got="none")
        if arrived:
            state.accepted = state.replied
        else:
            self._take_back()
        state.replied, state.reply = -1, b""

    def _check_finite(self, local: Vector) -> None:
        bad = np.flatnonzero(~np.isfinite(local))
        if len(bad):
            where = f"entry {bad[0]} of theta"
            raise NotFinite(where, of=f"device {self.number}", got=local[bad[0]])

    def _check_bound(self, frame: bytes, bound: float) -> None:
        """Raise if a reply is longer than it may be: a link that is not ours may not know of bounds."""
        if bound == math.inf:
            return
        length = norm(self._decode(frame))
        if not length <= bound:
            allowed, got = f"within the clipping norm of {bound:g}", f"{length:g} long"
            raise InputError("reply", of=f"device {self.number}", allowed=allowed, got=got)

    @property
    def _reply_meta(self) -> FrameMeta:
        """What a reply says of itself now: its round, and what it was trained from, by whom."""
        bound = reply_digest(self._digest, device=self.number, training=self.training)
        return FrameMeta(kind=Kind.REPLY, round=self._state.round, digest=bound)

    def _take_back(self) -> None:
        """Put what a lost reply carried back into delta_m, if there is one."""
        state = self._state
        if len(state.uplink.memory):
            memory = state.uplink.memory + decode(state.reply, max_entries=self._limit)
            state.uplink = LinkState(memory=memory)

    def reply(self, theta: object, *, bound: float = math.inf) -> bytes:
        """Lines 4 and 5: the frame of theta_m - theta_hat, with what earlier frames left over.

        bound: the largest norm that it may decode to; what is longer is clipped
        """
        state = self._state
        if state.replied > self._asked >= 0:  # the server went back to before that reply
            self.settle(arrived=False)
        if state.round < 0 or state.replied >= 0:
            got = "no model yet" if state.round < 0 else f"one of round {state.replied} open"
            raise InputError(
                "reply",
                of=f"device {self.number}",
                allowed="one a round, once the last is settled",
                got=got,
            )
        local = as_vector(theta)
        if len(local) != len(state.estimate):
            allowed = f"a vector of {len(state.estimate)} entries"
            raise InputError("theta", of=f"device {self.number}", allowed=allowed, got=len(local))
        # One pass; parts of a sum of finite entries may overflow, too, and both ways.
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.sum(local)
        if not np.isfinite(total):
            self._check_finite(local)
        context = SendContext(
            meta=self._reply_meta,
            rng=stream(self.seed, purpose="uplink", round=state.round, device=self.number),
            tensors=self._tensors,
            threads=self._threads,
            bound=bound,
        )
        with np.errstate(over="ignore", invalid="ignore"):  # refused as not finite
            update = local - state.estimate
            frame, uplink = self.scheme.uplink.send(update, state.uplink, context)
        self._check_bound(frame, bound)
        state.uplink = uplink
        state.replied, state.reply = state.round, frame
        if state.told == state.round:  # the server has one already
            self.settle(arrived=False)
        return frame
