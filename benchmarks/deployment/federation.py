"""A SuperLink and SuperNodes on this machine, as real processes with TLS, and a run of our app on them."""

import json
import signal
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.deployment.app_folder import write_app
from benchmarks.deployment.certificates import write_certificates, write_node_key
from benchmarks.deployment.network import Links
from benchmarks.deployment.processes import Processes
from benchmarks.deployment.relay import Relay, WireBytes
from benchmarks.deployment.superlink import (
    LOOPBACK,
    SLOW,
    START,
    environment,
    free_ports,
    program,
    start_superlink,
)
from benchmarks.flower import PLAIN
from lossyfl.errors import Stopped
from lossyfl.files.atomic import write_atomically
from lossyfl.results.records import read_rounds

if TYPE_CHECKING:
    import subprocess


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

    def wire_bytes(self) -> WireBytes:
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
            *program("flower-supernode"),
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
        command = [*program("flwr"), "supernode", "register", str(public), "here"]
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
        app = write_app(self._folder, "plain_client" if plain else "lossy_client")
        settings = " ".join(f"{key}={json.dumps(v)}" for key, v in config.items())
        command = [*program("flwr"), "run", str(app), "here", "--stream"]
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
    main, *others = free_ports(1 + 2 * nodes)
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
        variables = environment(home) | (SLOW if links else {})
        processes = stack.enter_context(Processes(folder, variables))
        stack.enter_context(relay)
        start_superlink(processes, main, certificates, keys=keys)
        made = Federation(folder, processes, relay, ports, certificates.authority, links, allow)
        for node in range(0 if keys else nodes):
            made.start_node(node)
        yield made


def _lines(path: Path) -> list[dict[str, float]]:
    """The whole lines of a file that grows."""
    text = path.read_text() if path.is_file() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
