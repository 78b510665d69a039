"""Pickles, as far as they are read: what they may cost, and what they may not say."""

import pickle
import tracemalloc
from pickle import UnpicklingError

import pytest

from lossyfl.data.opcodes import Call, Name, run

VALUE = {"a": [1, -2, 2**40, (None, True, False), b"bytes", ()], "b": {"c": "text"}}


@pytest.mark.parametrize("protocol", [3, 4, 5])
def test_plain_values_come_back(protocol: int) -> None:
    assert run(pickle.dumps(VALUE, protocol), frozenset()) == VALUE


def test_a_call_is_recorded_and_not_made() -> None:
    name = Name("os", "system")
    called = run(b"cos\nsystem\n(S'echo'\ntR.", frozenset({name}))
    assert isinstance(called, Call)
    assert (called.name, called.arguments) == (name, (b"echo",))


@pytest.mark.parametrize(
    "content",
    [
        b"0.",
        b"R.",
        b"N(0.",
        b"h\x05.",
        b"e.",
        b"Na.",
        b"NNs.",
        b"](NNu.",
        b"NNb.",
        b"NNR.",
        b"K\x01K\x01\x93.",
        b"S'\\q'\n.",  # Python itself only warns of an escape that there is not
    ],
)
def test_instructions_that_make_no_sense(content: bytes) -> None:
    with pytest.raises(UnpicklingError):
        run(content, frozenset())


LENGTH = (1 << 31).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x80\x04Nr" + LENGTH[:-1] + b"\x7f0.", "the instruction POP"),  # place 2^31 of the memo
        (b"\x80\x04B" + LENGTH + b".", "bytes in a bytes4, but only 1 remain"),
        (b"\x80\x04\x8e" + LENGTH + bytes(4) + b".", "bytes in a bytes8, but only 1 remain"),
        (b"\x80\x04\x96" + LENGTH + bytes(4) + b".", "bytes in a bytearray8, but only 1 remain"),
        (b"\x80\x04\x95" + LENGTH + bytes(4) + b"N0", "the instruction POP"),  # a frame of 2 GB
        (b"(" * (1 << 20) + b".", "more than 1,048,576 instructions"),
        # Deeper than a C stack of 8 MB could follow.
        (b"\x80\x04)" + b"\x85" * 100_000 + b"\x94}h\x00K\x01s.", "a key that is no text"),
    ],
)
def test_memory_is_of_the_order_of_the_pickle(content: bytes, reason: str) -> None:
    tracemalloc.start()
    with pytest.raises(UnpicklingError, match=reason):
        run(content, frozenset())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * len(content) + (1 << 20)
