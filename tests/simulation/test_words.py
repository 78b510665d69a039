"""A wrong word costs nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys
from typer.testing import CliRunner
from lossyfl.simulation import warm
warm.warm_up = lambda: sys.exit("a worker was started")
from lossyfl.cli import app
for arguments in json.loads(sys.argv[1]):
    error = CliRunner().invoke(app, arguments).exception
    print(json.dumps([str(error), "torch" in sys.modules]))
"""

CASES = [
    (("run", "--scheme", "lffl"), "did you mean lfl?"),
    (("run", "--scheme", "lfl:q3=2"), "option of lfl must be one of"),
    (("run", "--downlink-budget", "20kb"), 'did you mean "20kB"?'),
    (("run", "--task", "mnit"), "did you mean mnist?"),
    (("run", "--task", "mlp:hiden=3"), "did you mean hidden?"),
    (("run", "--task", "logistic:of=mnit"), "did you mean mnist?"),
    (("run", "--task", "mnist", "--data-dir", "nowhere"), "nowhere"),
    (("run", "--optimizer", "adem"), "did you mean adam?"),
    (("run", "--lr", "fast"), "name of step size must be"),
    (("run", "--partition", "dirichlet:alpha=-1"), "alpha of dirichlet must be > 0"),
    (("run", "--rounds", "0"), "rounds of a run must be an int >= 1"),
    (("run", "--workers", "0"), "workers of a run must be an int >= 1"),
    (("run", "--save-updates", "soon"), "numbers of rounds"),
    (("run", "--checkpoint-every", "-1"), "checkpoint_every of a run must be seconds"),
    (("run", "--out", "pyproject.toml"), "out of a run must be a folder"),
    (("resume", "nowhere"), "must be a results directory"),
    (("compare", "--schemes", "lossless", "lffl"), "did you mean lfl?"),
    (("tune", "--downlink-budget", "20kb", "--uplink-budget", "1kB"), 'did you mean "20kB"?'),
    (("tune", "--downlink-budget", "20kB"), "given for both links"),
    (("reproduce", "fig1a", "--data-dir", "nowhere"), "nowhere"),
]


@pytest.fixture(scope="module")
def said() -> list[tuple[str, bool]]:
    """For every case the error, and whether torch has been imported."""
    asked = json.dumps([arguments for arguments, _ in CASES])
    command = [sys.executable, "-c", PROGRAM, asked]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_wrong_words_are_found_before_torch_is_imported(
    number: int, said: list[tuple[str, bool]]
) -> None:
    error, torch = said[number]
    assert CASES[number][1] in error
    assert not torch
