"""Run independent pieces of one job on several threads; kernels release the GIL."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from lossyfl.errors import InputError

T = TypeVar("T")
R = TypeVar("R")

_pool: ThreadPoolExecutor | None = None


def _forget_pool() -> None:
    """Threads do not survive a fork: the child starts its own."""
    global _pool
    _pool = None


os.register_at_fork(after_in_child=_forget_pool)


def run(job: Callable[[T], R], pieces: Sequence[T], threads: int) -> list[R]:
    """`[job(p) for p in pieces]` on at most `threads` threads, the calling one included.

    >>> run(lambda n: n * n, [1, 2, 3], threads=2)
    [1, 4, 9]
    """
    helpers = min(threads, len(pieces)) - 1
    if helpers < 1:
        return [job(piece) for piece in pieces]
    results: dict[int, R] = {}
    todo = list(enumerate(pieces))[::-1]

    def drain() -> None:
        while True:
            try:
                index, piece = todo.pop()  # atomic: list.pop holds the GIL
            except IndexError:
                return
            results[index] = job(piece)

    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="lossyfl")
    waiting = [_pool.submit(drain) for _ in range(helpers)]
    try:
        drain()
    finally:
        todo.clear()
        for helper in waiting:
            helper.result()
    return [results[index] for index in range(len(pieces))]


ENTRIES_PER_THREAD = 1 << 17  # fewer are done before another thread has woken up


def useful_threads(threads: int, entries: int) -> int:
    """Of `threads`, as many as so many entries are worth; raises unless it is a positive int.

    >>> useful_threads(8, 100_000), useful_threads(8, 10_000_000)
    (1, 8)
    """
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("threads", of="the codec", allowed="an int >= 1", got=threads)
    return max(1, min(threads, entries // ENTRIES_PER_THREAD))


def split(total: int, most: int, threads: int) -> list[range]:
    """Contiguous runs of at most `most`, one a thread at least: every run more is a wait for the GIL.

    >>> split(10, 4, threads=1)
    [range(0, 3), range(3, 6), range(6, 10)]
    """
    count = -(-total // max(most, 1))
    if threads > 1:
        count = max(count, min(threads, total))
    edges = [total * i // count for i in range(count + 1)]
    return [range(a, b) for a, b in pairwise(edges)]
