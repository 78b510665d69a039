"""How large or how exact: texts, and what takes a target."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import InputError, quantizer
from lossyfl.errors import OutOfReach
from lossyfl.quantizers import adjustable_names
from lossyfl.quantizers.targets import (
    SLACK,
    Adjustable,
    Target,
    adjustable,
    check_error,
    check_reached,
    check_unset,
    target,
)


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
     "nmse=0.1bit", "nmse=-0.5", "0.1nmse", "1e308GB", "1..5bit", "20kB 30kB", None],
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


@pytest.mark.parametrize(
    "text", ["1B", "96B", "999B", "20kB", "1.5MB", "3GB", "0.5bit", "nmse=0.1", "nmse=1e-05"]
)
def test_a_target_is_shown_as_one_writes_it(text: str) -> None:
    assert str(target(text, of="x")) == text


@given(st.floats(1e-6, 1e12), st.sampled_from(["bits", "rate", "nmse"]))
def test_what_is_shown_reads_nearly_the_same(value: float, kind: str) -> None:
    said = Target(**{kind: value if kind != "nmse" else value / 1e13})
    read = target(str(said), of="x")
    assert getattr(read, kind) == pytest.approx(getattr(said, kind))


def test_a_target_needs_no_reading() -> None:
    assert target(Target(bits=8), of="x") == Target(bits=8)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"bits": 8.0, "rate": 1.0},
        {"bits": 0.0},
        {"bits": math.inf},
        {"rate": math.nan},
        {"rate": -1.0},
        {"nmse": 1.0},
        {"nmse": 0.0},
    ],
)
def test_targets_that_cannot_be_made(values: dict[str, float]) -> None:
    with pytest.raises(InputError, match="value of Target must be one of bits and rate, above 0"):
        Target(**values)


def test_an_error_may_miss_by_the_width_of_a_bin() -> None:
    check_reached(0.1 * (1 + SLACK), Target(nmse=0.1), of="x")
    check_reached(0.9, Target(rate=0.1), of="x")
    with pytest.raises(OutOfReach, match=r"target of x must be an nmse of 0.11 or more") as caught:
        check_reached(0.11, Target(nmse=0.1), of="x")
    assert caught.value.nmse == 0.11


def test_a_target_is_set_once() -> None:
    check_unset(None, None, of="x")
    with pytest.raises(InputError, match=r"target of x must be left out: a budget .*, got 2kB"):
        check_unset(Target(bits=16_000), None, of="x")


class TestAdjustable:
    @pytest.mark.parametrize("name", adjustable_names())
    @pytest.mark.parametrize("wanted", [Target(rate=0.5), Target(bits=800), Target(nmse=0.5)])
    def test_another_target_changes_nothing_else(self, name: str, wanted: Target) -> None:
        plain = adjustable(quantizer(name))
        assert plain.with_target(wanted) == quantizer(f"{name}:target={wanted}")
        assert plain == quantizer(name)

    @pytest.mark.parametrize("name", adjustable_names())
    def test_a_second_target_is_refused(self, name: str) -> None:
        once = adjustable(adjustable(quantizer(name)).with_target(Target(bits=80)))
        with pytest.raises(InputError, match=r"target of .* must be left out: .*, got 10B"):
            once.with_target(Target(bits=80))

    @pytest.mark.parametrize("name", adjustable_names())
    @pytest.mark.parametrize("prefix", ["", "rotated+"])
    def test_whose_size_can_be_set(self, name: str, prefix: str) -> None:
        chosen = quantizer(prefix + name)
        assert adjustable(chosen) is chosen
        assert isinstance(chosen, Adjustable)

    def test_whose_cannot(self) -> None:
        known = "deadzone, dithered, sparse_ternary, topk"
        with pytest.raises(InputError, match=f"quantizer of a budget must be .*{known}, got sign"):
            adjustable(quantizer("sign"))
