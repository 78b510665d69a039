"""Messages of ours, whole and damaged."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.envelope import Down, Up, pack_down, pack_up, unpack_down, unpack_up
from lossyfl.adapters.records import PIECE, RECORD, Foreign, pack_frames
from lossyfl.protocol.digests import NOTHING, EstimateVersion

HELD = EstimateVersion(round=3, digest=2**64 - 1)
DOWN = Down(training="0123456789abcdef", scheme="lfl", seed=1, held=HELD, accepted=-1, key="arrays")


@pytest.mark.parametrize("sizes", [(), (5,), (0, 7), (PIECE,), (PIECE - 3, 3 * PIECE, 1)])
def test_there_and_back(sizes: tuple[int, ...]) -> None:
    frames = tuple(bytes([size % 251]) * size for size in sizes)
    others = {"n": Array.of(np.array(3)), "m": Array.of(np.zeros((0, 2), np.int32))}
    down = replace(DOWN, frames=frames)
    ours = pack_down(down) | pack_frames(frames)
    assert unpack_down({"config": {"lr": 0.1}, **ours}) == down
    up = Up(number=4, held=NOTHING, reply=b"xyz", exact=others)
    found = unpack_up(pack_up(up))
    assert found == up


def test_a_bound_travels_and_none_takes_no_room() -> None:
    bounded = replace(DOWN, bound=0.5)
    assert unpack_down(pack_down(bounded)) == bounded
    assert "bound" not in pack_down(DOWN)[RECORD]


def test_not_ours() -> None:
    assert unpack_down({"config": {"lr": 0.1}}) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seed", "x"),
        ("seed", -1),
        ("seed", True),
        ("training", "../../etc/passwd"),
        ("digest", "no"),
        ("digest", "-1"),
        ("digest", "0x" + "1" * 14),
        ("sizes", [9]),
        ("sizes", [-1, 1]),
        ("sizes", [0.0]),
        ("sizes", 3),
        ("run", "text"),
        ("round", 1.5),
        ("round", 1 << 32),
        ("round", -2),
        ("accepted", 1 << 40),
        ("accepted", -3),
        ("key", b"bytes"),
        ("key", "k" * 1001),
        ("scheme", "s" * 1001),
        ("layout", 3.0),
        ("bound", 0.0),
        ("bound", -1.0),
        ("bound", float("nan")),
        ("bound", float("inf")),
        ("bound", "1.0"),
        ("training", 3),
        ("exact.n", 3),
        ("exact.n", ["int64"]),
        ("exact.n", ["int64", "numpy.ndarray", "-1"]),
        ("exact.n", ["int64", "numpy.ndarray", "9" * 5000]),
        ("exact.n", ["int64", "numpy.ndarray", "1_0"]),
        ("exact.n", [1, 2, 3]),
        ("bytes.n", "text"),
    ],
)
def test_damaged(field: str, value: object) -> None:
    down = replace(DOWN, exact={"n": Array.of(np.array(3))}, layout="[]")
    content = pack_down(down)
    assert unpack_down(content) == down
    with pytest.raises(Foreign, match="damaged"):
        unpack_down({RECORD: {**content[RECORD], field: value}})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number", -1),
        ("number", 1 << 63),
        ("number", "0"),
        ("round", 1 << 32),
        ("sizes", [1, 2]),
        ("training", float("nan")),
        ("training", -1.0),
        ("coding", float("inf")),
        ("coding", "1"),
        ("problem", 7),
    ],
)
def test_damaged_replies(field: str, value: object) -> None:
    content = pack_up(Up(number=4, held=HELD, reply=b"xyz"))
    with pytest.raises(Foreign, match="record of the device is damaged"):
        unpack_up({RECORD: {**content[RECORD], field: value}})


@pytest.mark.parametrize("record", [{}, {"run": 1}, {"run": "x"}])
@pytest.mark.parametrize("name", [RECORD, f"{RECORD}.0"])
def test_another_kind_of_record(name: str, record: dict[str, object]) -> None:
    frames = (b"x" * PIECE,)
    ours = pack_down(replace(DOWN, frames=frames)) | pack_frames(frames)
    with pytest.raises(Foreign):
        unpack_down({**ours, name: record})


def test_what_others_say_cannot_forge_a_log() -> None:
    said = "lost\nINFO : all is well" + "\x1b[31m" + "x" * 10**6
    found = unpack_up(pack_up(Up(number=1, held=HELD, problem=said)))
    assert found is not None
    assert found.problem.isprintable()
    assert len(found.problem) < 300


VALUES = st.one_of(
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(),
    st.text(max_size=30),
    st.binary(max_size=30),
    st.booleans(),
    st.lists(st.integers(-5, 1 << 40), max_size=4),
    st.lists(st.floats(), max_size=4),
    st.lists(st.text(max_size=9), max_size=4),
    st.lists(st.binary(max_size=9), max_size=4),
)
NAMES = st.sampled_from(
    [
        *Down.__slots__,
        *Up.__slots__,
        "format",
        "round",
        "digest",
        "sizes",
        "run",
        "exact.n",
        "bytes.n",
    ]
)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sets(NAMES, max_size=2))
def test_any_record_is_read_or_foreign(changed: dict[str, object], gone: set[str]) -> None:
    ours = (
        (
            pack_down(replace(DOWN, exact={"n": Array.of(np.array(3))}, frames=(b"abc",))),
            unpack_down,
        ),
        (
            pack_up(Up(number=4, held=HELD, exact={"n": Array.of(np.array(3))}, reply=b"xyz")),
            unpack_up,
        ),
    )
    for records, unpack in ours:
        fields = {**records[RECORD], **changed}
        kept = {name: value for name, value in fields.items() if name not in gone}
        try:
            assert isinstance(unpack({RECORD: kept}), Down | Up)
        except Foreign as error:
            assert str(error).isprintable()  # noqa: PT017 - most are, and some are not


def test_another_version_says_what_to_do() -> None:
    content = pack_up(Up(number=1, held=HELD))
    content[RECORD] |= {"format": "2.1", "lossyfl": "9.9"}
    with pytest.raises(Foreign, match=r"the device has lossyfl 9.9 .* install the same lossyfl"):
        unpack_up(content)
