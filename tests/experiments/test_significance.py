"""Tests of differences: known numbers, and how often they raise a false alarm."""

import math

import numpy as np
import pytest

from lossyfl import InputError
from lossyfl.experiments.significance import (
    check_confidence,
    interval,
    margin_of_test_set,
    moderation,
    paired,
)

ROWS, SEEDS, TRIALS = 6, 3, 600


def test_an_interval_is_students() -> None:
    """Of 10 values with mean 5 and deviation 2 it is 5 -+ 2.262 * 2 / sqrt(10), by any table of t."""
    values = np.array([-1.5, -1, -1, -0.5, -0.5, 0.5, 0.5, 1, 1, 1.5])
    values = 5 + 2 * values / values.std(ddof=1)
    found = interval(values.tolist(), 0.95)
    assert found.mean == pytest.approx(5)
    assert found.margin is not None
    assert found.margin == pytest.approx(2.262 * 2 / math.sqrt(10), rel=1e-3)
    assert (found.low, found.high) == (found.mean - found.margin, found.mean + found.margin)
    assert interval([0.5], 0.95).margin is None


def test_more_comparisons_ask_for_more() -> None:
    apart = [0.02, 0.03, 0.025, 0.04]
    one, many = paired(apart, 0.95), paired(apart, 0.95, 20)
    assert one.is_told_apart
    assert not many.is_told_apart
    assert one.p is not None
    assert many.p == pytest.approx(min(1.0, 20 * one.p))
    assert paired([0.5], 0.95).p is None
    assert not paired([0.5], 0.95).is_told_apart


def test_an_interval_excludes_zero_where_p_is_below_alpha() -> None:
    rng = np.random.default_rng(3)
    for shift in np.linspace(0, 4, 40):
        found = paired((rng.normal(size=4) + shift).tolist(), 0.9, 3)
        assert found.p is not None
        assert found.is_told_apart == (found.p < 0.1)


def test_equal_values_are_no_difference() -> None:
    found = paired([0.0, 0.0], 0.95)
    assert (found.p, found.is_told_apart) == (1.0, False)
    assert paired([0.25, 0.25], 0.95).p == 0.0


def test_variances_that_are_alike_tell_of_each_other() -> None:
    rng = np.random.default_rng(0)
    alike = rng.normal(size=(200, 3))
    found = moderation(alike.tolist())
    assert found is not None
    assert found.degrees > 30
    assert found.variance == pytest.approx(1, rel=0.15)
    wild = moderation((alike * np.exp(3 * rng.normal(size=(200, 1)))).tolist())
    assert wild is not None
    assert wild.degrees < 1
    own = 2.0
    assert own <= wild.of(own, 2)[0] < 1.5 * own


def test_what_tells_nothing_of_variances() -> None:
    assert moderation([[0.1, 0.2]] * 2) is None
    assert moderation([[0.1]] * 9) is None
    assert moderation([[0.0, 0.0]] * 9) is None


@pytest.mark.parametrize("spread", [0.0, 1.5])
def test_false_alarms_are_as_rare_as_was_said(spread: float) -> None:
    """Of 600 tables without any difference at most 5 % have one; three standard deviations are 2.7 %.

    spread: of the logarithms of the rows' own deviations. Where these are a factor of four apart, variances
    are no draws from one scaled inverse chi-square; two points more are granted (1,500 tables had 7.1 %).
    """
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(TRIALS):
        scale = np.exp(spread * rng.normal(size=(ROWS, 1)))
        rows = (scale * rng.normal(size=(ROWS, SEEDS))).tolist()
        common = moderation(rows)
        alarms += any(paired(row, 0.95, ROWS, common).is_told_apart for row in rows)
    assert alarms / TRIALS < 0.05 + 0.027 + (0.02 if spread else 0)


def test_moderation_sees_what_three_seeds_alone_do_not() -> None:
    """A shift of five deviations in one row of six: seen more than twice as often."""
    rng, seen, alone = np.random.default_rng(2), 0, 0
    for _ in range(200):
        rows = rng.normal(size=(ROWS, SEEDS))
        rows[0] += 5
        listed = rows.tolist()
        seen += paired(listed[0], 0.95, ROWS, moderation(listed)).is_told_apart
        alone += paired(listed[0], 0.95, ROWS).is_told_apart
    assert seen > 150
    assert seen > 2 * alone


def test_noise_of_a_test_set() -> None:
    """Two binomial accuracies of 0.97 on 360 samples: 1.96 sqrt(2 * 0.97 * 0.03 / 360)."""
    assert margin_of_test_set(0.97, 0.97, 360, 0.95) == pytest.approx(0.02492, abs=1e-5)
    rng = np.random.default_rng(0)
    draws = rng.binomial(360, 0.97, size=(2, 20_000)) / 360
    beyond = np.mean(np.abs(draws[0] - draws[1]) > margin_of_test_set(0.97, 0.97, 360, 0.95))
    assert 0.03 < beyond < 0.07
    assert margin_of_test_set(1.0, 1.0, 100, 0.95) == 0


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, float("nan")])
def test_what_is_no_confidence(confidence: float) -> None:
    with pytest.raises(InputError, match=r"confidence of tune must be in \[0.5, 0.9999\]"):
        check_confidence(confidence, of="tune")
