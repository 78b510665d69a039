"""Ctrl-C, and a request to end, during a run."""

import signal
import threading

import pytest

from lossyfl.simulation.interrupts import interrupts
from lossyfl.simulation.watcher import Silent


class Told(Silent):
    def __init__(self) -> None:
        self.times = 0

    def stopping(self) -> None:
        self.times += 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_is_a_wish_and_the_second_stops_at_once(number: signal.Signals) -> None:
    wished, told = threading.Event(), Told()
    with interrupts(told, wished, lambda: True):
        signal.raise_signal(number)
        assert wished.is_set()
        assert told.times == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert told.times == 1


def test_before_a_round_is_done_there_is_nothing_to_wait_for() -> None:
    wished = threading.Event()
    with interrupts(Silent(), wished, lambda: False), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert not wished.is_set()


def test_handlers_are_put_back_whatever_happens() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(ValueError, match="oops"), interrupts(Silent(), threading.Event(), bool):
        raise ValueError("oops")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_run_in_another_thread_leaves_signals_alone() -> None:
    before, seen = signal.getsignal(signal.SIGINT), list[object]()

    def go() -> None:
        with interrupts(Silent(), threading.Event(), bool):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    assert seen == [before]
