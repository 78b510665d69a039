"""Texts of budgets, and the target of every round."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import InputError, scheme
from lossyfl.compressors.plans import BudgetPlan, Slide, plan
from lossyfl.quantizers.targets import Target
from lossyfl.types import Steps


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20kB", {0: Target(bits=160_000), 10**6: Target(bits=160_000)}),
        ("0.5bit", {0: Target(rate=0.5)}),
        ("nmse=0.1", {0: Target(nmse=0.1)}),
        ("2B@0/1bit@5/nmse=0.5@9", {4: Target(bits=16), 8: Target(rate=1), 9: Target(nmse=0.5)}),
        ("600B/3rounds", {0: Target(bits=1600), 2: Target(bits=1600)}),
        ("8B..2B/3rounds", {0: Target(bits=64), 1: Target(bits=32), 9: Target(bits=16)}),
        ("4bit..1bit/3rounds", {0: Target(rate=4), 1: Target(rate=2), 2: Target(rate=1)}),
        ("8B..2B/1rounds", {0: Target(bits=64), 1: Target(bits=16)}),
    ],
)
def test_the_target_of_a_round(text: str, expected: dict[int, Target]) -> None:
    made = plan(text, of="x")
    assert {t: made.at(t) for t in expected} == expected


@given(st.integers(1, 10**6), st.integers(2, 300), st.integers(0, 1))
def test_what_is_spread_over_a_run_is_spent_in_it(nbytes: int, rounds: int, first: int) -> None:
    made = plan(f"{nbytes}B/{rounds}rounds", of="x", first=first)
    each = made.at(first).bits
    assert each is not None
    assert each * (rounds - first) == pytest.approx(8 * nbytes)
    assert made.spent == rounds


@given(st.floats(1, 1e6), st.floats(1, 1e6), st.integers(2, 300))
def test_a_slide_goes_by_the_same_factor_each_round(start: float, end: float, over: int) -> None:
    slide = Slide((Target(rate=start), Target(rate=end)), over)
    rates = [slide.at(t).rate or 0 for t in range(over + 2)]
    assert rates[0] == start
    assert rates[over - 1 :] == pytest.approx([end] * 3)
    factors = [b / a for a, b in pairwise(rates[:over])]
    assert factors == pytest.approx([factors[0]] * len(factors))


def test_what_is_for_several_frames() -> None:
    many = {
        text: plan(text, of="x").is_for_many
        for text in ("1B", "2B@0/1B@3", "6B/3rounds", "2B..1B/3rounds")
    }
    assert list(many.values()) == [False, True, True, True]


def test_what_is_spent_is_refused_in_longer_runs() -> None:
    spent = BudgetPlan(course=Steps((0,), (Target(bits=8),)), spent=3)
    spent.check(3, of="x")
    with pytest.raises(
        InputError, match="budget of x must be for as many rounds as there are, at least 4"
    ):
        spent.check(4, of="x")
    plan("2B..1B/3rounds", of="x").check(99, of="x")  # the last one stays


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("20k", 'did you mean "20kB"'),
        ("20KB", 'did you mean "20kB"'),
        ("3 Bytes", 'did you mean "3B"'),
        ("6MB/300", "bytes over rounds, as 6MB/300rounds"),
        ("6MB/300round", "bytes over rounds, as 6MB/300rounds"),
        (f"6MB/1{310 * '0'}rounds", "bytes over rounds, as 6MB/300rounds"),  # beyond all floats
        (f"6MB/1{5000 * '0'}rounds", "bytes over rounds, as 6MB/300rounds"),  # beyond all text
        ("40kB..10kB", "bytes over rounds, as 40kB..10kB/300rounds"),
        ("", "budget of the downlink must be a size as"),
        ("20", "budget of the downlink must be a size as"),
        ("-3kB", "budget of the downlink must be a size as"),
        ("0kB", "budget of the downlink must be a size as"),
        ("nankB", "budget of the downlink must be a size as"),
        ("nmse=1.5", r"must be an nmse in \(0, 1\)"),
        ("20parsec", "budget of the downlink must be a size as"),
        ("cosine", "budget of the downlink must be a size as"),
        ("8kB@3/2kB@9", "rounds that rise from 0"),
        ("8kB@0/2kB@0", "rounds that rise from 0"),
        ("8kB@x", "budget of the downlink must be a size as"),
        ("nmse=0.1/10rounds", "bytes over rounds"),
        ("1bit/10rounds", "bytes over rounds"),
        ("8kB..1bit/10rounds", "the same unit at both ends"),
    ],
)
def test_what_is_no_budget(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scheme(f"lean:down_budget={text}")
