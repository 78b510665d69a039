"""Rows about growth say what was measured."""

import subprocess
import sys
from subprocess import PIPE

from benchmarks import growth
from benchmarks.growth import Devices, Entries, measure_entries, sheets


def test_entries_are_those_of_the_model() -> None:
    row = measure_entries(1000)
    assert row.entries == 1010
    assert row.protocol > 0


def test_memory_is_that_of_descendants_too() -> None:
    """A child that holds 64 MB more than this process did."""
    before = growth.memory()
    code = "held = b'x' * (64 << 20); print(len(held), flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=PIPE, stdout=PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert growth.memory() > before + 50
        child.communicate(b"\n")


def test_sheets_have_a_row_for_each() -> None:
    devices = [Devices(devices=1000, visit=1.234, server=0.5, memory=2000.0)]
    first, second = sheets(devices, [Entries(entries=10**6, protocol=12.34)])
    assert first.rows == [("1,000", "1.23", "0.500", "2,000")]
    assert second.rows == [("1,000,000", "12.3")]
