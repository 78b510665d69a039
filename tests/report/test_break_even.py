"""The link rate at which compression breaks even, against numbers worked out by hand."""

import math
from pathlib import Path

import pytest
from tests.report.synthetic import record, write

from lossyfl.report.break_even import BreakEven, downlink, uplink
from lossyfl.report.groups import Group, group
from lossyfl.report.runs import find
from lossyfl.results.records import Round


def one(folder: Path, rounds: list[Round]) -> Group:
    write(folder / "a", rounds=rounds)
    return group(find([folder]))[0]


def test_break_even_rates_by_hand(tmp_path: Path) -> None:
    """Down: (4,000 - 250) bytes in 0.01 s are 3 Mbit/s. Up: (4,000 - 102) in 0.05 s are 623,680 bit/s."""
    group = one(tmp_path, [record(t) for t in range(3)])
    assert downlink(group) == BreakEven(saved=3750, seconds=0.01)
    assert downlink(group).rate == pytest.approx(3e6)
    assert uplink(group).rate == pytest.approx(623_680)


def test_what_saves_nothing_never_breaks_even_and_what_costs_nothing_always() -> None:
    assert BreakEven(saved=-32, seconds=0.1).rate is None
    assert BreakEven(saved=1, seconds=0).rate == math.inf


def test_without_rounds_there_is_no_rate(tmp_path: Path) -> None:
    group = one(tmp_path, [])
    assert downlink(group).rate is None
    assert uplink(group).rate is None
