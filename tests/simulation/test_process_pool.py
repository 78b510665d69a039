"""Worker processes: who does what changes nothing, and what goes wrong in one is told."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.simulation.test_pool import opened

from lossyfl.errors import Diverged, InputError, Stopped
from lossyfl.simulation.work import WorkerContext


@dataclass(frozen=True)
class Report:
    """Says which process did it, and what it sees of the shared vectors."""

    number: int

    def do(self, context: WorkerContext) -> tuple[int, int, float]:
        return self.number, os.getpid(), float(context.shared[0])


@dataclass(frozen=True)
class Fail:
    """Goes wrong in one of several ways."""

    how: str

    def do(self, context: WorkerContext) -> None:
        del context
        if self.how == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "exits":
            os._exit(3)
        if self.how == "input":
            raise InputError("x", of="a job", allowed="right", got="wrong")
        if self.how == "diverged":
            raise Diverged(3, 5, float("nan"))
        raise ZeroDivisionError("oops")


def test_every_job_is_done_once_by_workers_that_see_the_same_memory(tmp_path: Path) -> None:
    with opened(2, tmp_path) as pool:
        pool.shared[0] = 1.5
        done = list(pool.run(Report(number) for number in range(40)))
    assert sorted(number for number, _, _ in done) == list(range(40))
    assert {seen for _, _, seen in done} == {1.5}
    assert 1 <= len({process for _, process, _ in done} - {os.getpid()}) <= 2


@pytest.mark.parametrize(
    ("how", "kind", "said"),
    [
        ("dies", Stopped, r"a worker process ended by itself \(signal SIGKILL\)"),
        ("exits", Stopped, r"a worker process ended by itself \(exit code 3\)"),
        ("input", InputError, "x of a job must be right, got wrong"),
        ("diverged", Diverged, "training of device 3 diverged in round 5: loss nan"),
        ("mistake", Stopped, r"ZeroDivisionError: oops\n(.|\n)*in do"),
    ],
)
def test_failures_are_told(how: str, kind: type[Exception], said: str, tmp_path: Path) -> None:
    with opened(2, tmp_path) as pool, pytest.raises(kind, match=said):
        list(pool.run([Report(0), Fail(how), Report(1)]))


def test_a_closed_pool_leaves_no_process(tmp_path: Path) -> None:
    with opened(2, tmp_path) as pool:
        workers = {process for _, process, _ in pool.run(Report(number) for number in range(8))}
        pool.close()
        for worker in workers:
            with pytest.raises(ProcessLookupError):
                os.kill(worker, 0)
