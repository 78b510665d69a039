"""What there is by name."""

import json

import pytest
from typer.testing import CliRunner

from lossyfl import quantizers, tasks
from lossyfl.cli import app
from lossyfl.protocol import schemes

NAMES = {"schemes": schemes.names, "quantizers": quantizers.names, "tasks": tasks.names}


@pytest.mark.parametrize("what", NAMES)
def test_a_line_for_everything_that_is_registered(what: str) -> None:
    lines = CliRunner().invoke(app, ["list", what]).output.splitlines()
    assert [line.split()[0] for line in lines] == NAMES[what]()
    assert all(len(line.split(maxsplit=1)[1]) > 10 for line in lines)
    found = json.loads(CliRunner().invoke(app, ["list", what, "--json"]).output)
    assert list(found) == NAMES[what]()


def test_strategies_are_those_of_flower() -> None:
    pytest.importorskip("flwr")
    lines = CliRunner().invoke(app, ["list", "strategies"]).output.splitlines()
    names = [line.split()[0] for line in lines]
    assert {"FedAvg", "FedAdam", "Krum"} <= set(names)
    assert names == sorted(names)


def test_others_are_named() -> None:
    done = CliRunner().invoke(app, ["list", "scheme"])
    assert done.exit_code == 2
    assert "schemes" in done.output
