"""Fields of a stranger's record: of the right type and within bounds, or an error."""

import math

import pytest

from lossyfl.adapters.fields import ANY_TEXT, bound, number, seconds, text


@pytest.mark.parametrize("value", ["", "a\nb", "x" * 1001, 7, b"bytes", None])
def test_a_short_text_is_one_line(value: object) -> None:
    with pytest.raises(ValueError, match="key is"):
        text({"key": value}, "key")


def test_a_text_may_have_a_default() -> None:
    assert text({}, "problem", ANY_TEXT, default="") == ""
    with pytest.raises(KeyError):
        text({}, "key")


@pytest.mark.parametrize("value", [-1, 5, 1.0, True, "1"])
def test_a_number_is_whole_and_in_range(value: object) -> None:
    with pytest.raises(ValueError, match="n is"):
        number({"n": value}, "n", 0, 5)
    assert number({"n": 4}, "n", 0, 5) == 4


@pytest.mark.parametrize("value", [-0.5, math.nan, math.inf, 1, "1"])
def test_seconds_are_no_negative_time(value: object) -> None:
    with pytest.raises(ValueError, match="coding is"):
        seconds({"coding": value}, "coding")


def test_without_a_bound_there_is_none() -> None:
    assert bound({}) == math.inf
    assert bound({"bound": 0.5}) == 0.5
