"""The server: frames in, frames out, no sockets and no clock.

    open_round      line 2 of Algorithm 1: encode the broadcast once, move the estimate by it
    frames_for      what one device needs to hold that estimate
    accept          lines 4 and 5: a reply, or a refusal that changes nothing
    close_round     line 6: theta(t+1) = theta_hat(t) + sum_m B_m / B reply_m

Round t has the estimate theta_hat(t). An update frame names the round it makes and the digest of
the estimate it applies to; a model frame the round and the digest of the estimate it gives. A device
that holds an older estimate gets the updates it has missed, or the full model where that is shorter
or the log no longer reaches back.

Replies are checked and added in `aggregation`, in the order of device numbers: memory is O(d) plus the
encoded replies of one round, none of them longer than raw floats. Every refusal is noted in the ledger. A
model that is not finite is never kept: a round whose sum would make one is refused as a whole.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np

from lossyfl.compressors import SendContext
from lossyfl.errors import InputError
from lossyfl.kernels.parallel import useful_threads
from lossyfl.protocol.aggregation import Aggregation
from lossyfl.protocol.digests import NOTHING, EstimateVersion, digest, training_id
from lossyfl.protocol.ledger import Kind, Ledger, Refusals, Sink, entry_of
from lossyfl.protocol.measures import Measured, measure
from lossyfl.protocol.rules import LARGEST, ReplyRule, is_within
from lossyfl.protocol.schemes import Scheme
from lossyfl.protocol.state_checks import MAX_SAMPLES, check_server, is_sound
from lossyfl.protocol.states import Broadcast, Count, Delivery, ServerState, check_number
from lossyfl.streams import stream
from lossyfl.theory import eps
from lossyfl.types import Vector, read_only
from lossyfl.wire import frame as frames
from lossyfl.wire.codec import decode
from lossyfl.wire.facts import Facts, facts
from lossyfl.wire.header import FrameMeta, read_header
from lossyfl.wire.header import Kind as FrameKind
from lossyfl.wire.vectors import as_vector, block_bounds

T = TypeVar("T")
Listen = Literal["all", "participants"]

DEFAULT_RULE = ReplyRule()


class Server:
    """The server's side of a scheme.

    theta:     theta(0), any vector that `encode` takes
    samples:   how many samples each device has: its weight
    listen:    who hears a broadcast: "all" members, as in the paper, or only the "participants"
    log_bytes: how much of the recent broadcasts to keep for devices that missed some; by default as
               much as the full model, because a longer catch-up would be longer than that
    training:  a name that tells this training from others of the same seed; devices need the same
    rule:      what to do with a reply that is far larger than others
    sink:      is handed what the ledger keeps only in sums, in a long training
    """

    def __init__(
        self,
        theta: object,
        scheme: Scheme,
        *,
        samples: Mapping[int, int],
        seed: int = 0,
        listen: Listen = "all",
        log_bytes: int | None = None,
        tensors: Sequence[int] | None = None,
        threads: int = 1,
        training: str = "",
        rule: ReplyRule = DEFAULT_RULE,
        sink: Sink | None = None,
    ) -> None:
        start = as_vector(theta).copy()
        if not is_within(start):
            allowed = f"finite and within {LARGEST:.3g}"
            raise InputError("theta", of="Server", allowed=allowed, got="NaN, infinity or beyond")
        if listen not in ("all", "participants"):
            raise InputError("listen", of="Server", allowed='"all" or "participants"', got=listen)
        if not isinstance(scheme, Scheme):  # pyright: ignore[reportUnnecessaryIsInstance]
            allowed = 'a Scheme, as lossyfl.scheme("lfl") gives'
            raise InputError("scheme", of="Server", allowed=allowed, got=scheme)
        if log_bytes is not None and (type(log_bytes) is not int or log_bytes < 0):
            raise InputError("log_bytes", of="Server", allowed="an int >= 0", got=log_bytes)
        if tensors is not None:
            block_bounds("tensor", len(start), tuple(tensors))
        stream(seed)  # raises if it is no seed
        scheme.check([len(start)] if tensors is None else tensors)
        useful_threads(threads, 0)
        self.scheme, self.seed, self.listen, self.rule = scheme, seed, listen, rule
        self.training = training_id(seed, training)
        self._tensors, self._threads, self._sink = tensors, threads, sink
        start, log = self._first(start)
        link = scheme.downlink.init(start)
        self._whole = frames.raw_nbytes(len(start) + len(link.trend))
        self._limit = 4 * (len(start) + len(link.trend)) if log_bytes is None else log_bytes
        self.restore(
            ServerState(
                round=-1,
                is_open=False,
                theta=start,
                estimate=start,
                link=link,
                moments=scheme.optimizer.init(len(start)),
                samples={},
                held={},
                accepted={},
                broadcast=b"",
                log=log,
                participants={},
                answered={},
                turn=0,
                waiting={},
                total=np.zeros_like(start),
                weight=0,
            )
        )
        for device, count in samples.items():
            self.join(device, count)

    def _first(self, theta: Vector) -> tuple[Vector, tuple[Broadcast, ...]]:
        """The initial model as devices will hold it, and its frame where it is not exact floats."""
        if self.scheme.first is None:
            return theta, ()
        context = SendContext(
            meta=FrameMeta(kind=FrameKind.MODEL, round=0),
            rng=stream(self.seed, purpose="first"),
            tensors=self._tensors,
            threads=self._threads,
        )
        _, frame = self.scheme.first.make(theta, context)
        start = decode(frame, max_entries=len(theta), threads=self._threads)
        frame = frames.with_digest(frame, digest(start))
        return start, (Broadcast(round=0, digest=NOTHING.digest, frame=frame),)

    # State

    def state(self) -> ServerState:
        """Everything that the server remembers, at any moment."""
        ledger = self.ledger
        counts = ledger.refusals.counts.items()
        return replace(
            self._state.copied(),
            entries=tuple(ledger.entries),
            eps=dict(ledger.eps),
            summary=ledger.summary,
            refusals=tuple(ledger.refusals.recent),
            refused=tuple(Count(reason=reason, count=count) for reason, count in counts),
        )

    def restore(self, state: ServerState) -> None:
        """Go on from a saved state; it must be of this scheme."""
        self.scheme.check_state(state.scheme, of="Server")
        if not self.scheme.downlink.fits(state.link, len(state.estimate)):
            allowed = f"of the scheme {self.scheme.name}"
            raise InputError("state", of="Server", allowed=allowed, got="another's")
        check_server(state, self.scheme.optimizer.init(len(state.theta)))
        self._state = replace(state.copied(), scheme=self.scheme.spec)
        known = state.entries, state.eps.items()
        self.ledger = Ledger(*known, summary=state.summary, sink=self._sink)
        counts = ((each.reason, each.count) for each in state.refused)
        self.ledger.refusals = Refusals(state.refusals, counts)
        self._digest = digest(state.estimate)
        self.measured: Measured | None = None
        self._collect()
        self._full: tuple[bytes, ...] = ()
        self._known: dict[bytes, Facts] = {}

    @property
    def round(self) -> int:
        """The round of the estimate; -1 before the first is opened."""
        return self._state.round

    @property
    def is_open(self) -> bool:
        """Whether a round is open."""
        return self._state.is_open

    @property
    def theta(self) -> Vector:
        """The server's model, to look at."""
        return read_only(self._state.theta)

    @property
    def estimate(self) -> Vector:
        """theta_hat, what every device in sync holds, to look at."""
        return read_only(self._state.estimate)

    @property
    def aggregation_base(self) -> Vector:
        """What replies are added to: the estimate, or theta where the scheme preserves it."""
        return self.estimate if self.scheme.server_model == "estimate" else self.theta

    @property
    def broadcast(self) -> bytes:
        """The newest broadcast frame, for all who hold the estimate before it; empty in round 0."""
        return self._state.broadcast

    @property
    def held(self) -> EstimateVersion:
        """What a device in sync holds."""
        return EstimateVersion(round=self.round, digest=self._digest)

    # Members

    def join(self, device: int, samples: int) -> None:
        """Make a device a member, with its number of samples."""
        check_number(device)
        if type(samples) is not int or not 1 <= samples <= MAX_SAMPLES:
            allowed = "an int in [1, 2^53]"
            raise InputError("samples", of=f"device {device}", allowed=allowed, got=samples)
        self._state.samples[device] = samples

    def leave(self, device: int) -> None:
        """Forget a device, but for which of its replies was the last: it may come back.

        In an open round its accepted reply stays.
        """
        self._member(device)
        del self._state.samples[device]
        self._state.held.pop(device, None)

    def rename(self, numbers: Mapping[int, int]) -> None:
        """Members have other numbers than they were taken for; what was noted of them goes along.

        All at once, so that two may have been taken for each other; in an open round before the first
        reply.
        """
        state = self._state
        self._check_renamed(numbers)
        state.samples = _renamed(state.samples, numbers)
        state.held = _renamed(state.held, numbers)
        state.accepted = _renamed(state.accepted, numbers)
        state.participants = dict(sorted(_renamed(state.participants, numbers).items()))
        self._collect()
        self.ledger.rename(numbers)

    def _check_renamed(self, numbers: Mapping[int, int]) -> None:
        """Raise unless all are members, and every number is free then and given once."""
        state = self._state
        if state.is_open and state.answered:
            allowed = "changed before the first reply of a round"
            raise InputError("number", of="a device", allowed=allowed, got="after it")
        taken = set(state.samples) - set(numbers)
        for device, number in numbers.items():
            self._member(device)
            check_number(number)
            if number in taken:
                allowed = "that of no other member"
                raise InputError("number", of="a device", allowed=allowed, got=number)
            taken.add(number)

    def is_member(self, device: int) -> bool:
        """Whether a device has joined."""
        return device in self._state.samples

    @property
    def members(self) -> tuple[int, ...]:
        """All devices, sorted."""
        return tuple(sorted(self._state.samples))

    @property
    def participants(self) -> tuple[int, ...]:
        """The devices that train in the open round, in order."""
        return self._replies.order

    @property
    def listeners(self) -> tuple[int, ...]:
        """The devices that hear the broadcast of the open round."""
        return self.members if self.listen == "all" else self.participants

    # The round

    def open_round(self, participants: Iterable[int] | None = None) -> None:
        """Line 2: broadcast Q(theta(t) - theta_hat(t-1)), encoded once; in round 0 nothing moves."""
        state = self._state
        if state.is_open:
            allowed = "closed before the next is opened"
            raise InputError(f"round {state.round}", of="Server", allowed=allowed, got="open")
        chosen = set(state.samples if participants is None else participants)
        for device in chosen:
            self._member(device)
        self.ledger.fold(before=state.round)
        if self._has_other_listeners(chosen):
            self._send_model()
        elif state.round >= 0:
            self._send_broadcast()
        state.round += 1
        state.is_open, self._full, self._known = True, (), {}
        self._set_participants(chosen)
        state.answered, state.turn, state.weight = {}, 0, 0
        state.total = np.zeros_like(state.theta)

    def set_participants(self, samples: Mapping[int, int]) -> None:
        """Say who takes part in the open round, and with how many samples, before the first reply.

        For those who learn it from the replies; others say it to `open_round`.
        """
        state = self._state
        if not state.is_open or state.answered:
            allowed = "open and without a reply"
            got = "answered" if state.is_open else "closed"
            raise InputError(f"round {state.round}", of="Server", allowed=allowed, got=got)
        for device, count in samples.items():
            self.join(device, count)
        self._set_participants(samples)

    def _set_participants(self, devices: Iterable[int]) -> None:
        state = self._state
        state.participants = {device: state.samples[device] for device in sorted(devices)}
        state.before = {}
        self._collect()

    def _has_other_listeners(self, participants: Iterable[int]) -> bool:
        """Whether the scheme has to begin anew, because others listen than to the last broadcast."""
        state = self._state
        if self.scheme.membership == "catch-up":
            return False
        before, chosen = state.listened, self.members if self.listen == "all" else participants
        state.listened = tuple(sorted(chosen))
        return state.round >= 0 and state.listened != before

    def _send_model(self) -> None:
        """Begin anew with the exact model, for everybody."""
        state = self._state
        state.estimate, state.link, state.log = (
            state.theta,
            self.scheme.downlink.init(state.theta),
            (),
        )
        self._digest = digest(state.estimate)
        meta = FrameMeta(kind=FrameKind.MODEL, round=state.round + 1, digest=self._digest)
        state.broadcast = frames.pack_raw(state.estimate, meta)

    def _send_broadcast(self) -> None:
        """Encode the broadcast of the next round and move the estimate by it."""
        state, link = self._state, self.scheme.downlink
        number = state.round + 1
        kind = FrameKind.UPDATE if link.incremental else FrameKind.MODEL
        context = SendContext(
            meta=FrameMeta(kind=kind, round=number, digest=self._digest),
            rng=stream(self.seed, purpose="downlink", round=number),
            tensors=self._tensors,
            threads=self._threads,
        )
        frame, sent = link.send(state.theta, state.link, context)
        meta = read_header(frame, len(state.theta)).meta
        quantized = link.quantized(state.theta, state.link, replace(context, meta=meta))
        estimate = sent.estimate if link.incremental else link.receive(frame, state.link)[0]
        if quantized is not None:
            self.ledger.eps[number] = eps(quantized)
            lost = sent.memory if len(sent.memory) else state.theta - estimate
            self.measured = measure(quantized, lost)
        if link.incremental:
            newest = Broadcast(round=number, digest=self._digest, frame=frame)
            state.log = self._trim((*state.log, newest))
        self._digest = digest(estimate)
        state.broadcast = frame if link.incremental else frames.with_digest(frame, self._digest)
        state.estimate, state.link = estimate, sent

    def _trim(self, log: tuple[Broadcast, ...]) -> tuple[Broadcast, ...]:
        """The newest broadcasts that fit the limit."""
        size = 0
        for kept, broadcast in enumerate(reversed(log)):
            size += len(broadcast.frame)
            if size > self._limit and kept > 0:
                return log[len(log) - kept :]
        return log

    def frames_for(self, device: int, held: EstimateVersion | None = None) -> Delivery:
        """What the device needs to hold the estimate of this round.

        held: what the device says that it holds; by default what it was handed last
        """
        self._member(device)
        state = self._state
        if state.round < 0:
            raise InputError("round", of="Server", allowed="opened first", got="none")
        known = state.held.get(device, NOTHING) if held is None else held
        chosen, kind = self._choose(known)
        for frame in chosen:
            self.ledger.add(
                entry_of(
                    frame,
                    self._facts(frame),
                    round=state.round,
                    direction="down",
                    device=device,
                    kind=kind,
                )
            )
        state.held[device] = self.held
        return Delivery(frames=chosen, accepted=state.accepted.get(device, -1))

    def _choose(self, known: EstimateVersion) -> tuple[tuple[bytes, ...], Kind]:
        """The frames for a device that holds `known`, and what they are to it."""
        state = self._state
        if known == self.held:
            return (), "update"
        anew = bool(state.broadcast) and self.scheme.downlink.incremental and not state.log
        late: Kind = "initial" if known == NOTHING or anew else "catch-up"
        if not self.scheme.downlink.incremental and state.broadcast:
            in_time = known != NOTHING and known.round == state.round - 1
            return (state.broadcast,), "update" if in_time else late
        chain = self._chain(known)
        kind: Kind = "update" if len(chain) == 1 and known != NOTHING else late
        if not chain or sum(map(len, chain)) >= self._whole:
            return self._model(), kind
        return chain, kind

    def _chain(self, known: EstimateVersion) -> tuple[bytes, ...]:
        """The updates from `known` to the estimate, or none if the log does not join them."""
        missing = [broadcast for broadcast in self._state.log if broadcast.round > known.round]
        joins = missing and missing[0].round == known.round + 1
        if not joins or missing[0].digest != known.digest:
            return ()
        return tuple(broadcast.frame for broadcast in missing)

    def _model(self) -> tuple[bytes, ...]:
        """The exact estimate, encoded once a round, and before it its trend, if it has one."""
        if not self._full:
            meta = FrameMeta(kind=FrameKind.MODEL, round=self.round, digest=self._digest)
            self._full = (frames.pack_raw(self.estimate, meta),)
            trend = self._state.link.trend
            if len(trend) and self.round > 0:
                before = replace(meta, kind=FrameKind.TREND)
                self._full = (frames.pack_raw(trend, before), *self._full)
        return self._full

    def accept(self, device: int, reply: bytes) -> None:
        """Lines 4 and 5: take a reply, or raise Refused with the reason.

        A refusal changes nothing but the notes of it: in the ledger, among the norms if it is one by its
        norm, that a device which is elsewhere is to be sent the full model, and that one whose reply is too
        large is to forget it.
        In the first round a reply may also be refused later, when there are others to compare it with.
        """
        self._replies.accept(device, reply)

    def accept_and_decode(self, device: int, reply: bytes) -> Vector:
        """Take a reply as `accept` does, but give it away: something else makes the next model of it.

        That model comes back by `replace_theta` once the round is closed.
        """
        return self._replies.accept_and_decode(device, reply)

    def compare(self, replies: Mapping[int, bytes]) -> None:
        """Look at all replies of a first round before the first is taken, if they are in hand.

        Then there is something to compare with, and `accept` and `read` refuse at once; in later rounds
        there is, and nothing is done.
        """
        self._replies.compare(replies)

    def reply_meta(self, device: int) -> FrameMeta:
        """What the reply of a device must say of itself in this round."""
        return self._replies.meta(device)

    def _collect(self) -> None:
        """Take the replies of those who take part from now on."""
        self._replies = Aggregation(
            self._state,
            self.ledger,
            self.rule,
            digest=self._digest,
            training=self.training,
            threads=self._threads,
        )

    def close_round(self) -> None:
        """Line 6: theta(t+1) = theta_hat(t) + step(sum_m B_m / B reply_m)."""
        state = self._state
        if not state.is_open:
            raise InputError(
                "round", of="Server", allowed="open", got=f"round {state.round}, closed"
            )
        self._replies.finish()
        self._step()
        state.norms.next_round()
        state.is_open, state.participants = False, {}
        self._collect()

    def _step(self) -> None:
        """Move theta by the sum, or refuse all replies where that would not give a finite model."""
        state, optimizer = self._state, self.scheme.optimizer
        base = state.theta = self.aggregation_base
        if not state.weight:  # without a reply there is nothing to step by, not even with momentum
            return
        with np.errstate(over="ignore", invalid="ignore"):  # that is looked at below
            update = state.total / np.float32(state.weight)
            step, moments = optimizer.step(update, state.moments)
            theta = base + step
        if is_within(theta) and is_sound(moments):
            state.theta, state.moments = theta, moments
            return
        state.moments = optimizer.init(len(theta))  # or the next round might fail by them again
        detail = f"with the replies of round {state.round} the model would not be finite"
        self._replies.take_back("overflow", detail)

    def replace_theta(self, theta: object) -> None:
        """Go on from another model, between rounds: for those who aggregate by themselves."""
        state, fresh = self._state, as_vector(theta).copy()
        if state.is_open:
            raise InputError("theta", of="Server", allowed="replaced between rounds", got="in one")
        if len(fresh) != len(state.theta) or not is_within(fresh):
            allowed = f"{len(state.theta)} finite entries within {LARGEST:.3g}"
            got = f"{len(fresh)}, of them {int(np.isfinite(fresh).sum())} finite"
            raise InputError("theta", of="Server", allowed=allowed, got=got)
        state.theta = fresh

    # Helpers

    def _facts(self, frame: bytes) -> Facts:
        """The facts of a frame that many devices get, read once a round."""
        if frame not in self._known:
            self._known[frame] = facts(frame)
        return self._known[frame]

    def _member(self, device: int) -> None:
        if device not in self._state.samples:
            allowed = "that of a member"
            raise InputError("number", of="a device", allowed=allowed, got=device)


def _renamed(noted: dict[int, T], numbers: Mapping[int, int]) -> dict[int, T]:
    """What was noted of devices, under their other numbers; it replaces what was left under those."""
    moved = {number: noted[device] for device, number in numbers.items() if device in noted}
    return {device: fact for device, fact in noted.items() if device not in numbers} | moved
