"""A SuperLink and SuperNodes on this machine, as real processes with TLS, and a run of our app on them."""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from lossyfl.adapters.records import PIECE
from lossyfl.errors import Stopped
from lossyfl.files.atomic import write_atomically
from lossyfl.flower.app import PLAIN
from lossyfl.flower.deployment.certificates import (
    Certificates,
    write_certificates,
    write_node_key,
)
from lossyfl.flower.deployment.network import Links
from lossyfl.flower.deployment.processes import Processes
from lossyfl.flower.deployment.relay import Count, Relay
from lossyfl.results.records import read_rounds

if TYPE_CHECKING:
    import subprocess

START = 90.0
"""Seconds that the SuperLink may take to start."""
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """After a round: its number, accuracy, seconds since the run was asked for, bytes on all wires so far."""

    round: int
    accuracy: float
    seconds: float
    down: int
    up: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Of the SuperLink; for each node, of the relay to it and of the node itself."""

    main: int
    relayed: tuple[int, ...]
    own: tuple[int, ...]


class Federation:
    """A SuperLink with nodes.

    folder: for logs, certificates, and what nodes remember
    """

    def __init__(
        self,
        folder: Path,
        processes: Processes,
        relay: Relay,
        ports: Ports,
        authority: Path,
        links: Links | None,
        allow: Sequence[str],
    ) -> None:
        self._keys: dict[int, Path] = {}
        self._allow = " ".join(allow)
        self._folder, self._processes, self._relay = folder, processes, relay
        self._ports, self._authority, self._links = ports, authority, links
        self._nodes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def state(self) -> Path:
        """Where the nodes' devices remember."""
        return self._folder / "state"

    def wire_bytes(self) -> Count:
        """What all nodes were sent and have sent so far."""
        return self._relay.past.until(time.time())

    def start_node(self, node: int) -> None:
        """Start a SuperNode that reaches the SuperLink through the relay."""
        host = self._links.address(node) if self._links else LOOPBACK
        config = f"partition-id={node} num-partitions={len(self._ports.own)}"
        if self._allow:
            config += f' lossyfl-allow="{self._allow}"'
        key = self._keys.get(node)
        command = [
            *_program("flower-supernode"),
            *("--root-certificates", str(self._authority)),
            *(() if key is None else ("--auth-supernode-private-key", str(key))),
            *("--superlink", f"{host}:{self._ports.relayed[node]}"),
            *("--port", str(self._ports.own[node])),
            *("--node-config", f'{config} lossyfl-dir="{self.state}"'),
        ]
        inside = self._links.inside(node, command) if self._links else command
        self._nodes[node] = self._processes.start(f"node{node}", inside)

    def make_key(self, node: int, *, register: bool) -> None:
        """Give a node that is not started yet a key, and if wanted make it known to the SuperLink."""
        self._keys[node], public = write_node_key(self._folder, f"node{node}")
        if not register:
            return
        command = [*_program("flwr"), "supernode", "register", str(public), "here"]
        name = f"register{node}"
        if self._processes.start(name, command).wait(START):
            raise Stopped(f"SuperNode {node} was not registered:\n{self._processes.tail(name)}")

    def wait_for_end(self, node: int, seconds: float = START) -> str:
        """The end of the log of a SuperNode that ends by itself."""
        self._nodes.pop(node).wait(seconds)
        return self._processes.tail(f"node{node}")

    def stop_node(self, node: int, how: int = signal.SIGTERM) -> None:
        """Stop a SuperNode, with the app that it runs."""
        self._processes.stop(self._nodes.pop(node), how)

    def _check_nodes(self) -> None:
        """Raise if a node has ended by itself: the server would wait for it."""
        for node, process in self._nodes.items():
            if process.poll() is not None:
                end = self._processes.tail(f"node{node}")
                raise Stopped(f"SuperNode {node} ended by itself:\n{end}")

    def run(self, config: Mapping[str, object], out: Path) -> Iterator[Seen]:
        """Train; every round as it is over."""
        out.mkdir(parents=True, exist_ok=True)
        plain = config["scheme"] == PLAIN
        app = _write_app(self._folder, "plain_client" if plain else "lossy_client")
        settings = " ".join(f"{key}={json.dumps(v)}" for key, v in config.items())
        command = [*_program("flwr"), "run", str(app), "here", "--stream"]
        began = time.time()
        before = self._relay.past.until(began)
        command += ["-c", f"{settings} out={json.dumps(str(out))}"]
        runner = self._processes.start("run", command)
        seen: list[Seen] = []
        while True:
            over = runner.poll() is not None
            lines = _lines(out / "progress.jsonl")
            for line in lines[len(seen) :]:
                now = self._relay.past.until(line["time"])
                seen.append(
                    Seen(
                        round=int(line["round"]),
                        accuracy=line["accuracy"],
                        seconds=line["time"] - began,
                        down=now.down - before.down,
                        up=now.up - before.up,
                    )
                )
                yield seen[-1]
            if over:
                break
            self._check_nodes()
            time.sleep(0.2)
        if not (out / "theta.npy").is_file():
            raise Stopped(f"the run did not end well:\n{self._processes.tail('run')}")
        if not plain:
            _note_wire(out / "results/rounds.jsonl", seen)


def _note_wire(path: Path, seen: list[Seen]) -> None:
    """Write down what was measured on the wire, beside what Flower counts."""
    lines = [
        replace(
            record,
            down=replace(record.down, wire=after.down - before.down),
            up=replace(record.up, wire=after.up - before.up),
        ).line()
        for record, (before, after) in zip(read_rounds(path), pairwise(seen), strict=False)
    ]
    write_atomically(path, ["".join(lines).encode()])


@contextmanager
def federation(
    folder: Path,
    nodes: int,
    links: Links | None = None,
    *,
    allow: Sequence[str] = (),
    keys: bool = False,
) -> Generator[Federation]:
    """Start a SuperLink and its nodes; stop all of it at the end, whatever happens.

    allow: own tasks and schemes that nodes may import
    keys:  nodes must have keys that the SuperLink knows; they are not started then: `make_key`, `start_node`
    """
    folder.mkdir(parents=True, exist_ok=True)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    main, *others = _free_ports(1 + 2 * nodes)
    ports = Ports(main=main, relayed=tuple(others[:nodes]), own=tuple(others[nodes:]))
    addresses = [LOOPBACK]
    if links is not None:
        addresses += [links.address(node) for node in range(nodes)]
    certificates = write_certificates(folder, addresses)
    (home / "config.toml").write_text(
        f'[superlink]\ndefault = "here"\n\n[superlink.here]\naddress = "{LOOPBACK}:{main}"\n'
        f'root-certificates = "{certificates.authority}"\n'
    )
    with ExitStack() as stack:
        hosts = [links.address(node) if links else LOOPBACK for node in range(nodes)]
        relay = Relay(main, list(zip(hosts, ports.relayed, strict=True)))
        environment = _environment(home) | (_SLOW if links else {})
        processes = stack.enter_context(Processes(folder, environment))
        stack.enter_context(relay)
        _start_superlink(processes, main, certificates, keys=keys)
        made = Federation(folder, processes, relay, ports, certificates.authority, links, allow)
        for node in range(0 if keys else nodes):
            made.start_node(node)
        yield made


def _start_superlink(
    processes: Processes, port: int, certificates: Certificates, *, keys: bool
) -> None:
    process = processes.start(
        "superlink",
        [
            *_program("flower-superlink"),
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


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _program(name: str) -> list[str]:
    """A program of Flower's, of this Python's environment."""
    return [str(Path(sys.executable).parent / name)]


def _environment(home: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {
        "PATH": path,
        "FLWR_HOME": str(home),
        "FLWR_TELEMETRY_ENABLED": "0",
        "FLWR_DISABLE_UPDATE_CHECK": "1",
        "OMP_NUM_THREADS": "1",
    }


_SLOW = {"FLWR_PRIVATE_MAX_ARRAY_CHUNK_SIZE": str(PIECE)}
"""Without it plain Flower sends 5 MB in one request, which a slow link does not finish in its 30 s."""


def _write_app(folder: Path, client: str) -> Path:
    """A Flower app that is ours under another name."""
    app = folder / client
    package = app / "lossyfl_demo"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("")
    # Flower looks for an assignment.
    for name, own in (("server_app", "server_app"), ("client_app", client)):
        text = f"from lossyfl.flower.app import {own}\n\napp = {own}\n"
        (package / f"{name}.py").write_text(text)
    (app / "pyproject.toml").write_text(_PROJECT)
    return app


_PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "lossyfl-demo"
version = "1.0.0"
description = "One of lossyfl's tasks over Flower"
license = "Apache-2.0"
dependencies = []

[tool.hatch.build.targets.wheel]
packages = ["lossyfl_demo"]

[tool.flwr.app]
publisher = "lossyfl"

[tool.flwr.app.components]
serverapp = "lossyfl_demo.server_app:app"
clientapp = "lossyfl_demo.client_app:app"

[tool.flwr.app.config]
task = "digits"
scheme = "lfl:q1=2,q2=2"
rounds = 3
devices = 3
tau = 4
batch = 16
optimizer = "sgd"
lr = "0.2"
partition = "iid"
seed = 0
participation = 1.0
timeout = 3600.0
out = ""
"""


def _lines(path: Path) -> list[dict[str, float]]:
    """The whole lines of a file that grows."""
    text = path.read_text() if path.is_file() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
