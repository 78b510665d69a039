"""The time that is left, by the rounds before."""

import pytest

from lossyfl.api.pace import Pace, Remaining, remaining


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def paced(*rounds: tuple[float, bool]) -> Pace:
    """After rounds of so many seconds, with an evaluation or without."""
    clock = Clock()
    pace = Pace(clock)
    pace.begin()
    for seconds, evaluated in rounds:
        clock.now += seconds
        pace.add(evaluated=evaluated)
    return pace


def test_the_first_round_says_nothing() -> None:
    """It compiles kernels: a minute for it made hours of a demo of two minutes."""
    assert paced((60.0, True)).left(Remaining(plain=0, evaluated=99)) is None
    left = paced((60.0, True), (1.0, True)).left(Remaining(plain=0, evaluated=98))
    assert left == pytest.approx(98)


def test_recent_rounds_count_and_one_that_was_slow_does_not() -> None:
    slow = [(1.0, True)] + [(9.0, True)] * 50
    quick = [(1.0, True)] * 12 + [(300.0, True)] + [(1.0, True)] * 12
    assert paced(*slow, *quick).left(Remaining(plain=0, evaluated=10)) == pytest.approx(10)


def test_evaluations_cost_where_they_are() -> None:
    rounds = [(5.0, False), *([(1.0, False)] * 4 + [(11.0, True)]) * 3]
    assert paced(*rounds).left(Remaining(plain=8, evaluated=2)) == pytest.approx(30)


def test_nothing_is_left_of_nothing() -> None:
    assert paced((60.0, True)).left(Remaining(plain=0, evaluated=0)) == 0


@pytest.mark.parametrize(
    ("done", "every", "last", "plain", "evaluated"),
    [(0, 1, 1, 0, 10), (0, 5, 1, 8, 2), (0, 4, 2, 6, 4), (8, 4, 2, 0, 2), (10, 1, 1, 0, 0)],
)
def test_remaining(done: int, every: int, last: int, plain: int, evaluated: int) -> None:
    assert remaining(10, done, every=every, last=last) == Remaining(
        plain=plain, evaluated=evaluated
    )
