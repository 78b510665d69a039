"""The replies of a round: each one checked, judged by its norm, and added in the order of devices.

At once when all before have answered, else when they have or when the round closes; until then replies wait
as they came, encoded. So the sum is the same to the bit whatever the order of arrival. What a reply may be
is in `replies` and `rules`. In the first round there is nothing to compare a norm with but the others of that
round: there replies wait until all are in.
"""

import math
from collections.abc import Mapping

import numpy as np

from lossyfl.errors import Refused
from lossyfl.protocol.ledger import Ledger, entry_of
from lossyfl.protocol.replies import Expected, open_reply
from lossyfl.protocol.rules import ReplyRule, is_mostly_zero, usual
from lossyfl.protocol.states import ServerState
from lossyfl.types import Vector
from lossyfl.wire.adding import Addend, open_addend
from lossyfl.wire.codec import decode
from lossyfl.wire.header import FrameMeta, Kind

ELSEWHERE = ("ahead", "diverged")
"""Refusals that show that the device holds another estimate than the server has thought."""
DROPPED = ("huge", "outlier")
"""Refusals for what a reply says: its device is told to forget it, or it would come with every next one."""


class Aggregation:
    """The replies of the participants that a server's state names; all that it learns is in that state.

    digest:   of the estimate that devices train from
    training: its id
    """

    def __init__(
        self,
        state: ServerState,
        ledger: Ledger,
        rule: ReplyRule,
        *,
        digest: int,
        training: int,
        threads: int,
    ) -> None:
        self._state, self._ledger, self._rule, self._threads = state, ledger, rule, threads
        self.order = tuple(state.participants)
        self._is_quiet = False  # whether this is a first round in which most replies are zeros
        self._expected = Expected(
            entries=len(state.theta),
            round=state.round,
            digest=digest,
            training=training,
            weight=sum(state.participants.values()),
        )

    def meta(self, device: int) -> FrameMeta:
        """What the reply of a device must say of itself."""
        digest = self._expected.of(device)
        return FrameMeta(kind=Kind.REPLY, round=self._expected.round, digest=digest)

    def accept(self, device: int, reply: bytes) -> None:
        """Add a reply, now or when its turn comes."""
        addend = self._take(device, reply)
        state = self._state
        if self.order[state.turn : state.turn + 1] == (device,) and not self._is_undecided:
            self._add(device, addend)
        else:
            state.waiting[device] = bytes(reply)
        if self._is_undecided and len(state.answered) == len(self.order):
            self._decide()
        self._add_waiting()

    def accept_and_decode(self, device: int, reply: bytes) -> Vector:
        """A reply that something else will aggregate; clipped, if it is."""
        self._take(device, reply)
        vector = decode(reply, max_entries=len(self._state.theta), threads=self._threads)
        scale = self._scale(device)
        return vector if scale == 1 else vector * np.float32(scale)

    def compare(self, replies: Mapping[int, bytes]) -> None:
        """Find the usual norm of a first round from all replies, before the first is taken."""
        if not self._state.is_open or not self._is_undecided:
            return
        norms: list[float] = []
        for device in sorted(set(replies) & set(self.order)):
            try:
                norms.append(self._norm(self._open(device, replies[device])))
            except Refused:
                continue  # `accept` will say so, and note it
        self._compare(norms)

    def _take(self, device: int, reply: bytes) -> Addend:
        """Check a reply and note it, or note and raise its refusal."""
        state = self._state
        try:
            self._check_sender(device)
            addend = self._open(device, reply)
            if self._rule.norm != "off":
                state.norms.now[device] = self._norm(addend)
                self._judge(device)
        except Refused as refused:
            if refused.reason in ELSEWHERE:
                state.held.pop(device, None)
            if refused.reason in DROPPED:
                state.accepted[device] = state.round
            self._ledger.refusals.note(state.round, device, refused.reason, refused.detail)
            raise
        self._ledger.add(
            entry_of(
                reply,
                addend.facts,
                round=state.round,
                direction="up",
                device=device,
                kind="reply",
            )
        )
        state.before[device] = state.accepted.get(device, -1)
        state.accepted[device], state.answered[device] = state.round, True
        return addend

    def _check_sender(self, device: int) -> None:
        """Raise Refused unless a reply of the device is wanted now."""
        state = self._state
        if device not in state.samples:
            raise Refused(device, "unknown", "the device is not a member")
        if not state.is_open:
            raise Refused(device, "late", f"round {state.round} is closed")
        if state.accepted.get(device) == state.round:
            raise Refused(device, "doubled", f"there is one of round {state.round}")
        if device not in state.participants:
            raise Refused(device, "uncalled", f"the device takes no part in round {state.round}")

    def _open(self, device: int, reply: bytes) -> Addend:
        return open_reply(device, reply, self._expected, others=self.order, threads=self._threads)

    # Norms

    @property
    def _is_undecided(self) -> bool:
        """Whether there is nothing yet to compare norms with."""
        return not (self._rule.norm == "off" or self._state.norms.reference or self._is_quiet)

    def _compare(self, norms: list[float]) -> None:
        """Find the usual norm of a first round; there is none where most replies say nothing."""
        self._is_quiet = is_mostly_zero(norms)
        self._state.norms.reference = 0.0 if self._is_quiet else usual(norms)

    def _norm(self, addend: Addend) -> float:
        return math.sqrt(addend.terms.energy(len(self._state.theta)))

    def _judge(self, device: int) -> None:
        """Raise Refused if the norm of a reply is beyond the rule, or note it where the rule says so."""
        norms, rule = self._state.norms, self._rule
        norm = norms.now.get(device, 0.0)
        if norm <= (0.0 if self._is_quiet else rule.bound(norms.reference)):
            return
        said = f"its norm of {norm:.3g} is {norm / (norms.reference or 1):.3g} times the usual one"
        if self._is_quiet:
            norms.now[device] = 0.0  # or a few would decide what is usual from now on
            said = f"its norm is {norm:.3g}, where most replies of a first round are zeros"
        if rule.norm == "refuse" or (rule.norm == "clip" and self._is_quiet):
            raise Refused(device, "outlier", said)
        reason = "clipped" if rule.norm == "clip" else "warned"
        self._ledger.refusals.note(self._state.round, device, reason, said)

    def _scale(self, device: int) -> float:
        """What a reply is multiplied by: 1, but where it is clipped."""
        norms = self._state.norms
        norm, bound = norms.now.get(device, 0.0), self._rule.bound(norms.reference)
        return 1.0 if self._rule.norm != "clip" or norm <= bound else bound / norm

    def _decide(self) -> None:
        """Find the usual norm of a first round from all replies, and judge them."""
        norms = self._state.norms
        self._compare([norms.now.get(device, 0.0) for device in self._state.answered])
        for device in sorted(self._state.waiting):
            try:
                self._judge(device)
            except Refused as refused:
                del self._state.waiting[device]
                self._undo(device, refused.reason, refused.detail)

    def _undo(self, device: int, reason: str, detail: str) -> None:
        """Refuse a reply that had been taken."""
        state = self._state
        before = state.before.pop(device, -1)
        if reason not in DROPPED:
            state.accepted[device] = before
        del state.answered[device]
        self._ledger.take_back(state.round, device)
        self._ledger.refusals.note(state.round, device, reason, detail)

    def finish(self) -> None:
        """Add what still waits: the round closes."""
        if self._is_undecided:
            self._decide()
        for device in sorted(self._state.waiting):
            self._add_waited(device)

    def take_back(self, reason: str, detail: str) -> None:
        """Refuse all replies that were accepted."""
        for device in sorted(self._state.before):
            self._undo(device, reason, detail)

    # The sum

    def _add(self, device: int, addend: Addend) -> None:
        """Add a reply to the sum; it is its turn."""
        state = self._state
        weight = state.participants[device]
        addend.terms.add_to(state.total, weight * self._scale(device))
        state.weight += weight
        state.turn += 1

    def _add_waiting(self) -> None:
        """Add all waiting replies whose turn has come."""
        state, order = self._state, self.order
        if self._is_undecided:
            return
        while state.turn < len(order):
            device = order[state.turn]
            if device in state.waiting:
                self._add_waited(device)
            elif device not in state.answered and state.accepted.get(device) == state.round:
                state.turn += 1  # it was refused for what it says, and has no second one
            else:
                break

    def _add_waited(self, device: int) -> None:
        reply = self._state.waiting.pop(device)
        entries = len(self._state.theta)
        self._add(device, open_addend(reply, max_entries=entries, threads=self._threads))
