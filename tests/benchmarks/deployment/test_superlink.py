"""Starting a SuperLink: another program in its place shows what is waited for."""

import os
import socket
import sys
from pathlib import Path

import pytest

from benchmarks.deployment import superlink
from benchmarks.deployment.certificates import Certificates
from benchmarks.deployment.processes import Processes
from benchmarks.deployment.superlink import LOOPBACK, free_ports, start_superlink
from lossyfl.errors import Stopped

LISTENS = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])))
print(sys.argv, flush=True)
server.accept()[0].recv(1)
server.accept()[0].recv(1)
"""


def start(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *, keys: bool = False) -> str:
    """The log of a program that is started as the SuperLink, and has listened."""
    monkeypatch.setattr(superlink, "program", lambda name: [sys.executable, "-c", code, name])
    files = Certificates(authority=Path("ca"), server=Path("own"), key=Path("secret"))
    (port,) = free_ports(1)
    with Processes(folder, os.environ) as processes:
        start_superlink(processes, port, files, keys=keys)
        with socket.create_connection((LOOPBACK, port)):  # it is there
            return processes.tail("superlink")


def test_it_listens_with_its_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = start(LISTENS, tmp_path, monkeypatch)
    for word in ("flower-superlink", "'--ssl-ca-certfile', 'ca'", "'--ssl-keyfile', 'secret'"):
        assert word in said
    assert "--enable-supernode-auth" not in said


def test_keys_of_nodes_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--enable-supernode-auth" in start(LISTENS, tmp_path, monkeypatch, keys=True)


def test_one_that_ends_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Stopped, match=r"the SuperLink did not start:\n(.*\n)*.*no certificate"):
        start("raise SystemExit('no certificate')", tmp_path, monkeypatch)


def test_free_ports_are_different_and_free() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        socket.create_server((LOOPBACK, port)).close()


def test_flower_keeps_to_its_own_folder_and_calls_nobody(tmp_path: Path) -> None:
    made = superlink.environment(tmp_path)
    assert made["FLWR_HOME"] == str(tmp_path)
    assert (made["FLWR_TELEMETRY_ENABLED"], made["FLWR_DISABLE_UPDATE_CHECK"]) == ("0", "1")
    assert made["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)


def test_flowers_processes_find_the_app(tmp_path: Path) -> None:
    (first, *_) = superlink.environment(tmp_path)["PYTHONPATH"].split(os.pathsep)
    assert (Path(first) / "benchmarks/flower_app.py").is_file()
