"""Frames: the smallest coding, and every kind of wrong byte refused with its offset."""

import struct
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import forge, laplace, sample_frame, seal

from lossyfl import (
    Codebook,
    FrameError,
    FrameMeta,
    InputError,
    Quantized,
    Stochastic,
    UniformTable,
    decode,
    encode,
    inspect,
    stream,
)
from lossyfl.types import Counts, Rotation, Symbols
from lossyfl.wire import frame as frames
from lossyfl.wire import radix
from lossyfl.wire.adding import open_addend
from lossyfl.wire.histogram import entropy
from lossyfl.wire.values import values

HEADER = 32


def book(
    symbols: list[int] | Symbols, values: list[float], counts: Counts | None = None
) -> Quantized:
    row = np.array([values], dtype=np.float32)
    kind = np.uint8 if len(values) <= 256 else np.uint16
    array = np.asarray(symbols, dtype=kind)
    bounds = np.array([0, len(array)])
    return Quantized(symbols=array, bounds=bounds, table=Codebook(values=row), counts=counts)


def two_symbols(flags: int) -> bytes:
    """A frame with a uniform table of q = 0."""
    head = struct.pack("<3sBBBHQIIQ", b"LFL", 1, 0, 2 | flags | 1 << 4, 1, 1000, 0, 0, 0)
    seed = bytes(8) if flags & 8 else b""
    floats = struct.pack("<ff", 0, 1)
    return seal(head + seed + floats + struct.pack("<BH", 0, 0) + b"P\xf0")


class TestPack:
    def test_header_of_a_whole_model_scale_is_within_64_bytes(self) -> None:
        assert inspect(sample_frame()).header_bytes <= 64

    def test_zero_vector_costs_header_only(self) -> None:
        frame = encode(np.zeros(10**6, np.float32), Stochastic(), rng=stream(0))
        assert len(frame) <= 64
        assert not decode(frame).any()

    @given(
        alphabet=st.integers(2, 400),
        entries=st.integers(1, 2000),
        skew=st.floats(0.1, 5),
        seed=st.integers(0, 10**6),
    )
    def test_never_larger_than_radix_or_raw(
        self, alphabet: int, entries: int, skew: float, seed: int
    ) -> None:
        rng = np.random.default_rng(seed)
        draws = (rng.random(entries) ** skew * alphabet).astype(int)
        quantized = book(draws.tolist(), np.linspace(-1, 1, alphabet).tolist())
        frame = frames.pack(quantized, FrameMeta())
        packed = HEADER + 4 * alphabet + radix.nbytes(entries, alphabet) + 4
        assert len(frame) <= min(packed, HEADER + 4 * entries + 4)
        assert np.array_equal(decode(frame), values(quantized))

    @pytest.mark.parametrize("alphabet", [3, 5, 6, 101, 2001])
    def test_uniform_symbols_stay_near_their_entropy(self, alphabet: int) -> None:
        symbols = np.random.default_rng(0).integers(0, alphabet, 100_000)
        quantized = book(symbols.tolist(), list(range(alphabet)))
        frame = frames.pack(quantized, FrameMeta())
        bits = 100_000 * np.log2(alphabet)
        assert 8 * len(frame) <= 1.005 * bits + 8 * (64 + 4 * alphabet)

    @pytest.mark.parametrize("alphabet", [2, 3, 5, 11, 101, 2001])
    @pytest.mark.parametrize("zeros", [0.3, 0.7, 0.95, 0.99])
    @pytest.mark.parametrize("entries", [100_000, 500_000])
    def test_size_is_within_the_stated_limit(
        self, alphabet: int, zeros: float, entries: int
    ) -> None:
        """Entropy + 0.5 % + 64 bytes + 12 bits a symbol in use; the float table comes on top."""
        rng = np.random.default_rng(alphabet)
        symbols = rng.integers(0, alphabet, entries)
        symbols[rng.random(entries) < zeros] = alphabet // 2
        quantized = book(symbols.tolist(), list(range(alphabet)))
        frame = frames.pack(quantized, FrameMeta())
        counts = np.bincount(symbols, minlength=alphabet)
        limit = 1.005 * entropy(counts) + 8 * 64 + 12 * np.count_nonzero(counts)
        assert 8 * (len(frame) - 4 * alphabet) <= limit


class TestWrongQuantized:
    """A quantizer may be anybody's: what it gives is checked before anything is written."""

    def test_symbols_outside_the_table(self) -> None:
        with pytest.raises(
            InputError, match=r"symbols of Quantized must be below the alphabet \(2\)"
        ):
            frames.pack(book([0, 1, 2], [-1, 1]), FrameMeta())

    def test_symbols_of_another_type(self) -> None:
        wrong = replace(book([0, 0, 0], [0, 1]), symbols=np.zeros(3, np.uint16))
        with pytest.raises(InputError, match="symbols of Quantized must be a vector of uint8"):
            frames.pack(wrong, FrameMeta())

    def test_rows_and_blocks_differ(self) -> None:
        wrong = replace(book([0, 0, 0], [0, 1]), bounds=np.array([0, 1, 3]))
        with pytest.raises(InputError, match="table of Quantized must be 2 rows"):
            frames.pack(wrong, FrameMeta())

    def test_table_of_nan(self) -> None:
        with pytest.raises(InputError, match="table of Quantized must be finite"):
            frames.pack(book([0, 1], [0, float("nan")]), FrameMeta())

    def test_odd_ladder_with_a_minimum(self) -> None:
        one, two = np.ones(1, np.float32), np.full(1, 2, np.float32)
        wrong = replace(book([0, 0], [0, 1]), table=UniformTable(low=one, high=two, alphabet=5))
        with pytest.raises(InputError, match="low of UniformTable must be 0 in an odd alphabet"):
            frames.pack(wrong, FrameMeta())

    def test_bounds_that_miss_entries(self) -> None:
        with pytest.raises(InputError, match="bounds of Quantized must be from 0 to 3"):
            frames.pack(replace(book([0, 0, 0], [0, 1]), bounds=np.array([0, 2])), FrameMeta())

    def test_alphabet_of_one(self) -> None:
        with pytest.raises(InputError, match="alphabet of Quantized must be in"):
            frames.pack(book([0, 0], [1.0]), FrameMeta())


class TestWrongBytes:
    @pytest.mark.parametrize("length", [*range(40), 100, -1])
    def test_truncated(self, length: int) -> None:
        with pytest.raises(FrameError):
            decode(sample_frame()[:length])

    def test_extended(self) -> None:
        with pytest.raises(FrameError, match="checksum"):
            decode(sample_frame() + b"\x00")

    def test_every_single_flipped_bit_is_noticed(self) -> None:
        frame = sample_frame(200)
        for bit in range(8 * len(frame)):
            flipped = bytearray(frame)
            flipped[bit // 8] ^= 1 << bit % 8
            with pytest.raises(FrameError):
                decode(flipped)

    @pytest.mark.parametrize("frame", [b"", b"LF", b"LFL", b"PK\x03\x04" * 20, b"\x00" * 64])
    def test_not_a_frame(self, frame: bytes) -> None:
        with pytest.raises(FrameError):
            decode(frame)


class TestOverflow:
    """Finite tables of which dither or rotation would make infinity."""

    TOP = np.full(1, np.finfo(np.float32).max)
    LADDER = UniformTable(low=np.zeros(1, np.float32), high=TOP, alphabet=3)
    CASES = (
        Quantized(
            symbols=np.full(512, 2, np.uint8),
            bounds=np.array([0, 512]),
            table=LADDER,
            rotation=Rotation(seed=0, entries=512),
        ),
        Quantized(
            symbols=np.full(512, 2, np.uint8), bounds=np.array([0, 512]), table=LADDER, dither=0
        ),
    )

    @pytest.mark.parametrize("read", [decode, inspect, open_addend])
    @pytest.mark.parametrize("quantized", CASES, ids=["rotated", "dithered"])
    def test_what_decode_refuses_is_refused_by_all(
        self, read: Callable[[bytes], object], quantized: Quantized
    ) -> None:
        with pytest.raises(FrameError, match="finite floats, got an overflow"):
            read(frames.pack(quantized, FrameMeta()))


class TestHostileBytes:
    """Frames with a valid checksum that say what no encoder would."""

    CASES = (
        (4, b"\x09", 4, "a kind in"),
        (5, b"\x07", 5, "a known coding"),
        (5, b"\x32", 5, "a known coding"),
        (6, b"\x00\x00", 6, "an alphabet of at least 2"),
        (8, struct.pack("<Q", 1 << 60), 8, "1 to 16777216 entries"),
        (8, struct.pack("<Q", 0), 8, "1 to 16777216 entries"),
        (20, struct.pack("<I", 1), 32, "tables of 5000 blocks"),
        (20, struct.pack("<I", 2**32 - 1), 32, "a number of blocks|lengths of blocks"),
        (32, struct.pack("<f", float("nan")), 32, "a finite table value"),
        (36, struct.pack("<f", float("inf")), 36, "a finite table value"),
        (32, struct.pack("<f", -1), 32, "0 <= low <= high"),
        (36, struct.pack("<f", 0), 32, "0 <= low <= high"),
        (40, b"\x09", 40, "letters of 6 symbols that fit a byte"),
        (41, b"\x00\x00", 41, "segments if and only if"),
        (41, b"\xff\xff", 41, "no empty segment"),
        (43, b"\x00\x00", 43, "a table of counts"),
    )

    @pytest.mark.parametrize(("offset", "new", "where", "message"), CASES)
    def test_refused_with_offset_and_expectation(
        self, offset: int, new: bytes, where: int, message: str
    ) -> None:
        with pytest.raises(FrameError, match=message) as error:
            decode(forge(sample_frame(), offset, new))
        assert error.value.offset == where

    @pytest.mark.parametrize("read", [decode, inspect, open_addend])
    @pytest.mark.parametrize("flags", [0, 8])
    def test_a_ladder_of_two_symbols_has_no_levels(
        self, read: Callable[[bytes], object], flags: int
    ) -> None:
        with pytest.raises(
            FrameError, match="a uniform table of at least 3 symbols, got 2"
        ) as error:
            read(two_symbols(flags=flags))
        assert error.value.offset == 6

    def test_segments_that_overlap_the_end(self) -> None:
        frame = sample_frame(300_000)
        opened = frames.open_body(frame, frames.read_header(frame))
        assert isinstance(opened, frames.Opened)
        assert opened.symbols.segments > 1
        start = opened.symbols.offset - 4 * (opened.symbols.segments - 1)  # type: ignore[union-attr]
        with pytest.raises(FrameError, match="segments that fill the frame"):
            decode(forge(frame, start, struct.pack("<I", 2**32 - 1)))

    def test_other_symbols_than_were_coded(self) -> None:
        frame = sample_frame()
        with pytest.raises(FrameError, match="a rANS segment"):
            decode(forge(frame, len(frame) - 40, b"\xff\xff\xff\xff"))

    def test_raw_frames_hold_finite_floats_of_the_right_number(self) -> None:
        frame = frames.pack_raw(laplace(10), FrameMeta())
        with pytest.raises(FrameError, match="a finite float32"):
            decode(forge(frame, 36, struct.pack("<f", float("nan"))))
        with pytest.raises(FrameError, match="40 bytes of float32"):
            decode(seal(frame[:-8]))

    def test_entries_that_the_bytes_cannot_hold(self) -> None:
        with pytest.raises(FrameError):
            decode(forge(sample_frame(), 8, struct.pack("<Q", 6000)))

    def test_listed_blocks_must_sum_to_the_entries(self) -> None:
        frame = sample_frame(scale="tensor")
        assert frame[32] == 2
        with pytest.raises(FrameError, match="lengths of blocks"):
            decode(forge(frame, 33, b"\x80\x01"))
        with pytest.raises(FrameError, match="a varint"):
            decode(forge(frame, 32, b"\xff" * 12))
