"""A short run of the kernels' fuzzer; `make fuzz` has the long one."""

import json
import re
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.kernels.fuzz import INTERRUPTED, LOADER, Tally, attack, build, seeds
from tests.kernels.platforms.replay import KERNELS

COMPILER = next((name for name in ("gcc", "cc") if shutil.which(name)), "")
RUNS = 100_000

pytestmark = [
    pytest.mark.skipif(not COMPILER, reason="no compiler with sanitizers"),
    pytest.mark.xdist_group("kernels under attack"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacker:
    """The program, and what it begins with."""

    signatures: dict[str, str]
    inputs: list[bytes]
    binary: Path

    def attack(self, runs: int) -> tuple[int, Tally]:
        return attack(
            self.binary, self.inputs, runs=runs, seed=1, folder=self.binary.parent, guided=False
        )


@pytest.fixture(scope="module")
def attacker(tmp_path_factory: pytest.TempPathFactory) -> Attacker:
    folder = tmp_path_factory.mktemp("attack")
    recorded = folder / "calls.bin"
    options = ["--vectors", "30", "--entries", "100"]
    command = [sys.executable, "-m", "tests.kernels.platforms.record", str(recorded), *options]
    subprocess.run(command, check=True)
    signatures = json.loads(recorded.with_suffix(".json").read_text())
    return Attacker(
        signatures=signatures,
        inputs=seeds(recorded, signatures),
        binary=build(signatures, folder, COMPILER),
    )


def test_every_entry_point_is_attacked(attacker: Attacker) -> None:
    """What the library exports is what the harness calls."""
    text = ""
    for file in ("all.c", "about.c"):
        command = [COMPILER, "-E", "-P", f"-I{KERNELS}", str(KERNELS / file)]
        text += subprocess.run(command, check=True, capture_output=True, text=True).stdout
    exported = re.findall(r'visibility\("default"\)\)\)[^;{(]*?\blfl_(\w+)\(', text)
    assert set(exported) == {*attacker.signatures, *LOADER}
    _, tally = attacker.attack(RUNS)
    assert tally.read()[0, : len(attacker.signatures)].min() > 0


def test_kernels_touch_only_what_they_are_given(
    attacker: Attacker, capsys: pytest.CaptureFixture[str]
) -> None:
    code, tally = attacker.attack(RUNS)
    assert code == 0, capsys.readouterr().out
    assert tally.read()[0].sum() == RUNS
    assert f"{RUNS:,} executions" in tally.summary([*attacker.signatures, "loader"])


def test_recorded_calls_are_read_as_they_were_made(attacker: Attacker) -> None:
    """Kernels did not refuse them; but they may refuse some whose arrays were cut short."""
    _, tally = attacker.attack(0)
    made, accepted = tally.read()[:, : len(attacker.signatures)]
    assert made.sum() == len(attacker.inputs)
    assert made.min() > 0
    refusing = {name for name, some in zip(attacker.signatures, accepted, strict=True) if not some}
    assert refusing <= {"push_classes", "pop_classes"}  # tables of all classes are cut short
    assert accepted.sum() > 0.8 * made.sum()


def test_an_interrupted_run_ends_with_what_it_did(attacker: Attacker) -> None:
    """Ctrl-C reaches the caller, which ends the program and counts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        code, tally = attacker.attack(10**12)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert code == INTERRUPTED
    assert 0 < tally.read()[0].sum() < 10**12
