"""A budget instead of a parameter: frames of at most so many bytes, as exact as they can be.

`plans` has the texts that say how many. What counts is the whole frame. A downlink's budget is for the
broadcast of a round, not for the initial model or for what a device has missed; an uplink's is for one reply.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lossyfl.compressors.base import SendContext, packed, quantized
from lossyfl.compressors.plans import BudgetPlan, plan
from lossyfl.errors import InputError, OutOfReach
from lossyfl.quantizers.rotated import Rotated
from lossyfl.quantizers.targets import Adjustable, Target, adjustable
from lossyfl.types import Quantized, Quantizer, Shape, Vector
from lossyfl.wire import frame, histogram
from lossyfl.wire.header import CHECKSUM, HEADER, Coding, Kind, read_header
from lossyfl.wire.histogram import entropy
from lossyfl.wire.rotation import padded_length
from lossyfl.wire.shapes import entries_of, lengths_of
from lossyfl.wire.tables import write_blocks
from lossyfl.wire.vectors import block_bounds

SMALLEST = 96
"""Shorter frames say next to nothing."""
ATTEMPTS = 12
FINEST = 1e-5
"""The least error that may be asked for: bins are 0.8 % wide, (1 / 128)^2 / 12 is 5e-6."""
UNUSED = 0.03
"""The part of a budget that may be left over before a finer frame is tried."""
NARROW = 128
"""Rooms that differ by less than such a part, on both sides of a budget, lead to no frame between those with
classes and those without."""
OVERHEAD = HEADER.size + CHECKSUM.size + 8
"""Bytes of a frame that are neither symbols nor tables, about."""


@dataclass(slots=True, kw_only=True)
class _Search:
    """The room for symbols and tables that fills a frame: entropies tell it nearly, attempts the rest.

    most: bytes of the frame
    part: how many times the entropy of its symbols the frame is, if less: of symbols coded by class
    room: the one to try
    low:  the largest that led to a frame within the budget, `best`
    high: the smallest that led beyond it
    codings: of all frames that were made
    """

    most: int
    room: int
    part: float = 1.0
    low: int = 0
    high: int | None = None
    best: tuple[Quantized, bytes] | None = None
    codings: set[Coding] = field(default_factory=set[Coding])

    @property
    def is_over(self) -> bool:
        """Whether the budget is used, or nothing more is to be found."""
        if self.best is None:
            return False
        used = len(self.best[1]) >= (1 - UNUSED) * self.most
        finest = int((self.most + max(self.most // 4, 64)) / self.part)
        narrow = self.high is not None and (self.high - self.low) * NARROW < self.low
        narrow = narrow and len(self.codings) > 1
        return used or narrow or self.room <= self.low or self.room > finest

    def note(self, made: Quantized, data: bytes) -> None:
        """Take what the room led to, and choose the next."""
        left = self.most - len(data)
        step = self._step(made, data, left)
        if left >= 0:
            self.low, self.best = self.room, (made, data)
            self.room = self.room + step if self.high is None else (self.low + self.high) // 2
        else:
            self.high = self.room
            nearer = self.room + step - max(self.most // 400, 8)
            # Halves would pass by what lies just below: a little less room may lead to other cells.
            self.room = nearer if self.best is None else max(nearer, (self.low + self.high) // 2)

    def _step(self, made: Quantized, data: bytes, left: int) -> int:
        """How much more room, or less, the bytes that are left make."""
        since = 0 if self.best is None else self.room - self.low
        coding = read_header(data, len(made.symbols), trusted=True).coding
        self.codings.add(coding)
        if coding is not Coding.CLASSES:
            self.part = 1.0
            return left if left < 0 else max(left, 2 * since)
        self.part = min(8 * max(len(data) - OVERHEAD, 1) / max(_entropy(made), 1.0), 1.0)
        if self.best is None or since <= 0:
            return int(left / self.part)
        longer = (len(data) - len(self.best[1])) / since
        return int(left / min(max(longer, self.part / 4), 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Frames within a plan, by a quantizer whose size can be set.

    of: whose budget it is, for messages
    """

    quantizer: Adjustable
    plan: BudgetPlan
    of: str = "a link"

    damped = False

    @property
    def quantizers(self) -> tuple[Quantizer, ...]:
        """The one whose size is set."""
        return (self.quantizer,)

    def check(self, tensors: Sequence[Shape], rounds: int | None = None) -> None:
        """Raise if a budget is below the smallest frame or above exact floats, or spent too early."""
        if rounds is not None:
            self.plan.check(rounds, of=self.of)
        entries = entries_of(tensors)
        raw = frame.raw_nbytes(entries)
        least = SMALLEST + _scales_nbytes(self.quantizer, tensors)
        for each in self.plan.targets:
            if each.nmse is not None and each.nmse < FINEST:
                allowed = f"an nmse of {FINEST:g} or more"
                raise InputError("budget", of=self.of, allowed=allowed, got=str(each))
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
            search.note(made, data)
            if search.is_over:
                break
        if search.best is None:
            allowed = f"enough for {type(self.quantizer).__name__} and {len(x):,} entries"
            raise InputError("budget", of=self.of, allowed=allowed, got=f"{most:,} B")
        return search.best

    def _exact(self, x: Vector, context: SendContext, wanted: Target) -> tuple[Quantized, bytes]:
        """The shortest frame with an error; raises if that is out of reach."""
        try:
            made = quantized(x, self.quantizer.with_target(wanted), context)
        except OutOfReach as error:
            where = context.meta
            of = self.of if where.kind == Kind.VECTOR else f"{self.of} in round {where.round}"
            raise OutOfReach("budget", of=of, nmse=error.nmse, got=str(wanted)) from error
        return made, packed(made, context)

    def _sized(self, x: Vector, context: SendContext, room: int) -> tuple[Quantized, bytes]:
        """A frame whose symbols and tables have so much room, about."""
        sized = self.quantizer.with_target(Target(bits=8.0 * max(room, 1)))
        made = quantized(x, sized, context)
        return made, packed(made, context)


def _entropy(made: Quantized) -> float:
    """Of the symbols, in bits."""
    counts = made.counts
    return entropy(histogram.count(made.symbols, made.table.alphabet) if counts is None else counts)


def _scales_nbytes(quantizer: Quantizer, tensors: Sequence[Shape]) -> int:
    """The bytes of scales, and of the lengths of blocks, where there is more than one for the model."""
    if quantizer.scale == "model":
        return 0
    entries = entries_of(tensors)
    if isinstance(quantizer, Rotated):
        entries = padded_length(entries)
    bounds = block_bounds(quantizer.scale, entries, lengths_of(tensors))
    return 4 * (len(bounds) - 1) + len(write_blocks(bounds))


def budgeted(text: str, quantizer: Quantizer, *, of: str = "a link", first: int = 0) -> Budget:
    """A budget for a quantizer; raises if its size cannot be set, or is set already.

    first: the first round with a frame
    """
    chosen, sizable = plan(str(text), of=of, first=first), adjustable(quantizer)
    for each in chosen.targets:  # what a quantizer refuses it says now, not in some round
        sizable.with_target(each)
    return Budget(quantizer=sizable, plan=chosen, of=of)


def budgeted_once(text: str, quantizer: Quantizer, *, of: str) -> Budget:
    """A budget for a single frame."""
    chosen = budgeted(text, quantizer, of=of)
    if chosen.plan.is_for_many:
        raise InputError("budget", of=of, allowed="one for a single frame, as 3bit", got=text)
    return chosen
