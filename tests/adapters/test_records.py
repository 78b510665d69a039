"""Frames in records: whole, in pieces that slow links carry, and never anything else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.records import INLINE, PIECE, RECORD, Foreign, pack, pack_frames, unpack


@given(st.lists(st.integers(0, 3 * PIECE // 2), max_size=4))
def test_frames_come_back(sizes: list[int]) -> None:
    frames = [bytes([size % 251]) * size for size in sizes]
    found = unpack(pack({}, frames, {}) | pack_frames(frames), sender="it")
    assert found is not None
    assert found[1] == tuple(frames)


def test_pieces_are_small_enough_for_slow_links() -> None:
    pieces = pack_frames((b"x" * 10**6,)).values()
    assert all(isinstance(own["run"], bytes) and len(own["run"]) <= PIECE for own in pieces)
    assert len(pieces) == 4


def test_few_bytes_lie_in_the_first_record() -> None:
    frames = (b"x" * INLINE,)
    assert pack_frames(frames) == {}
    assert pack({}, frames, {})[RECORD]["run"] == frames[0]


def test_fields_without_a_value_take_no_room() -> None:
    """Flower cannot count them."""
    assert "problem" not in pack({"problem": ""}, (), {})[RECORD]


def test_a_piece_that_is_missing() -> None:
    frames = (b"x" * 3 * PIECE,)
    records = pack({}, frames, {}) | pack_frames(frames)
    del records[f"{RECORD}.1"]
    with pytest.raises(Foreign, match="lossyfl record of it is damaged: a frame of"):
        unpack(records, sender="it")


def test_exact_arrays_come_back() -> None:
    exact = {"n": Array.of(np.array(3)), "m": Array.of(np.zeros((0, 2), np.int32))}
    found = unpack(pack({}, (), exact), sender="it")
    assert found is not None
    assert found[2] == exact


def test_nothing_of_ours() -> None:
    assert unpack({"config": {"lr": 0.1}}, sender="it") is None
