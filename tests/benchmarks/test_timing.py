"""Jobs that are timed side by side take turns."""

from benchmarks.timing import ratio, side_by_side


def test_jobs_take_turns_after_each_was_done_once() -> None:
    done: list[str] = []
    times = side_by_side({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, 3)
    assert done == ["a", "b"] * 4
    assert {name: len(own) for name, own in times.items()} == {"a": 3, "b": 3}


def test_the_ratio_is_the_median_over_turns() -> None:
    """1, 4 and 3 times as fast: a turn in which both were slow changes nothing."""
    assert ratio({"a": [2.0, 4.0, 30.0], "b": [2.0, 1.0, 10.0]}, "a", "b") == 3.0
