"""Records as bytes, there and back; all other bytes are refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.envelope import Up, pack_up, unpack_up
from lossyfl.adapters.packets import from_packet, to_packet
from lossyfl.adapters.records import Foreign, Records
from lossyfl.protocol.digests import EstimateVersion

HELD = EstimateVersion(round=3, digest=2**64 - 1)
UP = Up(number=4, held=HELD, reply=b"x" * 10**6, exact={"n": Array.of(np.array(3))}, coding=0.5)
WHOLE = to_packet(pack_up(UP))


def test_there_and_back() -> None:
    assert unpack_up(from_packet(WHOLE)) == UP
    assert len(WHOLE) < 10**6 + 2000


VALUES = st.one_of(
    st.text(), st.binary(), st.integers(), st.floats(allow_nan=False), st.lists(st.text())
)


@given(st.dictionaries(st.text(), st.dictionaries(st.text(), VALUES)))
def test_any_records_there_and_back(records: Records) -> None:
    assert from_packet(to_packet(records)) == records


def packet(records: object, *, form: str = "lossyfl-packet-1") -> bytes:
    head = {"__metadata__": {"format": form, "records": json.dumps(records)}}
    text = json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage",
        WHOLE[:-1],
        WHOLE + b"x",
        packet({}, form="lossyfl-packet-2"),
        packet([]),
        packet({"lossyfl": 3}),
        packet({"lossyfl": {"run": None}}),
        packet("[" * 100_000),
    ],
)
def test_other_bytes_are_foreign(data: bytes) -> None:
    with pytest.raises(Foreign, match="no message of lossyfl"):
        from_packet(data)


@given(st.integers(0, 8 * 3000 - 1))
def test_a_flipped_bit_is_read_or_foreign(bit: int) -> None:
    damaged = bytearray(WHOLE[:3000] + WHOLE[3000:])
    damaged[bit // 8] ^= 1 << bit % 8
    try:
        unpack_up(from_packet(bytes(damaged)))
    except Foreign as error:
        assert str(error).isprintable()  # noqa: PT017 - most are, and some are not
