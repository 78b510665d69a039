"""What a sweep came to, on made-up values."""

from pathlib import Path

import pytest
from tests.experiments.made_up import made_up, planned, without

from lossyfl import InputError
from lossyfl.experiments.significance import paired
from lossyfl.experiments.sweep_table import table_of

GOOD, NEAR, BAD = (0.95, 0.96, 0.97), (0.951, 0.958, 0.97), (0.50, 0.55, 0.52)


def test_every_point_against_the_best(tmp_path: Path) -> None:
    table = table_of(made_up(planned(tmp_path, {"q1": [1, 2, 5]}), [BAD, NEAR, GOOD]))
    assert [row.verdict for row in table.rows] == ["worse", "within the noise", "best"]
    assert table.comparisons == 3  # all pairs: the best was chosen by what was measured
    assert "the point that learned best" in table.note
    assert table.moderation is None  # two differences say little of each other
    apart = table.rows[0].apart
    assert apart is not None
    assert apart == paired([b - g for b, g in zip(BAD, GOOD, strict=True)], 0.95, 3)


def test_every_point_against_its_baseline(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"q1": [1, 5]}, baseline="lossless")
    table = table_of(made_up(plan, [BAD, NEAR], GOOD))
    assert [row.verdict for row in table.rows] == ["baseline", "worse", "within the noise"]
    assert table.comparisons == 2
    assert table.rows[0].values == ("",)
    assert "from the baseline lossless" in table.note


def test_a_baseline_that_is_crossed_itself_is_compared_with_nothing(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"scheme": ["lossless", "lfl"]}, baseline="lossless")
    table = table_of(made_up(plan, [GOOD, BAD], GOOD))
    assert [row.verdict for row in table.rows] == ["baseline", "baseline", "worse"]


def test_points_that_are_the_same_experiment_are_one_row(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"q1": [1, 5], "scheme": ["lossless", "lfl"]})
    table = table_of(made_up(plan, [GOOD, BAD, GOOD, NEAR]))
    assert [row.values for row in table.rows] == [("any", "lossless"), ("1", "lfl"), ("5", "lfl")]
    assert table.comparisons == 3


def test_many_differences_say_of_each_other_how_they_vary(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"q1": [1, 2, 3, 4, 5]})
    lower = [tuple(v - 0.02 - 0.001 * k for v in NEAR) for k in range(4)]
    table = table_of(made_up(plan, [*lower, GOOD]))
    assert table.moderation is not None
    assert [row.verdict for row in table.rows] == ["worse"] * 4 + ["best"]
    assert "Smyth" in table.note
    assert "scaled inverse chi-square" in table.note


def test_one_seed_says_nothing_of_chance(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"q1": [1, 5]}, seeds=1)
    table = table_of(made_up(plan, [BAD[:1], GOOD[:1]]))
    assert [row.verdict for row in table.rows] == ["one seed says nothing", "best"]
    assert table.rows[1].value is not None
    assert table.rows[1].value.margin is None


def test_what_failed_is_counted_and_never_the_best(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"q1": [1, 2, 5]})
    table = table_of(made_up(plan, [BAD, (None,) * 3, (0.99, None, 0.99)]))
    assert [(row.seeds, row.failed) for row in table.rows] == [(3, 0), (0, 3), (2, 1)]
    assert [row.verdict for row in table.rows] == ["best", "failed", "better"]
    half = table_of(without(made_up(plan, [BAD, NEAR, GOOD]), 0))
    assert half.rows[0].value is None
    assert half.rows[0].down is None


def test_what_is_no_confidence(tmp_path: Path) -> None:
    result = made_up(planned(tmp_path, {"q1": [1]}), [GOOD])
    with pytest.raises(InputError, match="confidence of a sweep must be in"):
        table_of(result, 95)
    assert table_of(result).comparisons == 1
