"""The engine itself, and a bounded part of what `make fuzz` does with it."""

import importlib
import logging
import random
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tests.fuzz import guided
from tests.fuzz.guided import Campaign, Target, fuzz
from tests.fuzz.instrument import Branches
from tests.fuzz.mutate import HEADED, TEXT, mutated
from tests.fuzz.targets import TARGETS

from lossyfl.errors import InputError, LossyflError

READER = '''
def read(data):
    """Steps that nobody finds by chance all at once."""
    if data[:1] == b"L":
        if data[1:2] == b"F":
            if data[2:3] == b"L" and len(data) > 3:
                raise KeyError("hidden")
    return 1 if data else 0
'''


def campaign(
    target: Target, branches: Branches | None = None, folder: Path | None = None
) -> Campaign:
    marks = branches or Branches()
    return Campaign(target=target, allowed=LossyflError, branches=marks, folder=folder)


class TestFuzz:
    def test_finds_what_lies_behind_three_branches(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "hidden_reader.py").write_text(READER)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
        branches = Branches()
        branches.watch("hidden_reader")
        reader = importlib.import_module("hidden_reader")
        monkeypatch.delitem(sys.modules, "hidden_reader")
        target = Target(name="hidden", run=reader.read, seeds=lambda: [b"....", b""])
        own = campaign(target, branches, folder=tmp_path / "corpus" / "hidden")
        (finding,) = fuzz([own], seconds=600, seed=1, turn=0.5, steps=20_000)
        assert finding.error == "KeyError: 'hidden'"
        assert bytes.fromhex(finding.data).startswith(b"LFL")
        assert len(own.corpus) >= 4  # one for each step
        assert len(list((tmp_path / "corpus" / "findings").iterdir())) == 2
        again = campaign(target, branches, folder=tmp_path / "corpus" / "hidden")
        again.start()
        assert len(again.corpus) >= 4  # the next run goes on from there

    def test_our_errors_are_no_findings_and_warnings_are(self) -> None:
        def read(data: bytes) -> None:
            if data == b"refused":
                raise InputError("x", of="y", allowed="z", got="q")
            assert np.float32(1e38) * np.float32(1e38) == np.inf

        own = campaign(Target(name="read", run=read, seeds=lambda: [b"refused", b"taken"]))
        (finding,) = fuzz([own], seconds=0, seed=0)
        assert finding.error.startswith("RuntimeWarning")
        assert own.refused == 1

    def test_what_never_ends_is_a_finding(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(guided, "MORE", 1)

        def read(data: bytes) -> None:
            while data:
                pass

        own = campaign(Target(name="read", run=read, seeds=lambda: [b""]))
        assert fuzz([own], seconds=0, seed=0) == []
        own.execute(b"x", seconds=1)
        (finding,) = own.findings.values()
        assert finding.error.startswith("TooSlowError")

    def test_mutations_are_those_of_the_seed(self) -> None:
        text = b'{"a": [1, 2, "x"], "b": "[1, 2]"}'
        for how in (TEXT, HEADED):
            made = [
                [mutated(text, b"other", [b"w"], how, rng) for _ in range(200)]
                for rng in (random.Random(3), random.Random(3))
            ]
            assert made[0] == made[1]
            assert len(set(made[0])) > 100


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_nothing_but_our_errors(target: Target) -> None:
    own = campaign(target)
    findings = fuzz([own], seconds=600, seed=1, steps=target.steps)
    assert [f"{finding.error} {finding.traceback}" for finding in findings] == []
    assert own.executions > own.refused  # seeds are read


@pytest.mark.parametrize(
    "target", [own for own in TARGETS if "flower" in own.name], ids=lambda target: target.name
)
def test_flowers_log_is_left_as_it_was(target: Target, caplog: pytest.LogCaptureFixture) -> None:
    """Other tests of the same process look for what it says."""
    caplog.set_level(logging.INFO, "flwr")
    for data in target.seeds()[:2]:
        with suppress(LossyflError):
            target.run(data)
    assert logging.getLogger("flwr").level == logging.INFO
