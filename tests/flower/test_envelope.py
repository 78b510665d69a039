"""Messages of ours, whole and damaged."""

import numpy as np
import pytest
from flwr.app import Array, ConfigRecord, RecordDict

from lossyfl.digests import NOTHING, Held
from lossyfl.flower.envelope import (
    PIECE,
    RECORD,
    Down,
    Foreign,
    Up,
    pack_down,
    pack_frames,
    pack_up,
    unpack_down,
    unpack_up,
)

HELD = Held(round=3, digest=2**64 - 1)
DOWN = Down(training="0123456789abcdef", scheme="lfl", seed=1, held=HELD, accepted=-1, key="arrays")


@pytest.mark.parametrize("sizes", [(), (5,), (0, 7), (PIECE,), (PIECE - 3, 3 * PIECE, 1)])
def test_there_and_back(sizes: tuple[int, ...]) -> None:
    frames = tuple(bytes([size % 251]) * size for size in sizes)
    others = {"n": Array(np.array(3)), "m": Array(np.zeros((0, 2), np.int32))}
    down = Down(**{name: getattr(DOWN, name) for name in Down.__slots__} | {"frames": frames})
    ours = pack_down(down) | pack_frames(frames)
    content = RecordDict({"config": ConfigRecord({"lr": 0.1}), **ours})
    assert all(record.count_bytes() for record in content.values())
    assert unpack_down(content) == down
    assert list(content) == ["config"]
    up = Up(number=4, held=NOTHING, reply=b"xyz", exact=others)
    found = unpack_up(RecordDict({**pack_up(up)}))
    assert found == up


def test_pieces_are_small_enough_for_slow_links() -> None:
    sizes = [record.count_bytes() for record in pack_frames((b"x" * 10**6,)).values()]
    assert max(sizes) < PIECE + 1000
    assert pack_frames((b"x" * 1000,)) == {}  # it lies in the first record


def test_not_ours() -> None:
    assert unpack_down(RecordDict({"config": ConfigRecord({"lr": 0.1})})) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seed", "x"),
        ("training", "../../etc/passwd"),
        ("digest", "no"),
        ("sizes", [9]),
        ("round", 1.5),
        ("training", 3),
    ],
)
def test_damaged(field: str, value: object) -> None:
    content = RecordDict({**pack_down(DOWN)})
    content[RECORD][field] = value
    with pytest.raises(Foreign, match="damaged"):
        unpack_down(content)


def test_another_version_says_what_to_do() -> None:
    content = RecordDict({**pack_up(Up(number=1, held=HELD))})
    content[RECORD]["format"] = "2.1"
    content[RECORD]["lossyfl"] = "9.9"
    with pytest.raises(
        Foreign, match=r"the node has lossyfl 9.9 .* install the same lossyfl on both"
    ):
        unpack_up(content)
