"""Bytes of every device, from the ledger."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lossyfl import InputError
from lossyfl.report.per_device import Stretch, per_device, spread
from lossyfl.results.ledger_file import HEADER, ranges

Handed = tuple[str, str, list[int], int]
KINDS = [("down", "update"), ("down", "catch-up"), ("down", "initial"), ("up", "reply")]
HANDED: st.SearchStrategy[Handed] = st.builds(
    lambda way, devices, nbytes: (*way, devices, nbytes),
    st.sampled_from(KINDS),
    st.lists(st.integers(0, 12), min_size=1, max_size=6, unique=True).map(sorted),
    st.integers(0, 1000),
)


def write(path: Path, handed: list[Handed]) -> Path:
    lines = [
        f"0,{way},{kind},{ranges(who)},{nbytes},1,1,1,7\n" for way, kind, who, nbytes in handed
    ]
    path.write_text("".join([HEADER, *lines]))
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(handed=st.lists(HANDED, max_size=8), devices=st.none() | st.integers(1, 15))
def test_as_added_up_device_by_device(
    handed: list[Handed], devices: int | None, tmp_path: Path
) -> None:
    sums = {name: Counter[int]() for name in ("down", "catch-up", "up")}
    named = set(range(devices or 0))
    for way, kind, who, nbytes in handed:
        named |= set(who)
        for name in (way, kind):
            if name in sums:
                sums[name].update(dict.fromkeys(who, nbytes))
    found = per_device(write(tmp_path / "ledger.csv", handed), devices)
    each = {d: (s.down, s.catch_up, s.up) for s in found for d in range(s.first, s.stop)}
    assert each == {d: (sums["down"][d], sums["catch-up"][d], sums["up"][d]) for d in named}
    assert sum(s.count for s in found) == len(named)


def test_without_a_ledger_nothing_is_known(tmp_path: Path) -> None:
    assert per_device(tmp_path / "ledger.csv", 40) == ()


def test_very_many_devices_are_a_few_stretches(tmp_path: Path) -> None:
    path = tmp_path / "ledger.csv"
    path.write_text(f"{HEADER}0,down,update,0-99999999999,7,1,1,1,7\n1,up,reply,5,9,1,1,1,7\n")
    found = per_device(path)
    assert [(s.first, s.count, s.down, s.up) for s in found] == [
        (0, 5, 7, 0), (5, 1, 7, 9), (6, 10**11 - 6, 7, 0)
    ]  # fmt: skip
    assert spread(found, lambda each: each.up).median == 0


@pytest.mark.parametrize("who", ["3-1", "-1", "a", "9223372036854775808"])
def test_devices_that_are_none(who: str, tmp_path: Path) -> None:
    (tmp_path / "ledger.csv").write_text(f"{HEADER}0,down,update,{who},7,1,1,1,7\n")
    with pytest.raises(InputError, match=r"devices of ledger\.csv must be numbers"):
        per_device(tmp_path / "ledger.csv")


@given(counts=st.lists(st.tuples(st.integers(1, 4), st.integers(0, 9)), min_size=1, max_size=6))
def test_a_spread_is_that_of_all_devices(counts: list[tuple[int, int]]) -> None:
    every = sorted(value for count, value in counts for _ in range(count))
    made = [Stretch(first=0, stop=n, down=value, catch_up=0, up=0) for n, value in counts]
    found = spread(made, lambda each: each.down)
    half = len(every) // 2
    middle = every[half] if len(every) % 2 else (every[half - 1] + every[half]) / 2
    assert (found.least, found.median, found.most) == (every[0], middle, every[-1])
