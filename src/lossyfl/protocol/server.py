"""The server: frames in, frames out, no sockets and no clock.

    open_round      line 2 of Algorithm 1: encode the broadcast once, move the estimate by it
    frames_for      what one device needs to hold that estimate
    accept          lines 4 and 5: a reply, or a refusal that changes nothing
    close_round     line 6: theta(t+1) = theta_hat(t) + sum_m B_m / B reply_m

`membership` knows who belongs to the training, `broadcaster` holds theta_hat and the frames that lead to it,
`aggregation` checks replies and adds them in the order of device numbers. Memory is O(d) plus the encoded
replies of one round, none of them longer than raw floats. Every refusal is noted in the ledger. A model that
is not finite is never kept: a round whose sum would make one is refused as a whole.

What only a framework's adapter needs is in `adapter_server`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lossyfl.errors import InputError
from lossyfl.protocol.aggregation import Aggregation, Collected
from lossyfl.protocol.arguments import Listen, check_arguments
from lossyfl.protocol.broadcaster import Broadcaster
from lossyfl.protocol.digests import NOTHING, EstimateVersion, training_id
from lossyfl.protocol.ledger import Ledger, Refusals, Sink
from lossyfl.protocol.measures import Measured, measure
from lossyfl.protocol.membership import Membership
from lossyfl.protocol.replies import Expected
from lossyfl.protocol.rules import Norms, ReplyRule, is_within
from lossyfl.protocol.scheme import Scheme
from lossyfl.protocol.state_checks import check_server, is_sound
from lossyfl.protocol.states import Delivery, RefusalCount, ServerState
from lossyfl.theory import eps
from lossyfl.types import Shape, Vector, read_only
from lossyfl.wire.header import FrameMeta

DEFAULT_RULE = ReplyRule()


class Server:
    """The server's side of a scheme.

    theta:     theta(0), any vector that `encode` takes
    samples:   how many samples each device has: its weight
    listen:    who hears a broadcast: "all" members, as in the paper, or only the "participants"
    log_bytes: of recent broadcasts to keep; None for those of the full model: no longer catch-up is sent
    tensors:   shapes or lengths of the model's tensors
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
        tensors: Sequence[Shape] | None = None,
        threads: int = 1,
        training: str = "",
        rule: ReplyRule = DEFAULT_RULE,
        sink: Sink | None = None,
    ) -> None:
        start = check_arguments(theta, scheme, listen, log_bytes, tensors, seed, threads)
        self.scheme, self.seed, self.listen, self.rule = scheme, seed, listen, rule
        self.training = training_id(seed, training)
        self._threads, self._sink = threads, sink
        self._broadcaster = Broadcaster(
            scheme.downlink, seed=seed, tensors=tensors, threads=threads, log_bytes=log_bytes
        )
        self._theta = self._broadcaster.start(start, scheme.first)
        self._moments = scheme.optimizer.init(len(start))
        self._members = Membership()
        self.ledger = Ledger(sink=sink)
        self.measured: Measured | None = None
        self._begin_aggregation(Collected.none({}, len(start)), Norms(), is_open=False)
        for device, count in samples.items():
            self.join(device, count)

    def state(self) -> ServerState:
        """Everything that the server remembers, at any moment."""
        ledger, members, broadcaster = self.ledger, self._members, self._broadcaster
        collected = self._aggregation.collected
        counts = ledger.refusals.counts.items()
        return ServerState(
            round=self.round,
            is_open=self.is_open,
            theta=self._theta,
            estimate=broadcaster.estimate,
            link=broadcaster.saved(),
            moments=self._moments,
            samples=dict(members.samples),
            held=dict(members.held),
            accepted=dict(members.accepted),
            broadcast=broadcaster.newest,
            log=broadcaster.log.recent,
            participants=dict(collected.participants),
            answered=dict(collected.answered),
            turn=collected.turn,
            waiting=dict(collected.waiting),
            total=collected.total.copy(),
            weight=collected.weight,
            entries=tuple(ledger.entries),
            eps=dict(ledger.eps),
            before=dict(collected.before),
            norms=self._aggregation.norms.copied(),
            refusals=tuple(ledger.refusals.recent),
            refused=tuple(RefusalCount(reason=reason, count=count) for reason, count in counts),
            scheme=self.scheme.spec,
            summary=ledger.summary,
            listened=members.listened,
        )

    def restore(self, state: ServerState) -> None:
        """Go on from a saved state; it must be of this scheme."""
        self.scheme.check_state(state.scheme, of="Server")
        link = self._broadcaster.downlink_state(state.estimate, state.link)
        if link is None:
            allowed = f"of the scheme {self.scheme.name}"
            raise InputError("state", of="Server", allowed=allowed, got="another's")
        check_server(state, self.scheme.optimizer.init(len(state.theta)))
        self._theta, self._moments = state.theta, state.moments
        self._members = Membership(state.samples, state.held, state.accepted, state.listened)
        self._broadcaster.restore(link, state.round, state.broadcast, state.log)
        known = state.entries, state.eps.items()
        self.ledger = Ledger(*known, summary=state.summary, sink=self._sink)
        counts = ((each.reason, each.count) for each in state.refused)
        self.ledger.refusals = Refusals(state.refusals, counts)
        self.measured = None
        self._begin_aggregation(Collected.of(state), state.norms.copied(), is_open=state.is_open)

    @property
    def round(self) -> int:
        """The round of the estimate; -1 before the first is opened."""
        return self._broadcaster.round

    @property
    def is_open(self) -> bool:
        """Whether a round is open."""
        return self._aggregation.is_open

    @property
    def theta(self) -> Vector:
        """The server's model, read-only."""
        return read_only(self._theta)

    @property
    def estimate(self) -> Vector:
        """theta_hat, what every device in sync holds; read-only."""
        return read_only(self._broadcaster.estimate)

    @property
    def broadcast(self) -> bytes:
        """The newest broadcast frame, for all who hold the estimate before it; empty in round 0."""
        return self._broadcaster.newest

    @property
    def held(self) -> EstimateVersion:
        """What a device in sync holds."""
        return self._broadcaster.held

    def join(self, device: int, samples: int) -> None:
        """Make a device a member, with its number of samples."""
        self._members.join(device, samples)

    def leave(self, device: int) -> None:
        """Forget a device, but for which of its replies was last; in an open round an accepted one stays."""
        self._members.leave(device)

    @property
    def members(self) -> tuple[int, ...]:
        """All devices, sorted."""
        return self._members.numbers

    @property
    def participants(self) -> tuple[int, ...]:
        """The devices that train in the open round, in order."""
        return self._aggregation.order

    @property
    def listeners(self) -> tuple[int, ...]:
        """The devices that hear the broadcast of the open round."""
        return self.members if self.listen == "all" else self.participants

    def version_of(self, device: int) -> EstimateVersion:
        """What a member was handed last; NOTHING if it was handed nothing."""
        return self._members.held.get(device, NOTHING)

    # The round

    def open_round(self, participants: Iterable[int] | None = None) -> None:
        """Line 2: broadcast Q(theta(t) - theta_hat(t-1)), encoded once; in round 0 nothing moves."""
        if self.is_open:
            allowed = "closed before the next is opened"
            raise InputError(f"round {self.round}", of="Server", allowed=allowed, got="open")
        chosen = set(self.members if participants is None else participants)
        self._members.check(*chosen)
        self.ledger.fold(before=self.round)
        if self._has_other_listeners(chosen):
            self._broadcaster.send_model(self._theta)
        elif self.round >= 0:
            self._send_broadcast()
        self._broadcaster.open_round()
        collected = Collected.none(self._members.weights(chosen), len(self._theta))
        self._begin_aggregation(collected, self._aggregation.norms, is_open=True)

    def _has_other_listeners(self, participants: Iterable[int]) -> bool:
        """Whether the scheme has to begin anew, because others listen than to the last broadcast."""
        if self.scheme.membership == "catch-up":
            return False
        changed = self._members.hear(self.members if self.listen == "all" else participants)
        return self.round >= 0 and changed

    def _send_broadcast(self) -> None:
        """Move the estimate by the broadcast of the next round, and note what was quantized."""
        number = self.round + 1
        sent = self._broadcaster.send(self._theta)
        if self.scheme.downlink.compressor is not None:
            source = sent.source()
            self.ledger.eps[number] = eps(source)
            self.measured = measure(source, sent.lost)

    def frames_for(self, device: int, held: EstimateVersion | None = None) -> Delivery:
        """What the device needs to hold the estimate of this round.

        held: what the device says that it holds; by default what it was handed last
        """
        self._members.check(device)
        if self.round < 0:
            raise InputError("round", of="Server", allowed="opened first", got="none")
        known = self.version_of(device) if held is None else held
        chosen, kind = self._broadcaster.frames_for(known)
        for frame in chosen:
            facts = self._broadcaster.facts(frame)
            self.ledger.hand_over(frame, facts, "down", self.round, device, kind)
        self._members.held[device] = self.held
        return Delivery(frames=chosen, accepted=self._members.accepted.get(device, -1))

    def accept(self, device: int, reply: bytes) -> None:
        """Lines 4 and 5: take a reply, or raise Refused with the reason.

        A refusal changes nothing but the notes of it: in the ledger, among the norms if it is one by its
        norm, that a device which is elsewhere is to be sent the full model, and that one whose reply is too
        large is to forget it.
        In the first round a reply may also be refused later, when there are others to compare it with.
        """
        self._aggregation.accept(device, reply)

    def reply_meta(self, device: int) -> FrameMeta:
        """What the reply of a device must say of itself in this round."""
        return self._aggregation.meta(device)

    def _begin_aggregation(self, collected: Collected, norms: Norms, *, is_open: bool) -> None:
        """From now on `accept` adds to these replies, or finds all late if the round is closed."""
        expected = Expected(
            entries=len(self._theta),
            round=self.round,
            digest=self.held.digest,
            training=self.training,
        )
        tools = self._members, norms, self.ledger, self.rule, expected
        self._aggregation = Aggregation(collected, *tools, is_open=is_open, threads=self._threads)

    def close_round(self) -> None:
        """Line 6: theta(t+1) = theta_hat(t) + step(sum_m B_m / B reply_m)."""
        if not self.is_open:
            got = f"round {self.round}, closed"
            raise InputError("round", of="Server", allowed="open", got=got)
        self._aggregation.close()
        self._step()
        collected, norms = self._aggregation.collected, self._aggregation.norms
        norms.next_round()
        self._begin_aggregation(replace(collected, participants={}), norms, is_open=False)

    def _step(self) -> None:
        """Move theta by the sum, or refuse all replies where that would not give a finite model."""
        collected, optimizer = self._aggregation.collected, self.scheme.optimizer
        base = self._theta = self._base
        if not collected.weight:  # no reply: nothing to step by, not even with momentum
            return
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            update = collected.total / np.float32(collected.weight)
            step, moments = optimizer.step(update, self._moments)
            theta = base + step
        if is_within(theta) and is_sound(moments):
            self._theta, self._moments = theta, moments
            return
        self._moments = optimizer.init(len(base))  # or the next round might fail by them again
        detail = f"with the replies of round {self.round} the model would not be finite"
        self._aggregation.take_back("overflow", detail)

    @property
    def _base(self) -> Vector:
        """What replies are added to: the estimate, or theta where the scheme preserves it."""
        return self.estimate if self.scheme.server_model == "estimate" else self.theta
