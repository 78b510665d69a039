"""The process that workers are forked from."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lossyfl.simulation.warm import default_workers

PROGRAM = """
import multiprocessing, signal
from lossyfl.simulation.warm import warm_up

def say(connection):
    import sys
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    connection.send((ignored, "torch" in sys.modules))

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    context = warm_up()
    here, there = context.Pipe()
    process = context.Process(target=say, args=(there,))
    process.start()
    print(*here.recv(), signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    process.join()
"""


def test_workers_have_torch_from_the_start_and_leave_ctrl_c_to_the_run(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, path], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True", "True"]


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, lossyfl.simulation.warm; print({'numpy', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


def test_as_many_workers_as_cores_that_this_process_may_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 4, 6}, raising=False)
    assert default_workers() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert default_workers() == 1
