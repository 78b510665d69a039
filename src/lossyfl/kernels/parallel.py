"""Run independent pieces of one job on several threads; kernels release the GIL.

A helper needs 0.05 to 0.2 ms to wake up, and on a busy machine much longer. So the calling thread never waits
for one that has not begun: it takes pieces until none is left, and a helper that is late finds nothing to do.

There are two ways to share. `run` does it for any function. A native kernel with an argument `threads` shares
within one call (parallel.c): its helpers are the same threads, which `wake` sends into the library, where
they look for the next job for a while, without the GIL, before they sleep again.
"""

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from lossyfl.errors import InputError
from lossyfl.kernels.native import LIBRARY

T = TypeVar("T")
R = TypeVar("R")


class _Job(Generic[T, R]):
    """Pieces of work that any number of threads may take; `results` has one of each when all is done."""

    def __init__(self, work: Callable[[T], R], pieces: Sequence[T]) -> None:
        self.work = work
        self.pieces = len(pieces)
        self.todo = list(enumerate(pieces))[::-1]
        self.results: dict[int, R | None] = {}
        self.errors: list[BaseException] = []
        self.done: SimpleQueue[None] = SimpleQueue()

    def drain(self) -> None:
        """Take pieces until none is left; after an error they are dropped."""
        while True:
            try:
                index, piece = self.todo.pop()  # atomic: list.pop holds the GIL
            except IndexError:
                return
            result = None
            try:
                if not self.errors:
                    result = self.work(piece)
            except BaseException as error:  # raised again by the caller
                self.errors.append(error)
            self.results[index] = result
            if len(self.results) == self.pieces:
                self.done.put(None)


class _Helpers:
    """Threads that wait for something to do, started when they are first needed."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._woken: list[None] = []  # one for each that is on its way into the library
        self._threads = 0
        self._starting = threading.Lock()

    def call(self, what: Callable[[], None], helpers: int) -> None:
        """Ask so many helpers to do it."""
        with self._starting:
            while self._threads < min(helpers, os.cpu_count() or 1):
                name = f"lossyfl-{self._threads}"
                threading.Thread(target=self._help, name=name, daemon=True).start()
                self._threads += 1
        for _ in range(helpers):
            self._calls.put(what)

    def wake(self, helpers: int) -> None:
        """Have so many of them look for jobs of native kernels."""
        missing = min(helpers, (os.cpu_count() or 1) - 1) - _awake() - len(self._woken)
        if missing > 0:
            self._woken += [None] * missing  # atomic, as `pop` is: both hold the GIL
            self.call(self._look_for_jobs, missing)

    def _look_for_jobs(self) -> None:
        self._woken.pop()
        _help(PATIENCE)

    def _help(self) -> None:
        while True:
            self._calls.get()()


_helpers = _Helpers()


def _forget_helpers() -> None:
    """Threads do not survive a fork: the child starts its own."""
    global _helpers
    _helpers = _Helpers()
    _forget_job()


PATIENCE = 150_000
"""Nanoseconds that a helper looks for the next job: an encoder has one after a third of that."""


def _nothing(*_: int) -> int:
    """What the references need of the library."""
    return 0


_help: Callable[[int], object] = _nothing
_awake: Callable[[], int] = _nothing
_forget_job: Callable[[], object] = _nothing
if LIBRARY is not None:
    _help = LIBRARY.function("lfl_help", [ctypes.c_int64], None)
    _awake = LIBRARY.function("lfl_awake", [], ctypes.c_int64)
    _forget_job = LIBRARY.function("lfl_forget", [], None)

os.register_at_fork(after_in_child=_forget_helpers)


def wake(threads: int) -> int:
    """Have helpers awake for kernels that will be called with so many threads; returns the number of threads.

    >>> wake(1)
    1
    """
    if threads > 1 and LIBRARY is not None:
        _helpers.wake(threads - 1)
    return threads


def run(work: Callable[[T], R], pieces: Sequence[T], threads: int) -> list[R]:
    """`[work(p) for p in pieces]` on at most `threads` threads, the calling one included.

    >>> run(lambda n: n * n, [1, 2, 3], threads=2)
    [1, 4, 9]
    """
    helpers = min(threads, len(pieces)) - 1
    if helpers < 1:
        return [work(piece) for piece in pieces]
    job = _Job(work, pieces)
    _helpers.call(job.drain, helpers)
    job.drain()
    job.done.get()
    if job.errors:
        raise job.errors[0]
    results: Any = job.results
    return [results[index] for index in range(job.pieces)]


ENTRIES_PER_THREAD = 1 << 18  # fewer are done before another thread has woken up


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
