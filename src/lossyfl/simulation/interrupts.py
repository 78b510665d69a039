"""Ctrl-C, and a request to end, during a run."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType

from lossyfl.simulation.watcher import Watcher


@contextmanager
def interrupts(
    watcher: Watcher, wished: threading.Event, has_begun: Callable[[], bool]
) -> Generator[None]:
    """Have Ctrl-C or a request to end set an event; the second one, or one before a round, stops at once."""

    def wish(number: int, frame: FrameType | None) -> None:
        del number, frame
        if wished.is_set() or not has_begun():
            raise KeyboardInterrupt
        wished.set()
        watcher.stopping()

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    before = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
