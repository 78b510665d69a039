"""Timing several ways of doing one job side by side."""

import time
from collections.abc import Callable, Mapping
from statistics import median

Job = Callable[[], object]


def side_by_side(jobs: Mapping[str, Job], repeats: int) -> dict[str, list[float]]:
    """Seconds of every job in every repeat; the jobs take turns, so that noise hits all of them."""
    for job in jobs.values():
        job()  # compile, allocate, fill caches
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - start)
    return times


def ratio(times: Mapping[str, list[float]], slow: str, fast: str) -> float:
    """How many times as fast `fast` is as `slow`: the median over the repeats.

    >>> ratio({"a": [2.0, 2.0, 9.0], "b": [1.0, 1.0, 1.0]}, "a", "b")
    2.0
    """
    return median(s / f for s, f in zip(times[slow], times[fast], strict=True))
