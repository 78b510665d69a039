"""The results of a group."""

from dataclasses import replace
from pathlib import Path
from statistics import stdev

import pytest
from tests.report.synthetic import SETTINGS, record, write

from lossyfl.report.groups import group
from lossyfl.report.rows import Both, row
from lossyfl.report.runs import find


def test_means_over_seeds_and_ratios_of_sums(tmp_path: Path) -> None:
    first = [0.1, None, 0.5]
    second = [0.2, 0.4, 0.7]
    write(tmp_path / "a", rounds=[record(t, accuracy=x) for t, x in enumerate(first)])
    write(
        tmp_path / "b",
        replace(SETTINGS, seed=1),
        rounds=[record(t, accuracy=x, down=500) for t, x in enumerate(second)],
    )
    facts = row(group(find([tmp_path]))[0])
    assert facts.last == pytest.approx(0.6)
    assert facts.tail == pytest.approx((0.1 + 0.5 + 0.2 + 0.4 + 0.7) / 5)
    assert facts.spread == pytest.approx(stdev([0.1, 0.5, 0.2, 0.4, 0.7]))
    assert facts.best == 0.7
    assert facts.nbytes == Both(down=3 * 375, up=3 * 303)
    assert facts.saving.down == pytest.approx(6 * 4000 / (3 * 250 + 3 * 500))
    assert facts.paper.down == pytest.approx(4000 * 33 / 32 / 330)
    assert facts.bits.up == pytest.approx(8 * 303 / 3000)
    assert facts.seconds == pytest.approx(3 * 0.55)


def test_only_the_last_ten_evaluations_are_the_tail(tmp_path: Path) -> None:
    accuracies = [0.0] * 5 + [0.5] * 10
    write(tmp_path / "a", rounds=[record(t, accuracy=x) for t, x in enumerate(accuracies)])
    assert row(group(find([tmp_path]))[0]).tail == pytest.approx(0.5)


def test_an_empty_run(tmp_path: Path) -> None:
    write(tmp_path / "a", rounds=[])
    facts = row(group(find([tmp_path]))[0])
    assert (facts.rounds, facts.last, facts.tail, facts.spread, facts.best) == (0, *[None] * 4)
    assert facts.saving == Both(down=None, up=None)
    assert facts.nbytes == Both(down=0, up=0)


def test_a_seed_that_is_not_there_yet_counts_for_nothing(tmp_path: Path) -> None:
    write(tmp_path / "a", rounds=[record(t, accuracy=0.5) for t in range(4)])
    write(tmp_path / "b", replace(SETTINGS, seed=1), rounds=[record(0, accuracy=0.1)])
    facts = row(group(find([tmp_path]))[0])
    assert (facts.seeds, facts.others, facts.rounds, facts.last) == ((0,), 1, 4, 0.5)
    assert facts.nbytes.down == 1000


def test_the_broadcast_after_the_first_model(tmp_path: Path) -> None:
    rounds = [record(0, down=4000), record(1), record(2)]
    rounds = [replace(r, eps=eps) for r, eps in zip(rounds, (None, 0.1, 0.3), strict=True)]
    write(tmp_path / "a", rounds=rounds)
    facts = row(group(find([tmp_path]))[0])
    assert facts.later == (pytest.approx(16), pytest.approx(4000 * 33 / 32 / 330))
    assert facts.eps == (pytest.approx(0.2), 0.3)


def test_the_last_rounds_are_the_same_span_however_often_a_run_is_evaluated(tmp_path: Path) -> None:
    """25 rounds: evaluations every 5 reach back 25 rounds, the last rounds 10."""
    climbing = [record(t, accuracy=t / 100 if t % 5 == 4 else None) for t in range(25)]
    write(tmp_path / "a", rounds=climbing)
    facts = row(group(find([tmp_path]))[0])
    assert facts.tail == pytest.approx((0.04 + 0.09 + 0.14 + 0.19 + 0.24) / 5)
    assert facts.end == pytest.approx((0.19 + 0.24) / 2)
