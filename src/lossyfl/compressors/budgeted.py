"""A budget instead of a parameter: frames of at most so many bytes, as exact as they can be.

    20kB                    a frame
    0.5bit                  an entry
    nmse=0.1                the relative error, at the fewest bytes
    40kB@0/10kB@100         other budgets from some round on
    6MB/300rounds           over a whole run, evenly
    40kB..10kB/300rounds    from one to the other, by the same part each round

What counts is the whole frame. A downlink's budget is for the broadcast of a round, not for the initial model
or for what a device has missed; an uplink's is for one reply.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import cast

from lossyfl.compressors.base import SendContext, packed, quantized
from lossyfl.errors import InputError, OutOfReach
from lossyfl.quantizers.rotated import Rotated
from lossyfl.quantizers.targets import ALLOWED, Target, target
from lossyfl.types import Quantized, Quantizer, Vector
from lossyfl.wire import frame
from lossyfl.wire.header import CHECKSUM, HEADER, Kind
from lossyfl.wire.rotation import padded_length
from lossyfl.wire.tables import write_blocks
from lossyfl.wire.vectors import block_bounds

SMALLEST = 96
"""Shorter frames say next to nothing."""
ADJUSTABLE = ("deadzone", "dithered", "sparse_ternary", "topk")
"""The quantizers of ours whose size can be set."""
ATTEMPTS = 12
FINEST = 1e-5
"""The least error that may be asked for: bins are 0.8 % wide, (1 / 128)^2 / 12 is 5e-6."""
UNUSED = 0.03
"""The part of a budget that may be left over before a finer frame is tried."""
OVERHEAD = HEADER.size + CHECKSUM.size + 8
"""Bytes of a frame that are neither symbols nor tables, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The target of every round: from `rounds[i]` on `targets[i]`, or sliding from the first to the last.

    slide: rounds from the first target to the last, which then stays
    spent: rounds after which nothing is left; 0 for never
    """

    rounds: tuple[int, ...]
    targets: tuple[Target, ...]
    slide: int = 0
    spent: int = 0

    @property
    def is_for_many(self) -> bool:
        """Whether it means something for several frames only."""
        return len(self.targets) > 1 or self.spent > 0

    def check(self, rounds: int, *, of: str) -> None:
        """Raise if nothing would be left before so many rounds are over."""
        if self.spent and rounds > self.spent:
            allowed = f"for as many rounds as there are, at least {rounds}"
            got = f"a budget over {self.spent} rounds"
            raise InputError("budget", of=of, allowed=allowed, got=got)

    def at(self, round: int) -> Target:
        """The target of a round."""
        if not self.slide:
            return self.targets[bisect_right(self.rounds, round) - 1]
        first, last = (cast("float", each.bits or each.rate) for each in self.targets)
        part = min(round / max(self.slide - 1, 1), 1.0)
        value = first * (last / first) ** part
        return Target(bits=value) if self.targets[0].bits else Target(rate=value)


def plan(text: str, *, of: str, first: int = 0) -> Plan:
    """The plan that a text spells.

    first: the first round with a frame, for what is to be spent over a whole run

    >>> plan("40kB@0/10kB@100", of="a link").at(99).bits
    320000.0
    >>> plan("3MB/300rounds", of="a link").at(7).bits
    80000.0
    """
    spread = re.fullmatch(r"(.+)/(\d+)rounds", text)
    example = "40kB..10kB/300rounds" if ".." in text else "6MB/300rounds"
    wrong = InputError("budget", of=of, allowed=f"bytes over rounds, as {example}", got=text)
    if spread is None:
        if ".." in text or re.search(r"/\d*\s*(rounds?)?$", text):
            raise wrong
        return _stepwise(text, of)
    rounds = int(spread[2])
    ends = [target(part, of=of, name="budget") for part in spread[1].split("..")]
    if rounds < 1 or len(ends) > 2 or any(each.nmse for each in ends):
        raise wrong
    if len(ends) == 2:
        if (ends[0].bits is None) != (ends[1].bits is None):
            raise InputError("budget", of=of, allowed="the same unit at both ends", got=text)
        return Plan(rounds=(0,), targets=tuple(ends), slide=rounds)
    if ends[0].bits is None:
        raise wrong
    each = Target(bits=ends[0].bits / max(rounds - first, 1))
    return Plan(rounds=(0,), targets=(each,), spent=rounds)


def _stepwise(text: str, of: str) -> Plan:
    pairs = [step.partition("@")[::2] for step in text.split("/")]
    try:
        rounds = tuple(int(start or 0) for _, start in pairs)
    except ValueError:
        raise InputError("budget", of=of, allowed=ALLOWED, got=text) from None
    if rounds[0] != 0 or list(rounds) != sorted(set(rounds)):
        allowed = "rounds that rise from 0, as 40kB@0/10kB@100"
        raise InputError("budget", of=of, allowed=allowed, got=text)
    targets = tuple(target(value, of=of, name="budget") for value, _ in pairs)
    return Plan(rounds=rounds, targets=targets)


@dataclass(slots=True, kw_only=True)
class _Search:
    """The room for symbols and tables that fills a frame: entropies tell it nearly, attempts the rest.

    room: the one to try
    low:  the largest that led to a frame within the budget, `best`
    high: the smallest that led beyond it
    """

    most: int
    room: int
    low: int = 0
    high: int | None = None
    best: tuple[Quantized, bytes] | None = None

    @property
    def is_over(self) -> bool:
        """Whether the budget is used, or nothing more is to be found."""
        if self.best is None:
            return False
        used = len(self.best[1]) >= (1 - UNUSED) * self.most
        return used or self.room <= self.low or self.room > self.most + max(self.most // 4, 64)

    def look(self, made: Quantized, data: bytes) -> None:
        """Take what the room led to, and choose the next."""
        left = self.most - len(data)
        if left >= 0:
            step = max(left, 2 * (self.room - self.low) if self.best else 0)
            self.low, self.best = self.room, (made, data)
            self.room = self.room + step if self.high is None else (self.low + self.high) // 2
        else:
            self.high = self.room
            nearer = self.room + left - max(self.most // 400, 8)
            # Halves would pass by what lies just below: a little less room may lead to other cells.
            self.room = nearer if self.best is None else max(nearer, (self.low + self.high) // 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Frames within a plan, by a quantizer whose size can be set.

    of: whose budget it is, for messages
    """

    quantizer: Quantizer
    plan: Plan
    of: str = "a link"

    damped = False

    @property
    def quantizers(self) -> tuple[Quantizer, ...]:
        """The one."""
        return (self.quantizer,)

    def check(self, tensors: Sequence[int], rounds: int | None = None) -> None:
        """Raise if a budget is below the smallest frame or above exact floats, or spent too early."""
        if rounds is not None:
            self.plan.check(rounds, of=self.of)
        entries = sum(tensors)
        raw = frame.raw_nbytes(entries)
        least = SMALLEST + _scales_nbytes(self.quantizer, tensors)
        for each in self.plan.targets:
            if each.nmse is not None and each.nmse < FINEST:
                allowed = f"an nmse of {FINEST:g} or more"
                raise InputError("budget", of=self.of, allowed=allowed, got=f"nmse={each.nmse:g}")
            bits = each.bits_for(entries)
            if bits is not None and not least <= bits / 8 <= raw:
                allowed = (
                    f"between {least:,} B and exact floats, {raw:,} B, for {entries:,} entries"
                )
                if raw < least:
                    allowed = f"left out: exact floats of {entries:,} entries are {raw:,} B"
                got = f"{bits / 8:,.10g} B"
                raise InputError("budget", of=self.of, allowed=allowed, got=got)

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """The most exact frame within the budget of the round that a few attempts find."""
        self.plan.check(context.meta.round + 1, of=self.of)
        wanted = self.plan.at(context.meta.round)
        bits = wanted.bits_for(len(x))
        if bits is None:
            return self._exact(x, context, wanted)
        most = int(bits / 8)
        search = _Search(most=most, room=most - OVERHEAD - most // 400)
        for _ in range(ATTEMPTS):
            made, data = self._sized(x, context, search.room)
            search.look(made, data)
            if search.is_over:
                break
        if search.best is None:
            allowed = f"enough for {type(self.quantizer).__name__} and {len(x):,} entries"
            raise InputError("budget", of=self.of, allowed=allowed, got=f"{most:,} B")
        return search.best

    def _exact(self, x: Vector, context: SendContext, wanted: Target) -> tuple[Quantized, bytes]:
        """The shortest frame with an error; raises if that is out of reach."""
        try:
            made = quantized(x, with_target(self.quantizer, f"nmse={wanted.nmse}"), context)
        except OutOfReach as error:
            where = context.meta
            of = self.of if where.kind == Kind.VECTOR else f"{self.of} in round {where.round}"
            got = f"nmse={wanted.nmse:g}"
            raise OutOfReach("budget", of=of, nmse=error.nmse, got=got) from error
        return made, packed(made, context)

    def _sized(self, x: Vector, context: SendContext, room: int) -> tuple[Quantized, bytes]:
        """A frame whose symbols and tables have so much room, about."""
        made = quantized(x, with_target(self.quantizer, f"{max(room, 1)}B"), context)
        return made, packed(made, context)


def _scales_nbytes(quantizer: Quantizer, tensors: Sequence[int]) -> int:
    """The bytes of scales, and of the lengths of blocks, where there is more than one for the model."""
    if quantizer.scale == "model":
        return 0
    entries = sum(tensors)
    if isinstance(quantizer, Rotated):
        entries = padded_length(entries)
    bounds = block_bounds(quantizer.scale, entries, tuple(tensors))
    return 4 * (len(bounds) - 1) + len(write_blocks(bounds))


def with_target(quantizer: Quantizer, text: str) -> Quantizer:
    """The quantizer with another target; raises if its size cannot be set."""
    if isinstance(quantizer, Rotated):
        return Rotated(inner=with_target(quantizer.inner, text))
    if not is_dataclass(quantizer) or "target" not in {each.name for each in fields(quantizer)}:
        allowed = f"one whose size can be set: {', '.join(ADJUSTABLE)}"
        got = type(quantizer).__name__.lower()
        raise InputError("quantizer", of="a budget", allowed=allowed, got=got)
    return replace(quantizer, target=text)  # pyright: ignore[reportCallIssue]


def budgeted(text: str, quantizer: Quantizer, *, of: str = "a link", first: int = 0) -> Budget:
    """A budget for a quantizer; raises if its size cannot be set, or is set already.

    first: the first round with a frame
    """
    chosen = plan(str(text), of=of, first=first)
    for each in chosen.targets:
        with_target(quantizer, "1B" if each.nmse is None else f"nmse={each.nmse}")
    _check_unset(quantizer.inner if isinstance(quantizer, Rotated) else quantizer)
    return Budget(quantizer=quantizer, plan=chosen, of=of)


def budgeted_once(text: str, quantizer: Quantizer, *, of: str) -> Budget:
    """A budget for a single frame."""
    chosen = budgeted(text, quantizer, of=of)
    if chosen.plan.is_for_many:
        raise InputError("budget", of=of, allowed="one for a single frame, as 3bit", got=text)
    return chosen


def _check_unset(quantizer: Quantizer) -> None:
    """Raise if a quantizer has a target of its own beside its budget's."""
    assert is_dataclass(quantizer)
    (own,) = (each for each in fields(quantizer) if each.name == "target")
    value = getattr(quantizer, own.name)
    if value != own.default:
        allowed, owner = "left out: a budget sets the size", type(quantizer).__name__
        raise InputError("target", of=owner, allowed=allowed, got=value)
