"""Everything that is started is stopped, with all that it has started itself."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Self

PATIENCE = 10.0
"""Seconds from asking a process to end to ending it."""
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that ask to stop."""
Handler = Callable[[int, FrameType | None], object] | signal.Handlers


class Processes:
    """Programs with a log each, in process groups of their own; gone when the `with` block is left."""

    def __init__(self, logs: Path, environment: Mapping[str, str]) -> None:
        self._logs, self._environment = logs, dict(environment)
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # The last first: nodes say goodbye while the SuperLink is still there.
        with undisturbed():
            for process in reversed(self._started):
                _signal(process, signal.SIGTERM)
            for process in reversed(self._started):
                self.stop(process)

    def start(self, name: str, command: Sequence[str]) -> "subprocess.Popen[bytes]":
        """Start a program; what it says goes to its log."""
        with self.log(name).open("ab") as log, postponed():
            process = subprocess.Popen(
                command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._started.append(process)
        return process

    def stop(self, process: "subprocess.Popen[bytes]", how: int = signal.SIGTERM) -> None:
        """End a program and all that it started."""
        _signal(process, how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        _signal(process, signal.SIGKILL)
        process.wait()

    def log(self, name: str) -> Path:
        """The log of a program."""
        return self._logs / f"{name}.log"

    def tail(self, name: str, lines: int = 20) -> str:
        """The end of a log."""
        path = self.log(name)
        text = path.read_text(errors="replace") if path.is_file() else ""
        return "\n".join(text.splitlines()[-lines:])


@contextmanager
def undisturbed() -> Generator[None]:
    """Clean up to the end, however often somebody asks to stop."""
    with _heard(signal.SIG_IGN):
        yield


@contextmanager
def postponed() -> Generator[None]:
    """Finish what is begun, then hear who asked to stop: else a program could run that nobody knows of."""
    asked: list[int] = []
    try:
        # Not ignored meanwhile: that a new program would inherit.
        with _heard(lambda number, _: asked.append(number)):
            yield
    finally:
        for number in asked[:1]:
            signal.raise_signal(number)


@contextmanager
def _heard(handler: Handler) -> Generator[None]:
    """Have another handler of the signals that ask to stop."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    before = {name: signal.signal(name, handler) for name in STOPS}
    try:
        yield
    finally:
        for name, own in before.items():
            signal.signal(name, own)


def _signal(process: "subprocess.Popen[bytes]", number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
