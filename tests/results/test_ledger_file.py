"""The ledger as CSV, there and back."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import InputError
from lossyfl.protocol.entries import Entry
from lossyfl.results.ledger_file import HEADER, lines, ranges, read


def entry(round: int, device: int, frame: int) -> Entry:
    return Entry(
        round=round,
        direction="down",
        device=device,
        kind="update",
        nbytes=10 + frame,
        entries=100,
        paper_bits=1 / 3 + frame,
        entropy_bits=0.1 + 0.2,
        frame=frame,
    )


ENTRIES = st.lists(
    st.builds(entry, st.integers(0, 3), st.integers(0, 20), st.integers(0, 2)), max_size=30
)


@given(entries=ENTRIES)
def test_there_and_back(tmp_path_factory: pytest.TempPathFactory, entries: list[Entry]) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger.csv"
    path.write_text(HEADER + "".join(lines(entries)))
    assert read(path).entries == entries


def test_a_frame_for_many_is_one_line() -> None:
    text = list(lines([entry(0, device, 1) for device in range(40)]))
    assert text == ["0,down,update,0-39,11,100,1.3333333333333333,0.30000000000000004,1\n"]


@given(numbers=st.lists(st.integers(0, 50), min_size=1))
def test_ranges_keep_every_number(numbers: list[int]) -> None:
    back: list[int] = []
    for run in ranges(numbers).split():
        first, _, last = run.partition("-")
        back += range(int(first), int(last or first) + 1)
    assert back == numbers


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(HEADER + "x,down,update,0,1,2,3,4,5\n")
    with pytest.raises(InputError, match=r"content of a\.csv must be a ledger"):
        read(tmp_path / "a.csv")
