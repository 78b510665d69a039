"""The server: frames in, frames out, no sockets and no clock.

    open_round      line 2 of Algorithm 1: encode the broadcast once, move the estimate by it
    frames_for      what one device needs to hold that estimate
    accept          lines 4 and 5: a reply, or a refusal that changes nothing
    close_round     line 6: theta(t+1) = theta_hat(t) + sum_m B_m / B reply_m

Round t has the estimate theta_hat(t). An update frame names the round it makes and the digest of
the estimate it applies to; a model frame the round and the digest of the estimate it gives. A device
that holds an older estimate gets the updates it has missed, or the full model where that is shorter
or the log no longer reaches back.

Replies are added in the order of device numbers: at once when all before have answered, else when
they have or when the round closes; until then they wait as they came, encoded. So the sum is the same
to the bit whatever the order of arrival, and memory is O(d) plus the encoded replies of one round.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from lossyfl.codec import decode
from lossyfl.digests import NOTHING, Held, digest
from lossyfl.errors import FrameError, InputError, Refused
from lossyfl.ledger import Direction, Entry, Kind, Ledger
from lossyfl.links import Message
from lossyfl.parallel import useful_threads
from lossyfl.schemes import Scheme
from lossyfl.states import Broadcast, Delivery, ServerState, check_number
from lossyfl.streams import stream
from lossyfl.theory import eps
from lossyfl.types import Vector, read_only
from lossyfl.vectors import as_vector, block_bounds
from lossyfl.wire import frame as frames
from lossyfl.wire.adding import Addend, open_addend
from lossyfl.wire.facts import Facts, facts
from lossyfl.wire.header import Address, read_header
from lossyfl.wire.header import Kind as FrameKind

Listen = Literal["all", "participants"]

MAX_SAMPLES = 1 << 53
LARGEST = float(np.finfo(np.float32).max) / 4
"""What a sum of replies may reach, so that no reply can make the model infinite."""


class Server:
    """The server's side of a scheme.

    theta:     theta(0), any vector that `encode` takes
    samples:   how many samples each device has: its weight
    listen:    who hears a broadcast: "all" members, as in the paper, or only the "participants"
    log_bytes: how much of the recent broadcasts to keep for devices that missed some; by default as
               much as the full model, because a longer catch-up would be longer than that
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
    ) -> None:
        start = as_vector(theta).copy()
        if not np.isfinite(start).all():
            raise InputError("theta", of="Server", allowed="finite", got="NaN or infinity")
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
        self.scheme, self.seed, self.listen = scheme, seed, listen
        self._tensors, self._threads = tensors, threads
        start, log = self._first(start)
        link = scheme.downlink.init(start)
        self._whole = frames.raw_nbytes(len(start) + len(link.drift))
        self._limit = 4 * (len(start) + len(link.drift)) if log_bytes is None else log_bytes
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
        """The first model as devices will hold it, and its frame where it is not exact floats."""
        if self.scheme.first is None:
            return theta, ()
        message = Message(
            address=Address(kind=FrameKind.MODEL, round=0),
            rng=stream(self.seed, purpose="first"),
            tensors=self._tensors,
            threads=self._threads,
        )
        _, frame = self.scheme.first.make(theta, message)
        start = decode(frame, max_entries=len(theta), threads=self._threads)
        frame = frames.with_digest(frame, digest(start))
        return start, (Broadcast(round=0, digest=NOTHING.digest, frame=frame),)

    # State

    def state(self) -> ServerState:
        """Everything that the server remembers, at any moment."""
        return replace(
            self._state.copied(), entries=tuple(self.ledger.entries), eps=dict(self.ledger.eps)
        )

    def restore(self, state: ServerState) -> None:
        """Go on from a saved state; it must be of this scheme."""
        if not self.scheme.downlink.fits(state.link, len(state.estimate)):
            allowed = f"of the scheme {self.scheme.name}"
            raise InputError("state", of="Server", allowed=allowed, got="another's")
        self._state = state.copied()
        self.ledger = Ledger(state.entries, state.eps.items())
        self._digest = digest(state.estimate)
        self._order = tuple(state.participants)
        self._heaviest = sum(state.participants.values())
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
    def base(self) -> Vector:
        """What replies are added to: the estimate, or theta where the scheme preserves it."""
        return self.estimate if self.scheme.server_model == "estimate" else self.theta

    @property
    def broadcast(self) -> bytes:
        """The newest broadcast frame, for all who hold the estimate before it; empty in round 0."""
        return self._state.broadcast

    @property
    def held(self) -> Held:
        """What a device in sync holds."""
        return Held(round=self.round, digest=self._digest)

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
        """Members have other numbers than they were taken for; what was noted of them goes along."""
        state = self._state
        for device, number in numbers.items():
            self._member(device)
            check_number(number)
            state.samples[number] = state.samples.pop(device)
            state.held[number] = state.held.pop(device, NOTHING)
        self.ledger.rename(numbers)

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
        return self._order

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
        if state.round >= 0:
            self._send_broadcast()
        state.round += 1
        state.is_open, self._full, self._known = True, (), {}
        self._seat(chosen)
        state.answered, state.turn, state.weight = {}, 0, 0
        state.total = np.zeros_like(state.theta)

    def seat(self, samples: Mapping[int, int]) -> None:
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
        self._seat(samples)

    def _seat(self, devices: Iterable[int]) -> None:
        state = self._state
        self._order = tuple(sorted(devices))
        state.participants = {device: state.samples[device] for device in self._order}
        self._heaviest = sum(state.participants.values())

    def _send_broadcast(self) -> None:
        """Encode the broadcast of the next round and move the estimate by it."""
        state, link = self._state, self.scheme.downlink
        number = state.round + 1
        kind = FrameKind.UPDATE if link.incremental else FrameKind.MODEL
        message = Message(
            address=Address(kind=kind, round=number, digest=self._digest),
            rng=stream(self.seed, purpose="downlink", round=number),
            tensors=self._tensors,
            threads=self._threads,
        )
        frame, sent = link.send(state.theta, state.link, message)
        address = read_header(frame, len(state.theta)).address
        quantized = link.quantized(state.theta, state.link, replace(message, address=address))
        if quantized is not None:
            self.ledger.eps[number] = eps(quantized)
        estimate = sent.estimate if link.incremental else link.receive(frame, state.link)[0]
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

    def frames_for(self, device: int, held: Held | None = None) -> Delivery:
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
            self._note("down", device, kind, frame, self._facts(frame))
        state.held[device] = self.held
        return Delivery(frames=chosen, accepted=state.accepted.get(device, -1))

    def _choose(self, known: Held) -> tuple[tuple[bytes, ...], Kind]:
        """The frames for a device that holds `known`, and what they are to it."""
        state = self._state
        if known == self.held:
            return (), "update"
        late: Kind = "initial" if known == NOTHING else "catch-up"
        if not self.scheme.downlink.incremental and state.broadcast:
            in_time = known != NOTHING and known.round == state.round - 1
            return (state.broadcast,), "update" if in_time else late
        chain = self._chain(known)
        kind: Kind = "update" if len(chain) == 1 and known != NOTHING else late
        if not chain or sum(map(len, chain)) >= self._whole:
            return self._model(), kind
        return chain, kind

    def _chain(self, known: Held) -> tuple[bytes, ...]:
        """The updates from `known` to the estimate, or none if the log does not join them."""
        missing = [broadcast for broadcast in self._state.log if broadcast.round > known.round]
        joins = missing and missing[0].round == known.round + 1
        if not joins or missing[0].digest != known.digest:
            return ()
        return tuple(broadcast.frame for broadcast in missing)

    def _model(self) -> tuple[bytes, ...]:
        """The exact estimate, encoded once a round, and before it its drift, if it has one."""
        if not self._full:
            address = Address(kind=FrameKind.MODEL, round=self.round, digest=self._digest)
            self._full = (frames.pack_raw(self.estimate, address),)
            drift = self._state.link.drift
            if len(drift) and self.round > 0:
                before = replace(address, kind=FrameKind.DRIFT)
                self._full = (frames.pack_raw(drift, before), *self._full)
        return self._full

    def accept(self, device: int, reply: bytes) -> None:
        """Lines 4 and 5: take a reply, or raise Refused with the reason and change nothing."""
        addend = self._take(device, reply)
        state = self._state
        if self._order[state.turn] == device:
            self._add(device, addend)
            self._add_waiting()
        else:
            state.waiting[device] = bytes(reply)

    def read(self, device: int, reply: bytes) -> Vector:
        """Take a reply as `accept` does, but give it away: something else makes the next model of it.

        That model comes back by `replace_theta` once the round is closed.
        """
        self._take(device, reply)
        return decode(reply, max_entries=len(self.theta), threads=self._threads)

    def _take(self, device: int, reply: bytes) -> Addend:
        """Check a reply and note it, or raise Refused with the reason and change nothing."""
        state = self._state
        if device not in state.samples:
            raise Refused(device, "unknown", "the device is not a member")
        if not state.is_open:
            raise Refused(device, "late", f"round {state.round} is closed")
        if device in state.answered:
            raise Refused(device, "doubled", f"there is one of round {state.round}")
        if device not in state.participants:
            raise Refused(device, "uncalled", f"the device takes no part in round {state.round}")
        addend = self._read_reply(device, reply)
        self._note("up", device, "reply", reply, addend.facts)
        state.accepted[device], state.answered[device] = state.round, True
        return addend

    def _read_reply(self, device: int, reply: bytes) -> Addend:
        """The reply, decoded as far as to be found whole and for this round."""
        entries = len(self.theta)
        try:
            addend = self._open(reply)
        except FrameError as error:
            raise Refused(device, "damaged", str(error)) from error
        header, address = addend.header, addend.header.address
        if address.kind != FrameKind.REPLY or header.entries != entries:
            detail = f"a {address.kind.name.lower()} of {header.entries} entries"
            raise Refused(device, "foreign", f"{detail}, not a reply of {entries}")
        if address.round != self.round:
            raise Refused(device, "late", f"it is for round {address.round}, not {self.round}")
        if address.digest != self._digest:
            raise Refused(device, "diverged", "it was trained from another estimate")
        if not addend.terms.peak * self._heaviest <= LARGEST:  # NaN fails, too
            raise Refused(device, "huge", f"it has entries of {addend.terms.peak:.3g}")
        return addend

    def _open(self, reply: bytes) -> Addend:
        return open_addend(reply, max_entries=len(self.theta), threads=self._threads)

    def _add(self, device: int, addend: Addend) -> None:
        """Add a reply to the sum; it is its turn."""
        state = self._state
        addend.terms.add_to(state.total, state.participants[device])
        state.weight += state.participants[device]
        state.turn += 1

    def _add_waiting(self) -> None:
        """Add all waiting replies whose turn has come."""
        state, order = self._state, self._order
        while state.turn < len(order) and order[state.turn] in state.waiting:
            device = order[state.turn]
            self._add(device, self._open(state.waiting.pop(device)))

    def close_round(self) -> None:
        """Line 6: theta(t+1) = theta_hat(t) + step(sum_m B_m / B reply_m)."""
        state = self._state
        if not state.is_open:
            raise InputError(
                "round", of="Server", allowed="open", got=f"round {state.round}, closed"
            )
        for device in sorted(state.waiting):
            self._add(device, self._open(state.waiting.pop(device)))
        base = state.theta = self.base
        if state.weight:  # without a reply there is nothing to step by, not even with momentum
            update = state.total / np.float32(state.weight)
            step, state.moments = self.scheme.optimizer.step(update, state.moments)
            state.theta = base + step
        state.is_open, state.participants, self._order = False, {}, ()

    def replace_theta(self, theta: object) -> None:
        """Go on from another model, between rounds: for those who aggregate by themselves."""
        state, fresh = self._state, as_vector(theta).copy()
        if state.is_open:
            raise InputError("theta", of="Server", allowed="replaced between rounds", got="in one")
        if len(fresh) != len(state.theta) or not np.isfinite(fresh).all():
            allowed = f"{len(state.theta)} finite entries"
            got = f"{len(fresh)}, of them {int(np.isfinite(fresh).sum())} finite"
            raise InputError("theta", of="Server", allowed=allowed, got=got)
        state.theta = fresh

    # Helpers

    def _facts(self, frame: bytes) -> Facts:
        """The facts of a frame that many devices get, read once a round."""
        if frame not in self._known:
            self._known[frame] = facts(frame)
        return self._known[frame]

    def _note(
        self, direction: Direction, device: int, kind: Kind, frame: bytes, known: Facts
    ) -> None:
        self.ledger.add(
            Entry(
                round=self.round,
                direction=direction,
                device=device,
                kind=kind,
                nbytes=known.nbytes,
                entries=known.entries,
                paper_bits=known.paper_bits,
                entropy_bits=known.entropy_bits,
                frame=int.from_bytes(frame[-4:], "little"),
            )
        )

    def _member(self, device: int) -> None:
        if device not in self._state.samples:
            allowed = "that of a member"
            raise InputError("number", of="a device", allowed=allowed, got=device)
