"""The replies of a round: each one checked, judged by its norm, and added in the order of devices.

At once when all before have answered, else when they have or when the round closes; until then replies wait
as they came, encoded. So the sum is the same to the bit whatever the order of arrival. What a reply may be
is in `replies` and `rules`. In the first round there is nothing to compare a norm with but the others of that
round: there replies wait until all are in.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lossyfl.errors import Refused
from lossyfl.protocol.ledger import Ledger
from lossyfl.protocol.membership import Membership
from lossyfl.protocol.replies import Expected, open_reply
from lossyfl.protocol.rules import Norms, ReplyRule, is_mostly_zero, usual
from lossyfl.protocol.states import ServerState
from lossyfl.types import Vector
from lossyfl.wire.adding import Addend, open_addend
from lossyfl.wire.codec import decode
from lossyfl.wire.header import FrameMeta, Kind

ELSEWHERE = ("ahead", "diverged")
"""Refusals that show that the device holds another estimate than the server has thought."""
DROPPED = ("huge", "outlier")
"""Refusals for what a reply says: its device is told to forget it, or it would come with every next one."""


@dataclass(slots=True, kw_only=True)
class Collected:
    """What has come of a round's replies so far.

    participants: of the round, in order, with their B_m
    answered:     those of them whose reply was accepted, also if they have left since
    before:       of those, the round that was accepted before
    turn:         how many of them have been added, or passed over at the end
    waiting:      replies whose turn has not come, encoded
    total:        sum of B_m times reply, so far
    weight:       sum of B_m, so far
    """

    participants: dict[int, int]
    answered: dict[int, bool]
    before: dict[int, int]
    turn: int
    waiting: dict[int, bytes]
    total: Vector
    weight: int

    @classmethod
    def none(cls, participants: dict[int, int], entries: int) -> "Collected":
        """A round of these participants, none of whom has replied."""
        total = np.zeros(entries, dtype=np.float32)
        return cls(
            participants=participants,
            answered={},
            before={},
            turn=0,
            waiting={},
            total=total,
            weight=0,
        )

    @classmethod
    def of(cls, state: ServerState) -> "Collected":
        """As it was saved."""
        return cls(
            participants=dict(state.participants),
            answered=dict(state.answered),
            before=dict(state.before),
            turn=state.turn,
            waiting=dict(state.waiting),
            total=state.total.copy(),
            weight=state.weight,
        )


class Aggregation:
    """The replies of one round; of a round that is closed all are late.

    members:  who may answer, and the last round of which each one's reply was accepted
    norms:    of replies, now and before
    expected: what all replies of the round have in common
    """

    def __init__(
        self,
        collected: Collected,
        members: Membership,
        norms: Norms,
        ledger: Ledger,
        rule: ReplyRule,
        expected: Expected,
        *,
        is_open: bool,
        threads: int,
    ) -> None:
        self.collected, self.norms = collected, norms
        self._members, self._ledger, self._rule, self._threads = members, ledger, rule, threads
        self._expected, self.is_open = expected, is_open
        self._is_quiet = False  # whether this is a first round in which most replies are zeros
        self._expect(collected.participants)

    def _expect(self, participants: dict[int, int]) -> None:
        """Expect replies of these devices, with their weights."""
        self.collected.participants, self.order = participants, tuple(participants)
        self._expected = replace(self._expected, weight=sum(participants.values()))

    def set_participants(self, participants: dict[int, int]) -> None:
        """Expect replies of others than before; none has come yet."""
        self._expect(participants)
        self.collected.before = {}
        self._is_quiet = False

    def close(self) -> None:
        """Add what still waits; later replies are late."""
        if self._is_undecided:
            self._decide()
        for device in sorted(self.collected.waiting):
            self._add_waited(device)

    def meta(self, device: int) -> FrameMeta:
        """What the reply of a device must say of itself."""
        digest = self._expected.digest_for(device)
        return FrameMeta(kind=Kind.REPLY, round=self._expected.round, digest=digest)

    def accept(self, device: int, reply: bytes) -> None:
        """Add a reply, now or when its turn comes."""
        addend = self._take(device, reply)
        state = self.collected
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
        vector = decode(reply, max_entries=self._expected.entries, threads=self._threads)
        scale = self._scale(device)
        return vector if scale == 1 else vector * np.float32(scale)

    def compare(self, replies: Mapping[int, bytes]) -> None:
        """Find the usual norm of a first round from all replies, before the first is taken."""
        if not self.is_open or not self._is_undecided:
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
        members, number = self._members, self._expected.round
        try:
            self._check_sender(device)
            addend = self._open(device, reply)
            if self._rule.norm != "off":
                self.norms.now[device] = self._norm(addend)
                self._judge(device)
        except Refused as refused:
            if refused.reason in ELSEWHERE:
                members.held.pop(device, None)
            if refused.reason in DROPPED:
                members.accepted[device] = number
            self._ledger.refusals.note(number, device, refused.reason, refused.detail)
            raise
        self._ledger.hand_over(reply, addend.facts, "up", number, device, "reply")
        self.collected.before[device] = members.accepted.get(device, -1)
        members.accepted[device], self.collected.answered[device] = number, True
        return addend

    def _check_sender(self, device: int) -> None:
        """Raise Refused unless a reply of the device is wanted now."""
        number = self._expected.round
        if device not in self._members:
            raise Refused(device, "unknown", "the device is not a member")
        if not self.is_open:
            raise Refused(device, "late", f"round {number} is closed")
        if self._members.accepted.get(device) == number:
            raise Refused(device, "doubled", f"there is one of round {number}")
        if device not in self.collected.participants:
            raise Refused(device, "uncalled", f"the device takes no part in round {number}")

    def _open(self, device: int, reply: bytes) -> Addend:
        return open_reply(device, reply, self._expected, others=self.order, threads=self._threads)

    # Norms

    @property
    def _is_undecided(self) -> bool:
        """Whether there is nothing yet to compare norms with."""
        return not (self._rule.norm == "off" or self.norms.reference or self._is_quiet)

    def _compare(self, norms: list[float]) -> None:
        """Find the usual norm of a first round; there is none where most replies say nothing."""
        self._is_quiet = is_mostly_zero(norms)
        self.norms.reference = 0.0 if self._is_quiet else usual(norms)

    def _norm(self, addend: Addend) -> float:
        return math.sqrt(addend.terms.energy(self._expected.entries))

    def _judge(self, device: int) -> None:
        """Raise Refused if the norm of a reply is beyond the rule, or note it where the rule says so."""
        norms, rule = self.norms, self._rule
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
        self._ledger.refusals.note(self._expected.round, device, reason, said)

    def _scale(self, device: int) -> float:
        """What a reply is multiplied by: 1, but where it is clipped."""
        norms = self.norms
        norm, bound = norms.now.get(device, 0.0), self._rule.bound(norms.reference)
        return 1.0 if self._rule.norm != "clip" or norm <= bound else bound / norm

    def _decide(self) -> None:
        """Find the usual norm of a first round from all replies, and judge them."""
        norms = self.norms
        self._compare([norms.now.get(device, 0.0) for device in self.collected.answered])
        for device in sorted(self.collected.waiting):
            try:
                self._judge(device)
            except Refused as refused:
                del self.collected.waiting[device]
                self._undo(device, refused.reason, refused.detail)

    def _undo(self, device: int, reason: str, detail: str) -> None:
        """Refuse a reply that had been taken."""
        number = self._expected.round
        before = self.collected.before.pop(device, -1)
        if reason not in DROPPED:
            self._members.accepted[device] = before
        del self.collected.answered[device]
        self._ledger.take_back(number, device)
        self._ledger.refusals.note(number, device, reason, detail)

    def take_back(self, reason: str, detail: str) -> None:
        """Refuse all replies that were accepted."""
        for device in sorted(self.collected.before):
            self._undo(device, reason, detail)

    # The sum

    def _add(self, device: int, addend: Addend) -> None:
        """Add a reply to the sum; it is its turn."""
        state = self.collected
        weight = state.participants[device]
        addend.terms.add_to(state.total, weight * self._scale(device))
        state.weight += weight
        state.turn += 1

    def _add_waiting(self) -> None:
        """Add all waiting replies whose turn has come."""
        state, order = self.collected, self.order
        if self._is_undecided:
            return
        while state.turn < len(order):
            device = order[state.turn]
            if device in state.waiting:
                self._add_waited(device)
            elif (
                device not in state.answered
                and self._members.accepted.get(device) == self._expected.round
            ):
                state.turn += 1  # it was refused for what it says, and has no second one
            else:
                break

    def _add_waited(self, device: int) -> None:
        reply = self.collected.waiting.pop(device)
        entries = self._expected.entries
        self._add(device, open_addend(reply, max_entries=entries, threads=self._threads))
