"""Bytes at an error: between the two settings around it, each tried once."""

import math
from collections import Counter

import pytest

from benchmarks.equal_error import Coded, Settings, bytes_at
from lossyfl.errors import InputError


def settings(first: int, tried: Counter[int] | None = None) -> Settings:
    """A code that obeys the law: an octave finer takes twice the bytes and a quarter of the error."""
    counts = Counter[int]() if tried is None else tried

    def code(setting: int) -> Coded:
        counts[setting] += 1
        return Coded(nbytes=round(2**20 / 2 ** (setting / 4)), nmse=1e-6 * 4 ** (setting / 4))

    return Settings(code=code, first=first, least=-8, most=66)


@pytest.mark.parametrize("nmse", [1e-5, 0.0021, 0.3])
@pytest.mark.parametrize("first", [0, 17, 59])
def test_bytes_follow_the_law_wherever_the_search_begins(nmse: float, first: int) -> None:
    found, setting = settings(first).bytes_at(nmse)
    assert found == pytest.approx(2**20 / math.sqrt(nmse / 1e-6), rel=0.01)
    assert 1e-6 * 4 ** (setting / 4) <= nmse < 1e-6 * 4 ** ((setting + 1) / 4)


def test_the_two_ends_are_those_of_the_settings() -> None:
    finer, coarser = Coded(nbytes=900, nmse=0.1), Coded(nbytes=500, nmse=0.2)
    assert bytes_at(0.1, finer, coarser) == pytest.approx(900)
    assert bytes_at(0.2, finer, coarser) == pytest.approx(500)
    assert bytes_at(0.1, finer, Coded(nbytes=890, nmse=0.1)) == 890


def test_no_setting_is_tried_twice() -> None:
    tried = Counter[int]()
    searched = settings(30, tried)
    for nmse in (0.3, 0.01, 0.3, 0.0101):
        searched.bytes_at(nmse)
    assert set(tried.values()) == {1}


@pytest.mark.parametrize("nmse", [1e-9, 1e9])
def test_an_error_that_no_setting_has_is_refused(nmse: float) -> None:
    with pytest.raises(InputError, match="between the errors of settings -8 and 66"):
        settings(30).bytes_at(nmse)
