"""Headers: the meta travels, and what a version does not know is refused before anything is allocated."""

import struct
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from tests.helpers import forge, laplace, sample_frame

from lossyfl import (
    FrameError,
    FrameMeta,
    InputError,
    Kind,
    Stochastic,
    decode,
    encode,
    inspect,
    stream,
)
from lossyfl.wire.adding import open_addend
from lossyfl.wire.frame import pack_raw
from lossyfl.wire.header import read_header


class TestAddress:
    def test_address_travels(self) -> None:
        for gain in (0, 1, 255):
            meta = FrameMeta(kind=Kind.UPDATE, round=7, digest=2**64 - 1, gain=gain)
            frame = pack_raw(laplace(3), meta)
            assert read_header(frame).meta == meta

    def test_a_merged_update_says_from_where_to_where(self) -> None:
        meta = FrameMeta(kind=Kind.MERGED, round=9, since=2, digest=2**64 - 1, result=5)
        frame = pack_raw(laplace(3), meta)
        header = read_header(frame)
        assert (header.meta, header.version, header.nbytes) == (meta, 6, 45)
        assert len(frame) == 45 + 12 + 4
        assert decode(frame).tobytes() == laplace(3).tobytes()
        assert (inspect(frame).kind, inspect(frame).since) == ("merged", 2)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"kind": Kind.MERGED, "round": 2, "since": 2},
            {"kind": Kind.MERGED, "round": 2, "since": -1},
            {"kind": Kind.MERGED, "round": 2, "result": 2**64},
            {"kind": Kind.UPDATE, "round": 2, "since": 1},
            {"kind": Kind.MODEL, "round": 2, "result": 1},
        ],
    )
    def test_a_leap_out_of_range(self, wrong: dict[str, int]) -> None:
        with pytest.raises(InputError, match=r"(since|result) of a frame must be"):
            FrameMeta(**wrong)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "wrong", [{"round": -1}, {"round": 2**32}, {"digest": 2**64}, {"gain": 256}, {"gain": 1}]
    )
    def test_address_out_of_range(self, wrong: dict[str, int]) -> None:
        with pytest.raises(InputError, match="of a frame must be an int in"):
            FrameMeta(**wrong)  # type: ignore[arg-type]


class TestReadHeader:
    def test_another_version_says_so(self) -> None:
        with pytest.raises(
            FrameError, match=r"byte 3: expected a frame version up to 6, got version 7"
        ):
            decode(forge(sample_frame(), 3, b"\x07"))

    def test_a_trend_before_version_3(self) -> None:
        with pytest.raises(FrameError, match=r"byte 4: expected a kind in \[0, 1, 2, 3\], got 4"):
            decode(forge(sample_frame(), 4, b"\x04"))

    def test_a_merged_update_before_version_6(self) -> None:
        frame = forge(pack_raw(laplace(9), FrameMeta(kind=Kind.TREND)), 4, b"\x05")
        with pytest.raises(
            FrameError, match=r"byte 4: expected a kind in \[0, 1, 2, 3, 4\], got 5"
        ):
            decode(frame)

    def test_a_merged_update_that_leads_nowhere(self) -> None:
        frame = pack_raw(laplace(9), FrameMeta(kind=Kind.MERGED, round=3, since=2))
        for since in (3, 4, 2**32 - 1):
            with pytest.raises(FrameError, match="byte 33: expected a round before 3"):
                decode(forge(frame, 33, struct.pack("<I", since)))

    def test_a_merged_update_that_ends_early(self) -> None:
        frame = pack_raw(laplace(9), FrameMeta(kind=Kind.MERGED, round=3, since=2))
        for end in range(37, 45):
            with pytest.raises(FrameError, match="expected at least 49 bytes"):
                decode(forge(frame[:end] + bytes(4), 0, b"LFL"))

    def test_a_gain_but_for_updates(self) -> None:
        frame = pack_raw(laplace(9), FrameMeta(kind=Kind.UPDATE, gain=7))
        with pytest.raises(FrameError, match="byte 32: expected no gain but for updates"):
            decode(forge(frame, 4, b"\x03"))

    def test_a_frame_that_ends_before_its_gain(self) -> None:
        with pytest.raises(FrameError, match=r"byte 36: expected at least 37 bytes"):
            decode(forge(sample_frame()[:36], 3, b"\x03"))

    def test_max_entries_is_kept_before_anything_is_allocated(self) -> None:
        frame = forge(sample_frame(), 8, struct.pack("<Q", 200_000_000))
        tracemalloc.start()
        with pytest.raises(FrameError, match=r"1 to 100000 entries .*got 200000000"):
            decode(frame, max_entries=100_000)
        assert tracemalloc.get_traced_memory()[1] < 100_000
        tracemalloc.stop()

    @pytest.mark.parametrize("read", [decode, inspect, open_addend])
    def test_a_few_bytes_do_not_become_gigabytes_unasked(
        self, read: Callable[[bytes], object]
    ) -> None:
        zeros = encode(np.zeros(1000, np.float32), Stochastic(), rng=stream(0))
        bomb = forge(zeros, 8, struct.pack("<Q", (1 << 24) + 1))
        assert len(bomb) < 50
        with pytest.raises(
            FrameError, match=r"1 to 16777216 entries \(max_entries sets the limit\)"
        ):
            read(bomb)
        assert read_header(bomb, 1 << 25).entries == (1 << 24) + 1

    @pytest.mark.parametrize(
        ("offset", "new", "message"),
        [
            (20, b"\x05", "byte 20: expected no blocks of raw floats, got 5"),
            (5, b"\x08", "byte 5: expected raw floats neither rotated nor dithered"),
        ],
    )
    def test_raw_frames_that_say_more(self, offset: int, new: bytes, message: str) -> None:
        with pytest.raises(FrameError, match=message):
            decode(forge(pack_raw(laplace(9), FrameMeta()), offset, new))

    def test_dither_before_version_2(self) -> None:
        frame = sample_frame()
        with pytest.raises(FrameError, match="byte 5: expected dither from version 2 on"):
            decode(forge(frame, 5, bytes([frame[5] | 4])))
