"""The time of rounds over a link, against numbers worked out by hand."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.synthetic import SECONDS, record, write

from lossyfl.report.groups import Group, group
from lossyfl.report.link import LinkSpeeds, elapsed, load
from lossyfl.report.runs import find
from lossyfl.results.records import Round

LINK = LinkSpeeds(downlink=10_000, uplink=2_000, latency=0.1)


def one(folder: Path, rounds: list[Round]) -> Group:
    write(folder / "a", rounds=rounds)
    return group(find([folder]))[0]


def test_a_round_by_hand(tmp_path: Path) -> None:
    """250 bytes down at 10 kbit/s are 0.2 s, the longest reply of 102 bytes at 2 kbit/s is 0.408 s.

    Three devices trained for 0.9 s, 0.3 s each. Coding: 0.01 s broadcast, 0.06 / 3 s a reply, 0.03 s to
    add them. With 0.1 s of latency twice: 0.2 + 0.2 + 0.408 + 0.3 + 0.06 = 1.168 s.
    """
    group = one(tmp_path, [record(0), record(1)])
    assert elapsed(load(group), LINK, "broadcast") == pytest.approx([1.168, 2.336])
    assert elapsed(load(group), LINK, "unicast") == pytest.approx([1.568, 3.136])


def test_a_copy_for_each_takes_longer(tmp_path: Path) -> None:
    """Frames of 250 bytes for two and of 1,000 for one: 1 s on air, 1.2 s as three copies."""
    first = record(0)
    down = replace(first.down, nbytes=1250, unicast=1500)
    write(tmp_path / "a", rounds=[replace(first, down=down)])
    made = group(find([tmp_path]))[0]
    assert elapsed(load(made), LINK, "broadcast") == pytest.approx([1.168 - 0.2 + 1.0])
    assert elapsed(load(made), LINK, "unicast") == pytest.approx([1.168 - 0.2 + 1.2])


def test_late_devices_have_trained_too(tmp_path: Path) -> None:
    group = one(tmp_path, [replace(record(0), replies=2, late=1)])
    assert load(group).training == pytest.approx([0.3])


def test_a_round_in_which_nobody_trained(tmp_path: Path) -> None:
    idle = replace(SECONDS, training=0.0, coding=0.0)
    group = one(tmp_path, [replace(record(0), replies=0, seconds=idle)])
    assert load(group).training == pytest.approx([0.0])


def test_no_rounds(tmp_path: Path) -> None:
    group = one(tmp_path, [])
    assert elapsed(load(group), LINK, "broadcast").shape == (0,)
