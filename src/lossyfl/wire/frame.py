"""The frame: what travels, and the only thing that is ever counted. docs/adr/0001-frame-format.md.

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
        32     1  part of the drift that it goes on from, in 128ths, only in version 3
               8  seed of the rotation, only if rotated
               8  seed of the dither, only if dithered
                  blocks, tables, symbols (raw: float32 entries and nothing else)
      last     4  checksum: the lower half of XXH3-64 of all bytes before it

All numbers are little-endian. A frame needs no other knowledge to be decoded. Version 2 knows scaled
tables and dither, version 3 drifts; a frame is written as the oldest version that can say it, to the bit as
before.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import xxhash
from numpy.typing import NDArray

from lossyfl import dither, histogram, parallel
from lossyfl.errors import FrameError, InputError, NotFinite
from lossyfl.jit import kernel
from lossyfl.rotation import padded_length, unrotate
from lossyfl.types import (
    MAX_ALPHABET,
    Bounds,
    Codebook,
    Counts,
    Ladder,
    Quantized,
    Rotation,
    Scaled,
    Symbols,
    Table,
    Vector,
    symbol_type,
)
from lossyfl.wire import body, radix, tables

Bytes = bytes | bytearray | memoryview

MAGIC = b"LFL"
VERSION = 3
"""The newest; all up to it are read."""
HEADER = struct.Struct("<3sBBBHQIIQ")
SEED = struct.Struct("<Q")
CHECKSUM = struct.Struct("<I")
DITHERED = 4
ROTATED = 8
MAX_ENTRIES = 1 << 28
HARD_LIMIT = 1 << 33
ROWS_AT_ONCE = 1 << 16


class Kind(IntEnum):
    """What a frame is for."""

    VECTOR = 0
    MODEL = 1
    UPDATE = 2
    REPLY = 3
    DRIFT = 4


class Coding(IntEnum):
    """How the symbols are written."""

    RAW = 0
    RADIX = 1
    RANS = 2


CODINGS = frozenset(int(coding) for coding in Coding)
OLD_FORMS = (Ladder.form, Codebook.form)
FORMS = {1: OLD_FORMS, 2: (*OLD_FORMS, Scaled.form), 3: (*OLD_FORMS, Scaled.form)}
"""The forms of tables that a version knows."""
OLD_KINDS = frozenset(Kind) - {Kind.DRIFT}
KINDS = {1: OLD_KINDS, 2: OLD_KINDS, 3: frozenset(Kind)}
"""The kinds that a version knows."""
WHOLE = 128
"""How the whole of a drift is written; up to 255, nearly twice of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The fields that the protocol sets.

    digest: of the estimate that the frame applies to; of a model or drift, that it gives
    part:   of the drift that an update goes on from, in 128ths
    """

    kind: Kind = Kind.VECTOR
    round: int = 0
    digest: int = 0
    part: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.round < 1 << 32:
            raise InputError("round", of="a frame", allowed="an int in [0, 2^32)", got=self.round)
        if not 0 <= self.digest < 1 << 64:
            raise InputError("digest", of="a frame", allowed="an int in [0, 2^64)", got=self.digest)
        if not 0 <= self.part < 256 or (self.part and self.kind != Kind.UPDATE):
            allowed = "an int in [0, 256), and 0 but for updates"
            raise InputError("part", of="a frame", allowed=allowed, got=self.part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first 32 bytes of a frame, 33 with a drift, checked."""

    version: int
    address: Address
    coding: Coding
    form: int
    rotated: bool
    dithered: bool
    alphabet: int
    entries: int
    block: int

    @property
    def nbytes(self) -> int:
        """Its length."""
        return HEADER.size + (self.version >= 3)

    @property
    def symbols(self) -> int:
        """The number of symbols: one an entry, or of the padded vector if it is rotated."""
        return padded_length(self.entries) if self.rotated else self.entries


def pack(quantized: Quantized, address: Address, *, threads: int = 1) -> bytes:
    """The smallest frame that holds the symbols and their table."""
    table, bounds = quantized.table, quantized.bounds
    symbols, counts = _checked(quantized)
    rotation, entries = quantized.rotation, len(symbols)
    shared, flags = _seeds(quantized)
    shared += tables.write_blocks(bounds) + tables.write_table(table)
    if rotation is not None:
        entries = rotation.entries
    packed = radix.nbytes(len(symbols), table.alphabet)
    if 4 * entries <= len(shared) + min(packed, body.PREAMBLE.size + 1):
        return pack_raw(values(quantized), address)
    coding, data, size = Coding.RANS, [], packed + 1
    plan = body.plan(counts)
    if plan.nbytes < packed:
        data = body.encode(symbols, table.alphabet, counts, plan, threads)
        size = sum(memoryview(piece).nbytes for piece in data)
    if size > packed:
        coding, data, size = Coding.RADIX, [radix.pack(symbols, table.alphabet)], packed
    if len(shared) + size > 4 * entries:
        return pack_raw(values(quantized), address)
    field = tables.block_field(bounds)
    head = _head(address, coding | flags, table.form, table.alphabet, entries, field)
    return _seal([head, shared, *data])


def _seeds(quantized: Quantized) -> tuple[bytes, int]:
    """The seeds of rotation and dither, and the flags that say which are there."""
    seeds, flags = b"", 0
    if quantized.rotation is not None:
        seeds, flags = SEED.pack(quantized.rotation.seed), ROTATED
    if quantized.dither is not None:
        seeds, flags = seeds + SEED.pack(quantized.dither), flags | DITHERED
    return seeds, flags


def pack_raw(x: Vector, address: Address) -> bytes:
    """A frame that holds the floats themselves; they must be finite, as in every frame."""
    finite = np.isfinite(x)
    if not finite.all():
        bad = int(np.argmin(finite))
        raise NotFinite(f"entry {bad}", of="the vector", got=float(x[bad]))
    return _seal([_head(address, Coding.RAW, 0, 1, len(x), 0), x.astype("<f4", copy=False).data])


def raw_nbytes(entries: int) -> int:
    """The length of a raw frame of so many entries."""
    return HEADER.size + 4 * entries + CHECKSUM.size


def _checked(quantized: Quantized) -> tuple[Symbols, Counts]:
    """The symbols and counts of a quantizer that may be anybody's."""
    symbols, table = quantized.symbols, quantized.table
    if not 2 <= table.alphabet <= MAX_ALPHABET:
        allowed = f"in [2, {MAX_ALPHABET}]"
        raise InputError("alphabet", of="Quantized", allowed=allowed, got=table.alphabet)
    if symbols.dtype != symbol_type(table.alphabet) or symbols.ndim != 1 or not len(symbols):
        allowed = f"a vector of {symbol_type(table.alphabet).__name__}"
        got = f"{symbols.dtype} of shape {symbols.shape}"
        raise InputError("symbols", of="Quantized", allowed=allowed, got=got)
    if table.blocks != len(quantized.bounds) - 1:
        allowed = f"{len(quantized.bounds) - 1} rows, one per block"
        raise InputError("table", of="Quantized", allowed=allowed, got=table.blocks)
    if not np.isfinite(table.peak):
        raise InputError("table", of="Quantized", allowed="finite", got="NaN or infinity")
    if isinstance(table, Ladder) and table.alphabet % 2 and table.low.any():
        raise InputError("low", of="Ladder", allowed="0 in an odd alphabet", got=table.low.max())
    if quantized.dither is not None and not is_even(table):
        raise InputError("dither", of="Quantized", allowed="with steps from 0 on", got=table)
    if quantized.bounds[0] != 0 or quantized.bounds[-1] != len(symbols):
        allowed = f"from 0 to {len(symbols)}"
        raise InputError("bounds", of="Quantized", allowed=allowed, got=quantized.bounds.tolist())
    counts = quantized.counts
    if counts is None:
        counts = histogram.count(symbols, table.alphabet)
    if len(counts) != table.alphabet:
        allowed = f"below the alphabet ({table.alphabet})"
        raise InputError("symbols", of="Quantized", allowed=allowed, got=len(counts) - 1)
    return symbols, counts


def _head(
    address: Address, coding: int, form: int, alphabet: int, entries: int, block: int
) -> bytes:
    version = 2 if form == Scaled.form or coding & DITHERED else 1
    if address.part or address.kind == Kind.DRIFT:
        version = 3
    head = HEADER.pack(
        MAGIC,
        version,
        address.kind,
        coding | form << 4,
        alphabet - 1,
        entries,
        address.round,
        block,
        address.digest,
    )
    return head + bytes([address.part]) if version >= 3 else head


def with_digest(frame: bytes, digest: int) -> bytes:
    """The same frame with another digest: for a model that is known only once it is encoded."""
    at = HEADER.size - SEED.size
    return _seal([frame[:at], SEED.pack(digest), frame[HEADER.size : -CHECKSUM.size]])


def _seal(parts: list[bytes | memoryview]) -> bytes:
    """The parts and their checksum as one frame."""
    digest = xxhash.xxh3_64()
    for part in parts:
        digest.update(part)
    return b"".join([*parts, CHECKSUM.pack(digest.intdigest() & 0xFFFFFFFF)])


def read_header(frame: Bytes, max_entries: int = MAX_ENTRIES) -> Header:
    """The header of a frame; raises FrameError before anything is allocated."""
    data = memoryview(frame).cast("B")
    shortest = HEADER.size + CHECKSUM.size
    if bytes(data[: len(MAGIC)]) != MAGIC:
        raise FrameError(0, f"the magic bytes {MAGIC!r}", bytes(data[: len(MAGIC)]))
    if len(data) < shortest:
        raise FrameError(len(data), f"at least {shortest} bytes", f"{len(data)} bytes")
    _, version, kind, code, last, entries, round_, block, digest = HEADER.unpack_from(data)
    if not 1 <= version <= VERSION:
        raise FrameError(3, f"a frame version up to {VERSION}", f"version {version}")
    if version >= 3 and len(data) == shortest:
        raise FrameError(len(data), f"at least {shortest + 1} bytes", f"{len(data)} bytes")
    (checksum,) = CHECKSUM.unpack_from(data, len(data) - CHECKSUM.size)
    actual = xxhash.xxh3_64_intdigest(data[: -CHECKSUM.size]) & 0xFFFFFFFF
    if checksum != actual:
        raise FrameError(len(data) - 4, f"checksum {actual:08x}", f"{checksum:08x}")
    if kind not in KINDS[version]:
        raise FrameError(4, f"a kind in {sorted(map(int, KINDS[version]))}", kind)
    coding, form = code & 3, code >> 4
    rotated, dithered = bool(code & ROTATED), bool(code & DITHERED)
    raw = coding == Coding.RAW
    forms = (0,) if raw else FORMS[version]
    wrong = (raw and (rotated or dithered)) or (dithered and (version < 2 or form != Ladder.form))
    if coding not in CODINGS or form not in forms or wrong:
        raise FrameError(5, "a known coding and table form", f"{coding} and {form}")
    if not 1 <= entries <= min(max_entries, HARD_LIMIT):
        raise FrameError(8, f"1 to {min(max_entries, HARD_LIMIT)} entries", entries)
    if raw != (last == 0) or (raw and block):
        raise FrameError(6, "an alphabet of at least 2 symbols, or raw floats", last + 1)
    if dithered and last % 2:
        raise FrameError(6, "an odd alphabet with dither", last + 1)
    part = data[HEADER.size] if version >= 3 else 0
    if part and kind != Kind.UPDATE:
        raise FrameError(HEADER.size, "no part of a drift but for updates", part)
    address = Address(kind=Kind(kind), round=round_, digest=digest, part=part)
    return Header(
        version=version,
        address=address,
        coding=Coding(coding),
        form=form,
        rotated=rotated,
        dithered=dithered,
        alphabet=last + 1,
        entries=entries,
        block=block,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A frame whose header, blocks and tables are read and checked, its symbols not yet decoded."""

    header: Header
    bounds: Bounds
    table: Table
    symbols: Symbols | body.Coded
    rotation: Rotation | None
    dither: int | None


def open_frame(frame: Bytes, max_entries: int = MAX_ENTRIES) -> Opened | Vector:
    """The parts of a frame; a raw frame is its vector."""
    return open_body(frame, read_header(frame, max_entries))


def open_body(frame: Bytes, header: Header) -> Opened | Vector:
    """The parts of a frame whose header has been read."""
    data = memoryview(frame).cast("B")[: -CHECKSUM.size]
    at = header.nbytes
    if header.coding is Coding.RAW:
        return _read_raw(data[at:], header.entries, at)
    rotation = dither_seed = None
    if header.rotated:
        rotation = Rotation(seed=_read_seed(data, at), entries=header.entries)
        at += SEED.size
    if header.dithered:
        dither_seed = _read_seed(data, at)
        at += SEED.size
    bounds, size = tables.read_blocks(data[at:], header.symbols, header.block, offset=at)
    at += size
    blocks = len(bounds) - 1
    table = tables.read_table(data[at:], header.form, header.alphabet, blocks, offset=at)
    at += tables.table_nbytes(header.form, header.alphabet, blocks)
    if header.coding is Coding.RADIX:
        symbols = radix.unpack(data[at:], header.symbols, header.alphabet, offset=at)
    else:
        symbols = body.open_coded(data[at:], header.alphabet, header.symbols, offset=at)
    return Opened(
        header=header,
        bounds=bounds,
        table=table,
        symbols=symbols,
        rotation=rotation,
        dither=dither_seed,
    )


def _read_seed(data: memoryview, at: int) -> int:
    if len(data) < at + SEED.size:
        raise FrameError(at, "a seed of eight bytes", f"{len(data) - at} bytes")
    return SEED.unpack_from(data, at)[0]


def _read_raw(data: memoryview, entries: int, at: int) -> Vector:
    if len(data) != 4 * entries:
        raise FrameError(at, f"{4 * entries} bytes of float32", f"{len(data)} bytes")
    x = np.frombuffer(data, dtype="<f4").astype(np.float32)
    finite = np.isfinite(x)
    if not finite.all():
        bad = int(np.argmin(finite))
        raise FrameError(at + 4 * bad, "a finite float32", float(x[bad]))
    return x


def unpack(frame: Bytes, *, max_entries: int = MAX_ENTRIES, threads: int = 1) -> Vector:
    """The float32 vector that the frame stands for."""
    opened = open_frame(frame, max_entries)
    return reconstruct(opened, threads) if isinstance(opened, Opened) else opened


def reconstruct(opened: Opened, threads: int = 1) -> Vector:
    """The vector of an opened frame."""
    threads = parallel.useful_threads(threads, opened.header.entries)
    plain = opened.table.blocks == 1 and opened.rotation is None and opened.dither is None
    if plain and isinstance(opened.symbols, body.Coded):
        return opened.symbols.values(opened.table.rows(0, 1)[0], threads)
    symbols = unpack_symbols(opened, threads)
    quantized = Quantized(
        symbols=symbols,
        bounds=opened.bounds,
        table=opened.table,
        rotation=opened.rotation,
        dither=opened.dither,
    )
    return values(quantized, threads)


def unpack_symbols(opened: Opened, threads: int = 1) -> Symbols:
    """The symbols of an opened frame."""
    coded = opened.symbols
    return coded.symbols(threads) if isinstance(coded, body.Coded) else coded


def shared_nbytes(opened: Opened) -> int:
    """The size of seeds, blocks and tables."""
    seeds = SEED.size * (opened.header.rotated + opened.header.dithered)
    blocks = len(tables.write_blocks(opened.bounds))
    return seeds + blocks + len(tables.write_table(opened.table))


def coder_shape(opened: Opened) -> tuple[int, int]:
    """Symbols per letter and number of segments, 0 and 0 where nothing is entropy-coded."""
    if not isinstance(opened.symbols, body.Coded):
        return 0, 0
    return opened.symbols.group, opened.symbols.segments


def values(quantized: Quantized, threads: int = 1) -> Vector:
    """The vector that the symbols stand for; few rows of a long table exist at a time."""
    symbols, bounds, table = quantized.symbols, quantized.bounds, quantized.table
    out = np.empty(len(symbols), dtype=np.float32)
    if not isinstance(table, Codebook) and is_sparse(table, len(symbols)):
        for start in range(0, len(symbols), ROWS_AT_ONCE):
            own = np.arange(start, min(start + ROWS_AT_ONCE, len(symbols)))
            blocks = np.searchsorted(bounds, own, side="right") - 1
            out[own] = table.look_up(symbols[own], blocks)
    else:
        step = max(1, ROWS_AT_ONCE // table.alphabet)

        def look_up(blocks: range) -> None:
            rows = table.rows(blocks.start, blocks.stop)
            _look_up(symbols, bounds[blocks.start : blocks.stop + 1], rows, out)

        parallel.run(look_up, parallel.split(table.blocks, step, threads), threads)
    if quantized.dither is not None and isinstance(table, Ladder):
        dither.take_off(out, bounds, table, quantized.dither)
        if not np.isfinite(out).all():
            raise FrameError(HEADER.size, "a dithered vector of finite floats", "an overflow")
    return _turned_back(out, quantized.rotation)


def is_even(table: Table) -> bool:
    """Whether a table is of even steps from zero on, which dither needs."""
    return isinstance(table, Ladder) and table.alphabet % 2 == 1


def is_sparse(table: Table, symbols: int) -> bool:
    """Whether all rows of the table would be much larger than the vector: blocks below a row."""
    many = table.blocks * table.alphabet > 4 * symbols + ROWS_AT_ONCE
    return many and not isinstance(table, Codebook)


def _turned_back(x: Vector, rotation: Rotation | None) -> Vector:
    """The vector before its rotation, if it was rotated."""
    if rotation is None:
        return x
    turned = unrotate(x, rotation.seed, rotation.entries)
    if not np.isfinite(turned).all():
        raise FrameError(HEADER.size, "a rotated vector of finite floats", "an overflow")
    return turned


@kernel
def _look_up(
    symbols: Symbols, bounds: Bounds, rows: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """The table look-up: out[i] = rows[block of i, symbols[i]]."""
    for block in range(len(bounds) - 1):
        row = rows[block]
        for i in range(bounds[block], bounds[block + 1]):
            out[i] = row[symbols[i]]
