"""The SuperLink of a deployment: its command, its environment, and waiting until it listens."""

import os
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.deployment.certificates import Certificates
from benchmarks.deployment.processes import Processes
from benchmarks.flower import python_path
from lossyfl.adapters.records import PIECE
from lossyfl.errors import Stopped

if TYPE_CHECKING:
    import subprocess

START = 90.0
"""Seconds that the SuperLink may take to start."""
LOOPBACK = "127.0.0.1"


def start_superlink(
    processes: Processes, port: int, certificates: Certificates, *, keys: bool
) -> None:
    """Start the SuperLink, and return when it listens.

    keys: its nodes must have keys that it knows
    """
    process = processes.start(
        "superlink",
        [
            *program("flower-superlink"),
            *("--port", str(port), "--disable-runtime-dependency-installation"),
            *("--ssl-ca-certfile", str(certificates.authority)),
            *("--ssl-certfile", str(certificates.server)),
            *("--ssl-keyfile", str(certificates.key)),
            *(("--enable-supernode-auth",) if keys else ()),
        ],
    )
    _wait(lambda: _listens(port), process, processes)


def _wait(
    ready: Callable[[], bool], process: "subprocess.Popen[bytes]", processes: Processes
) -> None:
    """Until the SuperLink is there."""
    end = time.monotonic() + START
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            raise Stopped(f"the SuperLink did not start:\n{processes.tail('superlink')}")
        time.sleep(0.2)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((LOOPBACK, port)) == 0


def free_ports(count: int) -> list[int]:
    """Different ports that nobody listens to, for programs that are to start next."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def program(name: str) -> list[str]:
    """A program of Flower's, of this Python's environment."""
    return [str(Path(sys.executable).parent / name)]


def environment(home: Path) -> dict[str, str]:
    """The environment of all of Flower's programs; what they keep is in `home`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {
        "PATH": path,
        "PYTHONPATH": python_path(),
        "FLWR_HOME": str(home),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "OMP_NUM_THREADS": "1",
    }


SLOW = {"FLWR_PRIVATE_MAX_ARRAY_CHUNK_SIZE": str(PIECE)}
"""Without it plain Flower sends 5 MB in one request, which a slow link does not finish in its 30 s."""
