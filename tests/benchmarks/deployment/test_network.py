"""A namespace and two limited links per node, all of them gone at the end; no command is really run."""

import subprocess
from types import SimpleNamespace

import pytest

from benchmarks.deployment import network
from benchmarks.deployment.network import Links
from lossyfl.errors import InputError


class System:
    """A machine that notes the commands it is given, and refuses those with a word in them."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.refused = ""
        self.user = 0
        self.has_programs = True

    def run(self, command: tuple[str, ...], **_: object) -> subprocess.CompletedProcess[str]:
        self.said.append(" ".join(command))
        bad = bool(self.refused) and self.refused in self.said[-1]
        return subprocess.CompletedProcess(command, int(bad), "", "not here\n" if bad else "")


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    made = System()
    monkeypatch.setattr(network, "subprocess", SimpleNamespace(run=made.run))
    monkeypatch.setattr(network.os, "geteuid", lambda: made.user)
    monkeypatch.setattr(network.shutil, "which", lambda name: made.has_programs and name)
    return made


def spaces(system: System, verb: str) -> list[str]:
    start = f"ip netns {verb} "
    return [each.removeprefix(start) for each in system.said if each.startswith(start)]


def test_both_ends_are_limited(system: System) -> None:
    """What a node is sent at this machine's end, what it sends inside its namespace."""
    with Links(2, downlink=1e6, uplink=2.5e5):
        limits = [each for each in system.said if "tbf" in each]
    (down, up) = limits[:2]
    assert down.startswith("tc qdisc add dev ")
    assert " rate 1000000bit " in down
    assert up.startswith("ip netns exec ")
    assert " rate 250000bit " in up
    assert len(limits) == 4


def test_namespaces_are_gone_at_the_end(system: System) -> None:
    with Links(3, downlink=1e6, uplink=1e6):
        made = spaces(system, "add")
        assert not spaces(system, "delete")
    assert len(set(made)) == 3
    assert spaces(system, "delete") == made


def test_what_was_made_is_gone_if_the_rest_cannot_be(system: System) -> None:
    system.refused = "10.77.1.1/30"
    with (
        pytest.raises(InputError, match=r"10\.77\.1\.1/30.*: not here"),
        Links(2, downlink=1e6, uplink=1e6),
    ):
        raise AssertionError("there is no network")
    assert set(spaces(system, "add")) <= set(spaces(system, "delete"))


def test_a_command_runs_where_the_node_lives(system: System) -> None:
    with Links(2, downlink=1e6, uplink=1e6) as links:
        assert links.inside(1, ["echo"]) == [
            "ip",
            "netns",
            "exec",
            spaces(system, "add")[1],
            "echo",
        ]
        assert (links.address(0), links.address(1)) == ("10.77.0.1", "10.77.1.1")


@pytest.mark.parametrize(
    ("user", "has_programs", "got"), [(1000, True, "another user"), (0, False, "no ip and tc")]
)
def test_links_are_for_root_with_iproute2(
    user: int, has_programs: bool, got: str, system: System
) -> None:
    system.user, system.has_programs = user, has_programs
    with pytest.raises(InputError, match=f"links of scripts.deploy_demo must be .*got {got}$"):
        Links(1, downlink=1e6, uplink=1e6)
    assert not system.said
