"""Frames from a grammar of the format, docs/adr/0001 and 0009: each is right but for its faults.

Written from the documents, not from the writer. A frame starts as a right one of any version, kind, coding,
form, flag and layout of blocks, with tables of any floats; half of the frames then get one to three faults,
each in a field of its own, and nearly all a checksum that is right.
"""

import struct
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from tests.fuzz.choices import Choices
from tests.fuzz.classed import classed
from tests.fuzz.coding import radix, rans, varint
from tests.fuzz.tables import (
    BOOK,
    LADDER,
    SCALED,
    TABLES,
    MadeTable,
    float_bytes,
    undithered,
    unrotated,
)
from tests.helpers import seal

from lossyfl.protocol.digests import digest
from lossyfl.streams import Stream
from lossyfl.types import Vector

RAW, RADIX, RANS, CLASSES = range(4)
CODERS = {RADIX: radix, RANS: rans, CLASSES: classed}
DITHERED, ROTATED = 4, 8
VECTOR, MODEL, UPDATE, REPLY, DRIFT, MERGED = range(6)
LISTED = 2**32 - 1
NO_SIGNS = 2**64 - 1
SIGN_KEY, DITHER_KEY = 0x726F746174696F6E, 0x6469746865720000
ALPHABETS = (2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 9, 15, 16, 17, 31, 100, 255, 256, 257, 300)
RARE_ALPHABETS = (4097, 65_535, 65_536)
ENTRIES = (1, 2, 3, 4, 5, 7, 8, 9, 16, 27, 28, 31, 33, 64, 65, 127)
FAULTS = (
    "magic", "version", "kind", "leap", "code", "alphabet", "entries", "block field", "part", "float",
    "table length", "block count", "block length", "varint", "ladder", "digits", "radix length",
    "group", "segments", "total", "used", "gap", "length", "bits", "words", "word missing",
    "segment length", "side", "side length", "tensors", "shape", "level", "lean", "class", "place", "letters",
    "commonest", "truncated", "trailing", "flipped", "checksum",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a receiver expects of a frame: the kind, entries, round and digest."""

    kinds: tuple[int, ...] = (VECTOR, MODEL, UPDATE, UPDATE, REPLY, REPLY, REPLY, DRIFT, MERGED)
    entries: int = 16
    round: int = 0
    digest: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A frame; the names of its faults; what it stands for, and whether table and values are finite."""

    frame: bytes
    faults: tuple[str, ...]
    values: Vector
    finite: bool


@dataclass(slots=True, kw_only=True)
class Plan:
    """The fields of one frame, as they are chosen."""

    version: int
    kind: int
    coding: int
    form: int
    flags: int
    alphabet: int
    entries: int
    rotation: int = 0
    dither: int = 0
    block: int = 0

    @property
    def symbols(self) -> int:
        """One an entry, or of the padded vector."""
        return 1 << (self.entries - 1).bit_length() if self.flags & ROTATED else self.entries


ANYWHERE = Place()


def make_frame(choices: Choices, place: Place = ANYWHERE) -> Made:
    """The next frame."""
    choices.plan_faults(FAULTS)
    plan = _plan(choices, place)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is to be refused
        body, values, finite = _raw(plan, choices) if plan.coding == RAW else _coded(plan, choices)
    finite = finite and bool(np.isfinite(values).all())
    frame = _close(_head(plan, place, values, choices) + body, choices)
    return Made(frame=frame, faults=tuple(choices.made), values=values, finite=finite)


def _plan(choices: Choices, place: Place) -> Plan:
    """Fields that go together."""
    rng = choices.rng
    coding = rng.choice((RAW, RADIX, RADIX, RANS, RANS, RANS, CLASSES, CLASSES))
    form, flags, alphabet = 0, 0, 1
    if coding != RAW:
        form = rng.choice((LADDER, LADDER, BOOK, SCALED))
        alphabet = rng.choice(RARE_ALPHABETS if rng.random() < 0.002 else ALPHABETS)
        alphabet = max(alphabet, 3) if form == LADDER else alphabet
        if coding == CLASSES and alphabet > 256:
            coding = RANS
        flags = ROTATED if rng.random() < 0.25 and coding != CLASSES else 0
        if form == LADDER and alphabet % 2 and rng.random() < 0.4:
            flags |= DITHERED
    kind = rng.choice(place.kinds)
    oldest = 3 if kind == DRIFT else 2 if form == SCALED or flags & DITHERED else 1
    oldest = 5 if coding == CLASSES else oldest
    oldest = 6 if kind == MERGED else oldest
    entries = rng.choice(ENTRIES) if rng.random() < 0.99 else rng.randint(1, 3000)
    return Plan(
        version=oldest if rng.random() < 0.6 else rng.randint(oldest, 6),
        kind=kind,
        coding=coding,
        form=form,
        flags=flags,
        alphabet=alphabet,
        entries=place.entries if rng.random() < 0.6 else entries,
        rotation=NO_SIGNS if rng.random() < 0.2 else rng.getrandbits(64),
        dither=rng.getrandbits(64),
    )


def _head(plan: Plan, place: Place, values: Vector, choices: Choices) -> bytes:
    rng, wrong = choices.rng, choices.wrong
    magic = b"LFM" if wrong("magic") else b"LFL"
    version = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 255)) if wrong("version") else plan.version
    kind = rng.choice((*range(7), 200)) if wrong("kind") else plan.kind
    code = plan.coding | plan.flags | plan.form << 4
    if wrong("code"):
        code = rng.choice((code ^ 1 << rng.randint(0, 7), rng.randint(0, 255)))
    alphabet, entries, block = plan.alphabet, plan.entries, plan.block
    if wrong("alphabet"):
        alphabet = rng.choice((1, 2, min(alphabet + 1, 65_536), max(alphabet - 1, 1), 65_536))
    if wrong("entries"):
        huge = (1 << 16, 1 << 24, 1 << 60, 2**64 - 1)
        entries = rng.choice((0, entries + 1, entries - 1, 2 * entries, *huge))
    if wrong("block field"):
        block = rng.choice((0, 1, 2, block + 1, LISTED, LISTED - 1, 1 << 31)) % 2**32
    round_ = place.round if rng.random() < 0.9 else rng.getrandbits(32)
    round_ = max(round_, plan.kind == MERGED)  # it leads from an earlier one
    named = place.digest if rng.random() < 0.9 else rng.getrandbits(64)
    if plan.kind == MODEL and rng.random() < 0.7:
        named = digest(values)
    head = struct.pack(
        "<3sBBBHQIIQ", magic, version, kind, code, alphabet - 1, entries, round_, block, named
    )
    if plan.version < 3:
        return head
    gain = bytes([rng.randint(0, 255) if plan.kind == UPDATE or wrong("part") else 0])
    return head + gain + (_leap(round_, values, choices) if plan.kind == MERGED else b"")


def _leap(round_: int, values: Vector, choices: Choices) -> bytes:
    """From which round a merged update leads, and to which estimate."""
    rng = choices.rng
    since = rng.choice((round_ - 1, rng.randrange(round_), 0))
    if choices.wrong("leap"):
        since = rng.choice((round_, round_ + 1, 2**32 - 1)) % 2**32
    return struct.pack("<IQ", since, digest(values) if rng.random() < 0.5 else rng.getrandbits(64))


def _raw(plan: Plan, choices: Choices) -> tuple[bytes, Vector, bool]:
    values = choices.floats(plan.entries)
    return float_bytes(values, choices), values, True


def _coded(plan: Plan, choices: Choices) -> tuple[bytes, Vector, bool]:
    """Seeds, blocks, table and symbols; what they stand for, and whether the table is finite."""
    bounds = _bounds(plan, choices)
    listed = _block_bytes(bounds, choices) if plan.block == LISTED else b""
    table = TABLES[plan.form](plan.alphabet, len(bounds) - 1, choices)
    symbols = _symbols(plan, choices)
    coded = CODERS[plan.coding](symbols, plan.alphabet, choices)
    seeds = b""
    for flag, seed in ((ROTATED, plan.rotation), (DITHERED, plan.dither)):
        seeds += struct.pack("<Q", seed) if plan.flags & flag else b""
    return seeds + listed + table.data + coded, _values(plan, bounds, table, symbols), table.finite


def _values(plan: Plan, bounds: list[int], table: MadeTable, symbols: list[int]) -> Vector:
    """The vector that the frame stands for."""
    block = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    values = table.look_up(block, np.array(symbols, dtype=np.int64))
    if plan.flags & DITHERED:
        drawn = Stream(plan.dither, DITHER_KEY).bits(0, len(values))
        values = undithered(values, table.steps[block], drawn)
    if plan.flags & ROTATED:
        signs = np.zeros(len(values), dtype=np.uint32)
        if plan.version < 4 or plan.rotation != NO_SIGNS:
            words = Stream(plan.rotation, SIGN_KEY).bits(0, -(-len(values) // 32))
            at = np.arange(len(values))
            signs = words[at // 32] >> (at % 32).astype(np.uint32) & np.uint32(1)
        values = unrotated(values, signs)[: plan.entries]
    return values


def _bounds(plan: Plan, choices: Choices) -> list[int]:
    """How the symbols are cut into blocks, which sets the block field; long tables have one."""
    n, rng = plan.symbols, choices.rng
    choice = rng.random()
    if choice < 0.5 or (plan.form == BOOK and plan.alphabet > 300):
        return [0, n]
    if choice < 0.75:
        plan.block = rng.choice((1, 2, 3, 5, n, n + 1, LISTED - 1))
        return [*range(0, n, plan.block), n]
    plan.block = LISTED
    cuts = {rng.randint(1, n - 1) for _ in range(rng.randint(0, 6))} if n > 1 else set[int]()
    return [0, *sorted(cuts), n]


def _block_bytes(bounds: list[int], choices: Choices) -> bytes:
    rng, wrong = choices.rng, choices.wrong
    lengths = [stop - start for start, stop in pairwise(bounds)]
    count, at = len(lengths), rng.randrange(len(lengths))
    if wrong("block count"):
        count = rng.choice((0, count - 1, count + 1, 1 << 40))
    if wrong("block length"):
        lengths[at] = rng.choice((0, lengths[at] + 1, lengths[at] - 1, 1 << 50, 1 << 62))
    numbers = [varint(n) for n in (count, *lengths)]
    if wrong("varint"):
        tail = rng.choice((b"\x00", b"\x80\x00", b"\xff" * 9, b"\x80" * 7 + b"\x00"))
        numbers[at] = numbers[at][:-1] + bytes([numbers[at][-1] | 128]) + tail
    return b"".join(numbers)


def _symbols(plan: Plan, choices: Choices) -> list[int]:
    """Symbols, evenly drawn, or few of them."""
    rng, n = choices.rng, plan.alphabet
    few = [rng.randrange(n) for _ in range(rng.choice((1, 2, 3, 12)))]
    return rng.choices(range(n) if rng.random() < 0.4 and n < 300 else few, k=plan.symbols)


def _close(body: bytes, choices: Choices) -> bytes:
    """The frame with its checksum."""
    rng, wrong = choices.rng, choices.wrong
    if wrong("truncated"):
        body = body[: rng.randrange(len(body))]
    if wrong("trailing"):
        body += rng.randbytes(rng.choice((1, 2, 4, 8)))
    if body and wrong("flipped"):
        at = rng.randrange(len(body))
        body = body[:at] + bytes([body[at] ^ 1 << rng.randint(0, 7)]) + body[at + 1 :]
    frame = seal(body)
    if wrong("checksum"):
        return frame[:-1] + bytes([frame[-1] ^ 1 << rng.randint(0, 7)])
    return frame
