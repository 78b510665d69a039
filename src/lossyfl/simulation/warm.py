"""The process that workers are forked from; light to import, because it should start first."""

import multiprocessing
import os
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext


def warm_up() -> ForkServerContext:
    """Start that process, if it does not run: it imports torch while this one does other things."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lossyfl.simulation.preload"])
    forkserver.ensure_running()
    return context


def default_workers() -> int:
    """One for each core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
