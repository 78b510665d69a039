"""A device: frames in, frames out.

    receive   line 3 of Algorithm 1: theta_hat(t) = theta_hat(t-1) + Q(...), for every frame in turn
    reply     lines 4 and 5: Q(theta_m - theta_hat + delta_m); delta_m keeps the error

A reply that never arrived is not forgotten. The device keeps its last reply until the server says which
was the last that it accepted; if that is an older one, what the lost reply carried goes back into
delta_m, so that the next reply carries it (the link's `undo`). A link without memory (lossless) has nowhere
to keep it: then a lost update is lost, as in plain federated averaging.

A server that was restored to an older state asks for rounds that the device has answered. What is open of
such a round goes back into delta_m, too, and the device follows the server. An answer in a round of which the
server has said that it has one already will be refused: what it carries stays in delta_m from the beginning.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lossyfl.compressors import SendContext
from lossyfl.compressors.bounded import norm
from lossyfl.errors import FrameError, InputError, NotFinite
from lossyfl.links import Sent
from lossyfl.links.base import HasEstimate, nothing
from lossyfl.links.state import arrays_of, beside_estimate, downlink_from, state_from
from lossyfl.protocol.digests import NOTHING, EstimateVersion, digest, reply_digest, training_id
from lossyfl.protocol.moves import moved_by
from lossyfl.protocol.scheme import Scheme
from lossyfl.protocol.state_checks import check_device
from lossyfl.protocol.states import UNKNOWN, Delivery, DeviceState, check_number
from lossyfl.streams import stream
from lossyfl.types import Shape, Vector, read_only
from lossyfl.wire.codec import decode
from lossyfl.wire.header import MAX_ENTRIES, FrameMeta, Header, Kind, read_header
from lossyfl.wire.shapes import as_shapes, entries_of
from lossyfl.wire.vectors import as_vector

NO_TREND = (FrameMeta(), nothing())
"""No trend has come that waits for its model."""


class Device:
    """A device's side of a scheme.

    number:      the device's, as the server knows it
    tensors:     shapes or lengths of the model's tensors: no other model is taken
    max_entries: without them, the largest model that it takes
    training:    the name of the training, as the server has it
    """

    def __init__(
        self,
        number: int,
        scheme: Scheme,
        *,
        seed: int = 0,
        tensors: Sequence[Shape] | None = None,
        max_entries: int = MAX_ENTRIES,
        threads: int = 1,
        training: str = "",
    ) -> None:
        check_number(number)
        stream(seed)  # raises if it is no seed
        self.number, self.scheme, self.seed = number, scheme, seed
        self.training = training_id(seed, training)
        self._tensors = None if tensors is None else as_shapes(tensors, of="Device")
        self._limit = max_entries if self._tensors is None else entries_of(self._tensors)
        self._threads = threads
        self.restore(DeviceState())

    def state(self) -> DeviceState:
        """Everything that the device remembers now."""
        return replace(
            self._noted,
            estimate=self._down.estimate,
            downlink=beside_estimate(self._down),
            uplink=arrays_of(self._up),
        )

    def restore(self, state: DeviceState) -> None:
        """Go on from a saved state; it must be of this scheme."""
        of, entries, empty = f"device {self.number}", state.estimate.size, nothing()
        self.scheme.check_state(state.scheme, of=of)
        down = downlink_from(self.scheme.downlink, state.estimate, state.downlink)
        up = state_from(state.uplink, self.scheme.uplink.init(empty), entries)
        if down is None or up is None or bool(entries) != (state.round >= 0):
            allowed = f"of the scheme {self.scheme.name}"
            raise InputError("state", of=of, allowed=allowed, got="another's")
        check_device(state, of=of)
        self._down: HasEstimate = down
        self._up: Any = up
        self._noted = replace(state, estimate=empty, downlink={}, uplink={})
        self._noted.scheme = self.scheme.spec
        self._digest = digest(down.estimate)
        self._waiting = NO_TREND
        self._asked = state.round

    @property
    def held(self) -> EstimateVersion:
        """Which estimate the device holds, for the server to choose what to send."""
        if self._noted.round < 0:
            return NOTHING
        return EstimateVersion(round=self._noted.round, digest=self._digest)

    @property
    def estimate(self) -> Vector:
        """theta_hat, read-only; `receive` gives a copy to train."""
        return read_only(self._down.estimate)

    @property
    def memory(self) -> Vector:
        """delta_m, read-only; empty if the uplink keeps no error."""
        return read_only(arrays_of(self._up).get("memory", nothing()))

    @property
    def unsettled(self) -> bytes:
        """The last reply, to be sent again within its round if it was lost; empty for none."""
        return self._noted.reply

    def receive(self, delivery: Delivery) -> Vector:
        """Line 3: apply all frames; returns a copy of theta_hat.

        Updates of rounds that the device has reached are passed over: a server that does not know
        whether its last frames arrived sends them again. Where the device went astray since, the
        digest in the next update, or in its reply, tells.

        A frame that is damaged raises FrameError, one for another estimate OutOfSync; the frames
        before it have been applied, it and those after it have not.
        """
        self.move(delivery)
        return self._down.estimate.copy()

    def move(self, delivery: Delivery) -> None:
        """`receive` for those who read `estimate` themselves."""
        for frame in delivery.frames:
            self._apply_frame(frame)
        if not delivery.frames:
            self._asked = self._noted.round
        self._settle(delivery.accepted)

    def reply(self, theta: object, *, bound: float = math.inf) -> bytes:
        """Lines 4 and 5: the frame of theta_m - theta_hat, with what earlier frames left over.

        bound: the largest norm that it may decode to; what is longer is clipped
        """
        return self.send(theta, bound=bound).frame

    def send(self, theta: object, *, bound: float = math.inf) -> Sent[Any]:
        """`reply` for those who measure what was quantized, and what of it was lost."""
        state = self._noted
        if state.replied > self._asked >= 0:  # the server went back to before that reply
            self.settle(arrived=False)
        if state.round < 0 or state.replied >= 0:
            got = "no model yet" if state.round < 0 else f"one of round {state.replied} open"
            allowed = "one per round, once the last is settled"
            raise InputError("reply", of=f"device {self.number}", allowed=allowed, got=got)
        local = as_vector(theta)
        if len(local) != len(self.estimate):
            allowed = f"a vector of {len(self.estimate)} entries"
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
            update = local - self.estimate
            sent = self.scheme.uplink.send(update, self._up, context)
        self._check_bound(sent.frame, bound)
        self._up = sent.state
        state.replied, state.reply = state.round, sent.frame
        if state.told == state.round:  # the server has one already
            self.settle(arrived=False)
        return sent

    def settle(self, *, arrived: bool) -> None:
        """Say at once what became of the last reply; otherwise the next delivery tells."""
        state = self._noted
        if state.replied < 0:
            raise InputError("reply", of=f"device {self.number}", allowed="open", got="none")
        if arrived:
            state.accepted = state.replied
        else:
            self._up = self.scheme.uplink.undo(state.reply, self._up)
        state.replied, state.reply = -1, b""

    def _apply_frame(self, frame: bytes) -> None:
        header = read_header(frame, self._limit)
        if header.meta.kind == Kind.MODEL:
            self._apply_model(frame, header)
        elif header.meta.kind in (Kind.UPDATE, Kind.MERGED):
            if header.meta.round > self._noted.round:  # else it was applied, or the digest tells
                link, number = self.scheme.downlink, self.number
                down = moved_by(frame, header, link, self._down, self.held, device=number)
                self._hold(down, header.meta.round)
        elif header.meta.kind == Kind.TREND:
            self._waiting = (header.meta, self._decode(frame))
        else:
            allowed = "a model, its trend or an update"
            raise FrameError(4, allowed, header.meta.kind.name.lower())
        self._asked = header.meta.round

    def _apply_model(self, frame: bytes, header: Header) -> None:
        """Hold the model of a frame, with the trend that came before it."""
        if self._tensors is not None and header.entries != self._limit:
            raise FrameError(8, f"{self._limit} entries", header.entries)
        is_new = header.entries != len(self.estimate)
        down = self._downlink_from(frame, header, is_new=is_new)
        if is_new:
            self._up = self.scheme.uplink.init(down.estimate)
            self._noted.replied, self._noted.reply = -1, b""
        self._hold(down, header.meta.round)

    def _decode(self, frame: bytes) -> Vector:
        return decode(frame, max_entries=self._limit, threads=self._threads)

    def _downlink_from(self, frame: bytes, header: Header, *, is_new: bool) -> HasEstimate:
        """The downlink's state of a device that goes on with the model of a frame."""
        link, meta = self.scheme.downlink, header.meta
        if link.incremental:  # the exact model, whatever updates there were before
            estimate = self._decode(frame)
            down = link.init(estimate)
        else:
            empty = np.zeros(header.entries, dtype=np.float32)
            estimate, down = link.receive(frame, link.init(empty) if is_new else self._down)
        if digest(estimate) != meta.digest:
            raise FrameError(24, f"the digest {digest(estimate):016x}", f"{meta.digest:016x}")
        (came, trend), self._waiting = self._waiting, NO_TREND
        if not len(link.trend(down)) or meta.round == 0:  # nothing has moved yet
            return down
        if came != replace(meta, kind=Kind.TREND) or len(trend) != len(estimate):
            allowed = f"the trend of round {meta.round} before its model"
            raise FrameError(4, allowed, f"one of round {came.round}" if len(trend) else "none")
        return link.join(estimate, trend)

    def _hold(self, down: HasEstimate, round: int) -> None:
        self._down, self._noted.round = down, round
        self._digest = digest(down.estimate)

    def _settle(self, accepted: int) -> None:
        """Find out what became of the last reply, from the last one that the server accepted."""
        state = self._noted
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
            self._up = self.scheme.uplink.init(self.estimate)
        elif lost:
            self._up = self.scheme.uplink.undo(state.reply, self._up)
        arrived = 0 <= state.replied == accepted
        state.accepted = accepted if arrived else max(state.accepted, accepted)
        if unknown or lost or arrived:
            state.replied, state.reply = -1, b""

    def _check_finite(self, local: Vector) -> None:
        bad = np.flatnonzero(~np.isfinite(local))
        if len(bad):
            where = f"entry {bad[0]} of theta"
            raise NotFinite(where, of=f"device {self.number}", got=local[bad[0]])

    def _check_bound(self, frame: bytes, bound: float) -> None:
        """Raise if a reply is longer than it may be: a link that is not ours may not know of bounds."""
        length = 0.0 if bound == math.inf else norm(self._decode(frame))
        if not length <= bound:
            allowed, got = f"within the clipping norm of {bound:g}", f"{length:g} long"
            raise InputError("reply", of=f"device {self.number}", allowed=allowed, got=got)

    @property
    def _reply_meta(self) -> FrameMeta:
        """What a reply says of itself now: its round, and what it was trained from, by whom."""
        bound = reply_digest(self._digest, device=self.number, training=self.training)
        return FrameMeta(kind=Kind.REPLY, round=self._noted.round, digest=bound)
