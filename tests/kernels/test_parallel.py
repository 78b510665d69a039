"""Threads."""

import os
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.kernels.parallel import run, split


@given(total=st.integers(1, 300), most=st.integers(0, 100), threads=st.integers(1, 9))
def test_split_covers_everything_once(total: int, most: int, threads: int) -> None:
    runs = split(total, most, threads)
    assert [i for run in runs for i in run] == list(range(total))
    assert all(0 < len(run) <= max(most, 1) for run in runs)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_results_are_in_order(threads: int) -> None:
    assert run(lambda n: n * n, range(50), threads) == [n * n for n in range(50)]


def test_an_error_in_any_thread_is_raised_and_the_pool_lives_on() -> None:
    def job(n: int) -> int:
        if n == 3:
            raise ValueError("three")
        return n

    for _ in range(3):
        with pytest.raises(ValueError, match="three"):
            run(job, range(8), 2)
    assert run(job, [1, 2], 2) == [1, 2]


def test_a_helper_that_is_busy_is_not_waited_for() -> None:
    """The only helper that there may be sleeps until the second job is done, by its caller alone."""
    begun, over = threading.Event(), threading.Event()

    def first(n: int) -> int:
        if threading.current_thread() is caller:
            begun.wait(10)
        else:
            begun.set()
            over.wait(10)
        return n

    caller = threading.Thread(target=lambda: run(first, [1, 2], 2))
    caller.start()
    assert begun.wait(10)
    for _ in range(os.cpu_count() or 1):  # every helper but the sleeping one may be free
        assert run(lambda n: n, [1, 2, 3], 2) == [1, 2, 3]
    over.set()
    caller.join(10)
    assert not caller.is_alive()


def test_several_callers_at_once() -> None:
    results: list[list[int]] = []
    callers = [
        threading.Thread(target=lambda: results.append(run(lambda n: n + 1, range(100), 3)))
        for _ in range(8)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == [list(range(1, 101))] * 8


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads() -> None:
    run(lambda n: n, range(4), 2)
    child = os.fork()
    if child == 0:
        os._exit(0 if run(lambda n: n, range(4), 2) == [0, 1, 2, 3] else 1)
    assert os.waitpid(child, 0)[1] == 0
