"""The header of a frame and the checksum at its end. docs/adr/0001-frame-format.md.

    offset  size  field
         0     3  magic "LFL"
         3     1  version
         4     1  kind of message
         5     1  coding of the symbols (two bits), dithered, rotated (one each), form of the table (four)
         6     2  alphabet - 1
         8     8  entries
        16     4  round
        20     4  block field (see `tables`)
        24     8  digest of the estimate that the frame applies to
        32     1  gain of the trend, in 128ths, from version 3 on
      last     4  checksum: the lower half of XXH3-64 of all bytes before it

All numbers are little-endian. Version 2 knows scaled tables and dither, version 3 trends, version 4
rotations without signs, version 5 symbols coded by class (see `classes`); a frame is written as the oldest
version that can say it, to the bit as before.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

import xxhash

from lossyfl.errors import FrameError, InputError
from lossyfl.types import Codebook, Scaled, UniformTable
from lossyfl.wire.rotation import padded_length

Bytes = bytes | bytearray | memoryview

MAGIC = b"LFL"
VERSION = 5
"""The newest; all up to it are read."""
HEADER = struct.Struct("<3sBBBHQIIQ")
SEED = struct.Struct("<Q")
CHECKSUM = struct.Struct("<I")
DITHERED = 4
ROTATED = 8
MAX_ENTRIES = 1 << 24
"""What a reader takes that was not told what to expect: 64 MB of floats."""
HARD_LIMIT = 1 << 33
UNSIGNED = 4
"""The first version with rotations without signs."""
NO_SIGNS = 2**64 - 1
"""What stands for their seed."""
CLASSED = 5
"""The first version with symbols coded by class."""


class Kind(IntEnum):
    """What a frame is for."""

    VECTOR = 0
    MODEL = 1
    UPDATE = 2
    REPLY = 3
    TREND = 4


class Coding(IntEnum):
    """How the symbols are written."""

    RAW = 0
    RADIX = 1
    RANS = 2
    CLASSES = 3


CODINGS = frozenset(int(coding) for coding in Coding)
OLD_FORMS = (UniformTable.form, Codebook.form)
ALL_FORMS = (*OLD_FORMS, Scaled.form)
FORMS = {1: OLD_FORMS, 2: ALL_FORMS, 3: ALL_FORMS, 4: ALL_FORMS, 5: ALL_FORMS}
"""The forms of tables that a version knows."""
OLD_KINDS = frozenset(Kind) - {Kind.TREND}
KINDS = {1: OLD_KINDS, 2: OLD_KINDS} | dict.fromkeys((3, 4, 5), frozenset(Kind))
"""The kinds that a version knows."""
WHOLE = 128
"""How a gain of 1 is written; the largest is 255, nearly 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameMeta:
    """The fields that the protocol sets.

    digest: of the estimate that the frame applies to; of a model or trend, that it gives
    gain:   what the trend is multiplied by for the prediction that an update builds on, in 128ths
    """

    kind: Kind = Kind.VECTOR
    round: int = 0
    digest: int = 0
    gain: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.round < 1 << 32:
            raise InputError("round", of="a frame", allowed="an int in [0, 2^32)", got=self.round)
        if not 0 <= self.digest < 1 << 64:
            raise InputError("digest", of="a frame", allowed="an int in [0, 2^64)", got=self.digest)
        if not 0 <= self.gain < 256 or (self.gain and self.kind != Kind.UPDATE):
            allowed = "an int in [0, 256), and 0 but for updates"
            raise InputError("gain", of="a frame", allowed=allowed, got=self.gain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first 32 bytes of a frame, 33 with a trend, checked."""

    version: int
    meta: FrameMeta
    coding: Coding
    form: int
    rotated: bool
    dithered: bool
    alphabet: int
    entries: int
    block: int

    @property
    def nbytes(self) -> int:
        """How many bytes the header takes, which its version decides."""
        return HEADER.size + (self.version >= 3)

    @property
    def symbols(self) -> int:
        """The number of symbols: one per entry, or of the padded vector if it is rotated."""
        return padded_length(self.entries) if self.rotated else self.entries


def write_header(
    meta: FrameMeta,
    coding: int,
    form: int,
    alphabet: int,
    entries: int,
    block: int,
    *,
    unsigned: bool = False,
) -> bytes:
    """The header as bytes, of the oldest version that can say it.

    unsigned: whether it is rotated without signs
    """
    version = 2 if form == Scaled.form or coding & DITHERED else 1
    if meta.gain or meta.kind == Kind.TREND:
        version = 3
    if unsigned:
        version = UNSIGNED
    if coding & 3 == Coding.CLASSES:
        version = CLASSED
    head = HEADER.pack(
        MAGIC,
        version,
        meta.kind,
        coding | form << 4,
        alphabet - 1,
        entries,
        meta.round,
        block,
        meta.digest,
    )
    return head + bytes([meta.gain]) if version >= 3 else head


def seal(parts: list[bytes | memoryview]) -> bytes:
    """The parts and their checksum as one frame."""
    digest = xxhash.xxh3_64()
    for part in parts:
        digest.update(part)
    return b"".join([*parts, CHECKSUM.pack(digest.intdigest() & 0xFFFFFFFF)])


def read_header(frame: Bytes, max_entries: int = MAX_ENTRIES, *, trusted: bool = False) -> Header:
    """The header of a frame; raises FrameError before anything is allocated.

    trusted: whether this process has made it, so that its checksum need not be computed again
    """
    data = memoryview(frame).cast("B")
    version = _check_whole(data, trusted=trusted)
    _, _, kind, code, last, entries, round_, block, digest = HEADER.unpack_from(data)
    if kind not in KINDS[version]:
        raise FrameError(4, f"a kind in {sorted(map(int, KINDS[version]))}", kind)
    _check_code(version, code, last)
    limit = min(max_entries, HARD_LIMIT)
    if not 1 <= entries <= limit:
        raise FrameError(8, f"1 to {limit} entries (max_entries sets the limit)", entries)
    if block and code & 3 == Coding.RAW:
        raise FrameError(20, "no blocks of raw floats", block)
    gain = data[HEADER.size] if version >= 3 else 0
    if gain and kind != Kind.UPDATE:
        raise FrameError(HEADER.size, "no gain but for updates", gain)
    return Header(
        version=version,
        meta=FrameMeta(kind=Kind(kind), round=round_, digest=digest, gain=gain),
        coding=Coding(code & 3),
        form=code >> 4,
        rotated=bool(code & ROTATED),
        dithered=bool(code & DITHERED),
        alphabet=last + 1,
        entries=entries,
        block=block,
    )


def _check_whole(data: memoryview, *, trusted: bool) -> int:
    """The version of a frame that is as it was sent."""
    shortest = HEADER.size + CHECKSUM.size
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise FrameError(0, f"the magic bytes {MAGIC!r}", bytes(data[: len(MAGIC)]))
    if len(data) < shortest:
        raise FrameError(len(data), f"at least {shortest} bytes", f"{len(data)} bytes")
    version = data[len(MAGIC)]
    if not 1 <= version <= VERSION:
        raise FrameError(3, f"a frame version up to {VERSION}", f"version {version}")
    if version >= 3 and len(data) == shortest:
        raise FrameError(len(data), f"at least {shortest + 1} bytes", f"{len(data)} bytes")
    if trusted:
        return version
    (checksum,) = CHECKSUM.unpack_from(data, len(data) - CHECKSUM.size)
    actual = xxhash.xxh3_64_intdigest(data[: -CHECKSUM.size]) & 0xFFFFFFFF
    if checksum != actual:
        raise FrameError(len(data) - 4, f"checksum {actual:08x}", f"{checksum:08x}")
    return version


def _check_code(version: int, code: int, last: int) -> None:
    """Raise unless coding, table form, flags and the last symbol go together."""
    coding, form = code & 3, code >> 4
    rotated, dithered = bool(code & ROTATED), bool(code & DITHERED)
    raw = coding == Coding.RAW
    if coding not in CODINGS or form not in ((0,) if raw else FORMS[version]):
        raise FrameError(5, "a known coding and table form", f"{coding} and {form}")
    if coding == Coding.CLASSES and (version < CLASSED or rotated or last > 255):
        got = f"version {version}, flags {code:#04x}, {last + 1} symbols"
        raise FrameError(5, "classes from version 5 on, of at most 256 symbols, not rotated", got)
    if raw and (rotated or dithered):
        raise FrameError(5, "raw floats neither rotated nor dithered", f"flags {code:#04x}")
    if dithered and (version < 2 or form != UniformTable.form or last % 2):
        got = f"version {version}, form {form}, {last + 1} symbols"
        raise FrameError(5, "dither from version 2 on, with even steps from zero on", got)
    if raw != (last == 0):
        raise FrameError(6, "an alphabet of at least 2 symbols, or raw floats", last + 1)
