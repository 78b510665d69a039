"""Numbers for people: the same digits whatever the unit, and the next unit before four of them."""

import math

import pytest

from lossyfl.report import text


@pytest.mark.parametrize(
    ("nbytes", "shown"),
    [
        (0, "0 B"),
        (999.4, "999 B"),
        (999.6, "1.00 kB"),
        (999_499, "999 kB"),
        (999_501, "1.00 MB"),
        (1.5e9, "1.50 GB"),
        (2e12, "2 TB"),
    ],
)
def test_sizes(nbytes: float, shown: str) -> None:
    assert text.size(nbytes) == shown


@pytest.mark.parametrize(
    ("bits", "shown"), [(12, "12.0 bit/s"), (999.6, "1.00 kbit/s"), (1e13, "10.0 Tbit/s")]
)
def test_rates(bits: float, shown: str) -> None:
    assert text.rate(bits) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 ms"),
        (0.0995, "100 ms"),
        (59.94, "59.9 s"),
        (60, "1:00 min"),
        (3599.4, "59:59 min"),
        (3600, "1:00 h"),
    ],
)
def test_durations(seconds: float, shown: str) -> None:
    assert text.duration(seconds) == shown


def test_what_is_missing_or_without_limit() -> None:
    assert text.percent(None) == text.times(None) == text.limit(None) == text.MISSING
    assert text.limit(math.inf) == "any rate"


def test_neighbours_are_a_range() -> None:
    assert text.numbers([3, 1, 2, 7]) == "1-3, 7"
    assert text.numbers([]) == ""
