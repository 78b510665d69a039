"""Races: how often a good scheme is given up, and how soon a bad one."""

import numpy as np
import pytest

from lossyfl import InputError
from lossyfl.experiments.racing import Race

TRIALS = 2000


def test_false_alarms_are_as_rare_as_was_said() -> None:
    """One test at 90 %: of 2,000 schemes as good as the line 10 % are given up, -+ 2 % (three deviations)."""
    rng, race, alarms = np.random.default_rng(0), Race(seeds=3, confidence=0.9), 0
    for _ in range(TRIALS):
        reference = rng.normal(size=3)
        least = float(reference.mean())
        alarms += race.is_hopeless(float(rng.normal()), least, [reference.tolist()], 3)
    assert abs(alarms / TRIALS - 0.1) < 0.02


def test_all_tests_of_a_search_share_the_rate() -> None:
    rng, race, alarms = np.random.default_rng(1), Race(seeds=4, confidence=0.9, tests=8), 0
    for _ in range(500):
        reference = rng.normal(size=4)
        least = float(reference.mean())
        known = [reference.tolist()]
        alarms += any(race.is_hopeless(float(x), least, known, 4) for x in rng.normal(size=8))
    assert alarms / 500 < 0.1 + 0.041


def test_what_is_far_below_is_given_up() -> None:
    race = Race(seeds=3, tests=15)
    known = [[0.97, 0.971, 0.972]]
    assert race.is_hopeless(0.10, 0.966, known, 3)
    assert not race.is_hopeless(0.96, 0.966, known, 3)
    assert not race.is_hopeless(0.99, 0.966, known, 3)


def test_more_who_vary_alike_make_it_sharper() -> None:
    race, one = Race(seeds=3, tests=15), [[0.97, 0.971, 0.972]]
    many = race.margin(one * 5, 3)
    few = race.margin(one, 3)
    assert many is not None
    assert few is not None
    assert many < few / 2
    number = race.margin(one, 0)
    assert number is not None
    assert number < few  # a number to reach has no noise


def test_nobody_is_given_up_where_nobody_knows_how_seeds_vary() -> None:
    assert not Race(seeds=3).is_hopeless(0.0, 1.0, [], 0)
    assert not Race(seeds=3).is_hopeless(0.0, 1.0, [[0.9]], 1)
    assert not Race(seeds=1).is_hopeless(0.0, 1.0, [[0.9, 0.91]], 2)


def test_what_is_no_race() -> None:
    with pytest.raises(InputError, match="seeds of tune must be an int >= 1, got 0"):
        Race(seeds=0)
    with pytest.raises(InputError, match="confidence of tune must be in"):
        Race(confidence=1.5)
