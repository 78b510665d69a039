"""Vectors to frames and back: the public codec."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from lossyfl.errors import InputError
from lossyfl.kernels import parallel
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Quantized, Quantizer, Shape, UniformTable, Vector
from lossyfl.wire import facts, histogram
from lossyfl.wire import frame as frames
from lossyfl.wire.header import CHECKSUM, MAX_ENTRIES, WHOLE, Bytes, FrameMeta, read_header
from lossyfl.wire.histogram import entropy
from lossyfl.wire.shapes import as_shapes, lengths_of
from lossyfl.wire.values import check_values
from lossyfl.wire.vectors import as_vector, block_bounds

_NOWHERE = FrameMeta()


@runtime_checkable
class ShapedQuantizer(Quantizer, Protocol):
    """A quantizer that chooses symbols by what they cost in their row and column."""

    def quantize_shaped(
        self, x: Vector, bounds: Bounds, tensors: Sequence[Shape], *, rng: Stream, threads: int = 1
    ) -> Quantized:
        """As `quantize`, of tensors of these shapes."""
        ...


def encode(
    x: object,
    quantizer: Quantizer,
    *,
    rng: Stream,
    tensors: Sequence[Shape] | None = None,
    meta: FrameMeta | None = None,
    threads: int = 1,
) -> bytes:
    """The frame of a vector: quantized, entropy-coded, self-contained.

    x:       a contiguous vector: NumPy or CPU torch, float32 (no copy), float16, bfloat16, float64
    rng:     the stream that the quantizer draws from
    tensors: shapes of the model's tensors, as (64, 32, 3, 3), which make frames shorter; lengths do for
             quantizers with scale="tensor"
    meta: kind, round and digest, for protocols

    >>> import numpy as np, lossyfl
    >>> x = np.ones(10**6, dtype=np.float32)
    >>> len(lossyfl.encode(x, lossyfl.Stochastic(levels=2), rng=lossyfl.stream(0)))
    50
    """
    vector = as_vector(x)
    threads = parallel.wake(parallel.useful_threads(threads, len(vector)))
    quantized = quantize(vector, quantizer, rng=rng, tensors=tensors, threads=threads)
    return frames.pack(quantized, meta or _NOWHERE, threads=threads)


def quantize(
    x: Vector,
    quantizer: Quantizer,
    *,
    rng: Stream,
    tensors: Sequence[Shape] | None = None,
    threads: int = 1,
) -> Quantized:
    """What `encode` packs and `decode` gives back: symbols and their table."""
    if not isinstance(rng, Stream):  # pyright: ignore[reportUnnecessaryIsInstance]
        allowed = "a lossyfl.Stream, as lossyfl.stream(seed) gives"
        raise InputError("rng", of="encode", allowed=allowed, got=rng)
    if isinstance(quantizer, str):
        allowed = f'a quantizer, as lossyfl.quantizer("{quantizer}") gives'
        raise InputError("quantizer", of="encode", allowed=allowed, got="text")
    shapes = None if tensors is None else as_shapes(tensors, of="encode")
    lengths = None if shapes is None else lengths_of(shapes)
    bounds = block_bounds(quantizer.scale, len(x), lengths)
    if shapes is None:
        return quantizer.quantize(x, bounds, rng=rng, threads=threads)
    if isinstance(quantizer, ShapedQuantizer):
        made = quantizer.quantize_shaped(x, bounds, shapes, rng=rng, threads=threads)
    else:
        made = quantizer.quantize(x, bounds, rng=rng, threads=threads)
    return replace(made, tensors=shapes)


def decode(frame: Bytes, *, max_entries: int = MAX_ENTRIES, threads: int = 1) -> Vector:
    """The float32 vector of a frame, the same to the bit on every machine and thread count.

    Nothing of the order of the vector is allocated before the frame's length, checksum and
    header are found right and its entries at most `max_entries`: a few bytes can stand for any
    number of equal entries. State what you expect; without it the limit is 64 MB of floats.
    """
    return frames.unpack(frame, max_entries=max_entries, threads=threads)


def decode_update(frame: Bytes, *, max_entries: int) -> tuple[FrameMeta, Vector]:
    """What a frame says of itself, and its vector: `decode` for a link that needs both."""
    header = read_header(frame, max_entries)
    opened = frames.open_body(frame, header)
    return header.meta, frames.reconstruct(opened) if isinstance(opened, frames.Opened) else opened


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameInfo:
    """What a frame is made of.

    nbytes:       the real size
    header_bytes: of these, everything but the coded symbols: header, blocks, tables, checksum
    gain:         what an update multiplies the trend by
    since:        the round that a merged update leads from
    coding:       raw, radix, rans or classes; `letters` symbols are coded at a time, 0 if that differs by
                  class
    classes:      of entries by row and column, each with a table of its own
    side_bytes:   of what says which entry is in which class, and of the tables of classes
    alphabet:     symbols that may occur; `used`, those that do
    levels:       the paper's q, where the table is uniform
    entropy_bits: the empirical entropy of all symbols together: of order 0
    class_entropy_bits: that of the symbols of each class, summed; the same where there are no classes
    paper_bits:   R_Q, what the paper would count, where the table is uniform
    """

    nbytes: int
    header_bytes: int
    version: int
    rotated: bool
    dithered: bool
    kind: str
    round: int
    digest: int
    gain: float
    since: int
    entries: int
    blocks: int
    coding: str
    letters: int
    segments: int
    classes: int
    side_bytes: int
    alphabet: int
    used: int
    levels: int | None
    counts: tuple[int, ...]
    entropy_bits: float
    class_entropy_bits: float
    paper_bits: float | None

    @property
    def bits_per_entry(self) -> float:
        """Real bits for each entry of the vector."""
        return 8 * self.nbytes / self.entries

    @property
    def ratio(self) -> float:
        """How many times smaller than 32-bit floats."""
        return 4 * self.entries / self.nbytes

    @property
    def over_entropy(self) -> float:
        """The real size above the entropy of the symbols as they are coded, as a part of it."""
        bits = self.class_entropy_bits
        return 8 * self.nbytes / bits - 1 if bits else math.inf


def inspect(frame: Bytes, *, max_entries: int = MAX_ENTRIES, threads: int = 1) -> FrameInfo:
    """What a frame is made of; a frame that can be inspected is one that can be decoded."""
    header = read_header(frame, max_entries)
    opened = frames.open_body(frame, header)
    size = memoryview(frame).nbytes
    counts = np.zeros(0, dtype=np.int64)
    coded = size - header.nbytes - CHECKSUM.size
    letters = segments = blocks = classes = side = 0
    by_class = 32.0 * header.entries
    levels = paper_bits = None
    if isinstance(opened, frames.Opened):
        quantized = frames.unpack_quantized(opened, threads)
        counts = histogram.count(quantized.symbols, header.alphabet)
        check_values(quantized, threads)
        blocks = opened.table.blocks
        coded -= frames.shared_nbytes(opened)
        coder = opened.symbols
        letters, segments = coder.group, coder.segments
        classes, side = coder.classes, coder.side
        by_class = coder.entropy() if classes else entropy(counts)
        if isinstance(opened.table, UniformTable):
            levels = opened.table.levels
            paper_bits = facts.frame_paper_bits(opened)
    return FrameInfo(
        nbytes=size,
        header_bytes=size - coded,
        version=header.version,
        rotated=header.rotated,
        dithered=header.dithered,
        kind=header.meta.kind.name.lower(),
        round=header.meta.round,
        digest=header.meta.digest,
        gain=header.meta.gain / WHOLE,
        since=header.meta.since,
        entries=header.entries,
        blocks=blocks,
        coding=header.coding.name.lower(),
        letters=letters,
        segments=segments,
        classes=classes,
        side_bytes=side,
        alphabet=header.alphabet,
        used=int(np.count_nonzero(counts)),
        levels=levels,
        counts=tuple(counts.tolist()),
        entropy_bits=entropy(counts) if len(counts) else 32.0 * header.entries,
        class_entropy_bits=by_class,
        paper_bits=paper_bits,
    )
