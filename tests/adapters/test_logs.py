"""What strangers say is on one line, and not long."""

from hypothesis import given
from hypothesis import strategies as st

from lossyfl.adapters.logs import LONGEST_SHOWN, shown


@given(st.text() | st.binary() | st.floats())
def test_anything_is_printable_and_short(value: object) -> None:
    assert shown(value).isprintable()
    assert len(shown(value)) <= LONGEST_SHOWN + len("...")


def test_what_is_plain_is_as_it_was() -> None:
    assert shown("a model of 3 floats") == "a model of 3 floats"
