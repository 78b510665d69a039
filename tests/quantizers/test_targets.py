"""Texts that say how large or how exact."""

import pytest

from lossyfl import InputError
from lossyfl.quantizers.targets import Target, check_error, target


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20kB", Target(bits=160_000)),
        ("96B", Target(bits=768)),
        ("1.5MB", Target(bits=12_000_000)),
        ("1e3B", Target(bits=8_000)),
        ("0.5bit", Target(rate=0.5)),
        (" 2 bit ", Target(rate=2)),
        ("nmse=0.1", Target(nmse=0.1)),
        ("nmse=1e-3", Target(nmse=1e-3)),
    ],
)
def test_sizes_rates_and_errors(text: str, expected: Target) -> None:
    assert target(text, of="x") == expected


@pytest.mark.parametrize(
    "text",
    ["", "20", "20 kb", "kB", "-3kB", "0bit", "nan bit", "inf B", "nmse=", "nmse=1", "nmse=0",
     "nmse=0.1bit", "nmse=-0.5", "0.1nmse", "1..5bit", "20kB 30kB", None],
)  # fmt: skip
def test_anything_else_is_refused(text: object) -> None:
    with pytest.raises(InputError, match="thing"):
        target(text, of="x", name="thing")


def test_bits_for_entries() -> None:
    assert target("0.5bit", of="x").bits_for(100) == 50
    assert target("2B", of="x").bits_for(100) == 16
    assert target("nmse=0.5", of="x").bits_for(100) is None


def test_an_error_needs_one_scale() -> None:
    check_error(target("nmse=0.5", of="x"), "model", of="x")
    check_error(target("1bit", of="x"), "tensor", of="x")
    with pytest.raises(InputError, match="a size"):
        check_error(target("nmse=0.5", of="x"), 128, of="x")
