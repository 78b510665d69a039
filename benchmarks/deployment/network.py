"""A network namespace and a slow link for every node, with iproute2; only root may do this.

Node i lives at 10.77.i.2, this machine is 10.77.i.1 to it. What the node sends is limited at
its own end, what it is sent at ours, by a token bucket (`tc tbf`).
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

from benchmarks.deployment.processes import undisturbed
from lossyfl.errors import InputError

BURST = 16_000
"""Bytes that may pass at once."""


class Links:
    """Links of the same rates for all nodes; gone when the `with` block is left."""

    def __init__(self, nodes: int, *, downlink: float, uplink: float) -> None:
        if os.geteuid() or not (shutil.which("ip") and shutil.which("tc")):
            allowed = "used by root, with iproute2 installed (apt-get install iproute2)"
            got = "another user" if os.geteuid() else "no ip and tc"
            raise InputError("links", of="scripts.deploy_demo", allowed=allowed, got=got)
        self.nodes, self._downlink, self._uplink = nodes, downlink, uplink
        self._tag = f"lfl{os.getpid()}"

    def __enter__(self) -> Self:
        try:
            for node in range(self.nodes):
                self._make(node)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with undisturbed():
            for node in range(self.nodes):
                with suppress(InputError):
                    _call("ip", "netns", "delete", self._space(node))

    def address(self, node: int) -> str:
        """The address of this machine, as the node sees it."""
        return f"10.77.{node}.1"

    def inside(self, node: int, command: Sequence[str]) -> list[str]:
        """A command that runs where the node lives."""
        return ["ip", "netns", "exec", self._space(node), *command]

    def _space(self, node: int) -> str:
        return f"{self._tag}n{node}"

    def _make(self, node: int) -> None:
        space, here, there = self._space(node), f"{self._tag}h{node}", f"{self._tag}d{node}"
        _call("ip", "netns", "add", space)
        _call("ip", "link", "add", here, "type", "veth", "peer", "name", there, "netns", space)
        _call("ip", "address", "add", f"10.77.{node}.1/30", "dev", here)
        _call("ip", "link", "set", here, "up")
        _call(*self.inside(node, ["ip", "address", "add", f"10.77.{node}.2/30", "dev", there]))
        _call(*self.inside(node, ["ip", "link", "set", there, "up"]))
        _call(*self.inside(node, ["ip", "link", "set", "lo", "up"]))
        _call(*_bucket(here, self._downlink))
        _call(*self.inside(node, _bucket(there, self._uplink)))


def _bucket(device: str, rate: float) -> list[str]:
    limit = ["rate", f"{rate:.0f}bit", "burst", str(BURST), "latency", "400ms"]
    return ["tc", "qdisc", "add", "dev", device, "root", "tbf", *limit]


def _call(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        got = f"`{' '.join(command)}`: {done.stderr.strip()}"
        raise InputError(
            "links", of="scripts.deploy_demo", allowed="allowed on this machine", got=got
        )
