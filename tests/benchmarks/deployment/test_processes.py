"""Whatever is started is stopped, also if somebody asks to stop at the worst moment."""

import os
import signal
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.deployment import processes
from benchmarks.deployment.processes import STOPS, Processes


@pytest.fixture(autouse=True)
def interrupted() -> Generator[None]:
    """As in `scripts.deploy_demo`: every signal that asks to stop is a KeyboardInterrupt."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in STOPS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOPS)
def test_a_program_that_is_just_starting_is_stopped(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal comes when the program runs and nobody has noted it yet."""
    made: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **settings: Any) -> None:  # noqa: ANN401
            super().__init__(*args, **settings)
            made.append(self)
            os.kill(os.getpid(), number)

    monkeypatch.setattr(processes.subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt), Processes(tmp_path, os.environ) as started:
        started.start("sleep", ["sleep", "60"])
    (process,) = made
    assert process.returncode == -signal.SIGTERM


def test_a_program_that_cannot_start_does_not_hide_a_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        raise FileNotFoundError

    monkeypatch.setattr(processes.subprocess, "Popen", fail)
    with pytest.raises(KeyboardInterrupt), Processes(tmp_path, os.environ) as started:
        started.start("none", ["/nowhere"])


def test_programs_ignore_no_signal(tmp_path: Path) -> None:
    with Processes(tmp_path, os.environ) as started:
        process = started.start("sleep", ["sleep", "60"])
        status = Path(f"/proc/{process.pid}/status")
        end = time.monotonic() + 10
        while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            assert time.monotonic() < end
        ignored = int(status.read_text().split("SigIgn:")[1].split()[0], 16)
        assert not any(ignored >> (number - 1) & 1 for number in STOPS)
        assert [signal.getsignal(number) for number in STOPS] == [signal.default_int_handler] * 3
