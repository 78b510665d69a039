"""The process that workers are forked from; light to import, because it should start first."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext


def warm_up() -> ForkServerContext:
    """Start that process, if it does not run: it imports torch while this one does other things."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lossyfl.simulation.preload"])
    with _without_interrupts():
        forkserver.ensure_running()
    return context


@contextmanager
def _without_interrupts() -> Generator[None]:
    """Let a process that is started here ignore Ctrl-C, which is for the run to hear."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def default_workers() -> int:
    """One for each core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
