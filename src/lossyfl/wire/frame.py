"""The frame: what travels, and the only thing that is ever counted. docs/adr/0001-frame-format.md.

    size  part
      32  header, 33 with a gain (see `header`)
       8  seed of the rotation's signs, only if rotated; 2^64 - 1 for none, from version 4 on
       8  seed of the dither, only if dithered
          blocks, tables, symbols (raw: float32 entries and nothing else)
       4  checksum

A frame needs no other knowledge to be decoded.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lossyfl.errors import FrameError, InputError, NotFinite
from lossyfl.kernels import parallel
from lossyfl.kernels.model import entropy
from lossyfl.types import (
    MAX_ALPHABET,
    Bounds,
    Counts,
    Quantized,
    Rotation,
    Symbols,
    Table,
    UniformTable,
    Vector,
    symbol_type,
)
from lossyfl.wire import body, classes, histogram, radix, tables
from lossyfl.wire.header import (
    CHECKSUM,
    DITHERED,
    HEADER,
    MAX_ENTRIES,
    NO_SIGNS,
    ROTATED,
    SEED,
    UNSIGNED,
    Bytes,
    Coding,
    FrameMeta,
    Header,
    read_header,
    seal,
    write_header,
)
from lossyfl.wire.shapes import matrices_of
from lossyfl.wire.values import is_even, values


def pack(quantized: Quantized, meta: FrameMeta, *, threads: int = 1) -> bytes:
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
        return pack_raw(values(quantized), meta)
    shapes = None if rotation is not None else matrices_of(quantized.tensors, len(symbols))
    data = classes.encode(symbols, counts, shapes, quantized.levels, threads)
    coding, size = Coding.CLASSES, _nbytes(data) + 1  # the header of this version is a byte longer
    if not data or 8 * size > entropy(counts) or size > packed:
        plain = _coded(symbols, counts, packed, threads)
        if not data or (plain and _nbytes(plain) <= size):
            coding, data, size = Coding.RANS, plain, _nbytes(plain)
    if not data or size > packed:
        coding, data, size = Coding.RADIX, [radix.pack(symbols, table.alphabet)], packed
    if len(shared) + size > 4 * entries:
        return pack_raw(values(quantized), meta)
    field = tables.block_field(bounds)
    unsigned = rotation is not None and rotation.seed is None
    head = write_header(
        meta, coding | flags, table.form, table.alphabet, entries, field, unsigned=unsigned
    )
    return seal([head, shared, *data])


def _nbytes(pieces: Sequence[bytes | memoryview]) -> int:
    return sum(memoryview(piece).nbytes for piece in pieces)


def _coded(
    symbols: Symbols, counts: Counts, packed: int, threads: int
) -> Sequence[bytes | memoryview]:
    """The symbols by rANS; nothing if that is not expected to be below `packed` bytes."""
    short = body.encode_short(symbols, counts, packed)
    if short is not None:
        return [short]
    plan = body.plan(counts)
    return body.encode(symbols, len(counts), counts, plan, threads) if plan.nbytes < packed else []


def _seeds(quantized: Quantized) -> tuple[bytes, int]:
    """The seeds of rotation and dither, and the flags that say which are there."""
    seeds, flags = b"", 0
    if quantized.rotation is not None:
        seed = quantized.rotation.seed
        seeds, flags = SEED.pack(NO_SIGNS if seed is None else seed), ROTATED
    if quantized.dither is not None:
        seeds, flags = seeds + SEED.pack(quantized.dither), flags | DITHERED
    return seeds, flags


def pack_raw(x: Vector, meta: FrameMeta) -> bytes:
    """A frame that holds the floats themselves; they must be finite, as in every frame."""
    finite = np.isfinite(x)
    if not finite.all():
        bad = int(np.argmin(finite))
        raise NotFinite(f"entry {bad}", of="the vector", got=float(x[bad]))
    return seal([write_header(meta, Coding.RAW, 0, 1, len(x), 0), x.astype("<f4", copy=False).data])


def raw_nbytes(entries: int) -> int:
    """The length of a raw frame of so many entries, one byte less than with a gain."""
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
    if not math.isfinite(table.peak):
        raise InputError("table", of="Quantized", allowed="finite", got="NaN or infinity")
    if isinstance(table, UniformTable) and table.alphabet % 2 and table.low.any():
        raise InputError(
            "low", of="UniformTable", allowed="0 in an odd alphabet", got=table.low.max()
        )
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
    return np.ascontiguousarray(symbols), np.ascontiguousarray(counts, dtype=np.int64)


def with_digest(frame: bytes, digest: int) -> bytes:
    """The same frame with another digest: for a model that is known only once it is encoded."""
    at = HEADER.size - SEED.size
    return seal([frame[:at], SEED.pack(digest), frame[HEADER.size : -CHECKSUM.size]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A frame whose header, blocks and tables are read and checked, its symbols not yet decoded."""

    header: Header
    bounds: Bounds
    table: Table
    symbols: body.Coded | classes.ClassCoded | radix.RadixCoded
    rotation: Rotation | None
    dither: int | None


def open_body(frame: Bytes, header: Header) -> Opened | Vector:
    """The parts of a frame whose header has been read; a raw frame is its vector."""
    data = memoryview(frame).cast("B")[: -CHECKSUM.size]
    at = header.nbytes
    if header.coding is Coding.RAW:
        return _read_raw(data[at:], header.entries, at)
    rotation = dither_seed = None
    if header.rotated:
        seed = _read_seed(data, at)
        unsigned = header.version >= UNSIGNED and seed == NO_SIGNS
        rotation = Rotation(seed=None if unsigned else seed, entries=header.entries)
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
        symbols = radix.open_coded(data[at:], header.alphabet, header.symbols, offset=at)
    elif header.coding is Coding.CLASSES:
        symbols = classes.open_coded(data[at:], header.alphabet, header.symbols, offset=at)
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
    header = read_header(frame, max_entries)
    short = _unpack_short(frame, header)
    if short is not None:
        return short
    opened = open_body(frame, header)
    return reconstruct(opened, threads) if isinstance(opened, Opened) else opened


def _unpack_short(frame: Bytes, header: Header) -> Vector | None:
    """The vector of a short frame with one uniform table; None of any other, and of a wrong one."""
    plain = header.coding is Coding.RANS and header.form == UniformTable.form and not header.block
    if not plain or header.rotated or header.dithered:
        return None
    data = memoryview(frame).cast("B")[header.nbytes : -CHECKSUM.size]
    size = tables.table_nbytes(header.form, header.alphabet, 1)
    table = tables.read_one_uniform(data, header.alphabet) if size <= len(data) else None
    return table and body.decode_short(data[size:], header.alphabet, table, header.entries)


def reconstruct(opened: Opened, threads: int = 1) -> Vector:
    """The vector of an opened frame."""
    threads = parallel.wake(parallel.useful_threads(threads, opened.header.entries))
    plain = opened.table.blocks == 1 and opened.rotation is None and opened.dither is None
    if plain:
        return opened.symbols.values(opened.table.rows(0, 1)[0], threads)
    return values(unpack_quantized(opened, threads), threads)


def unpack_quantized(opened: Opened, threads: int = 1) -> Quantized:
    """The symbols of an opened frame, with all that turns them into floats."""
    return Quantized(
        symbols=opened.symbols.symbols(threads),
        bounds=opened.bounds,
        table=opened.table,
        rotation=opened.rotation,
        dither=opened.dither,
    )


def shared_nbytes(opened: Opened) -> int:
    """The size of seeds, blocks and tables."""
    seeds = SEED.size * (opened.header.rotated + opened.header.dithered)
    blocks = len(tables.write_blocks(opened.bounds))
    return seeds + blocks + len(tables.write_table(opened.table))
