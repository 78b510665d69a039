"""Frames of a ledger, as fast as a report needs them."""

from pathlib import Path

import pytest
from tests.report.synthetic import ledger, record

from lossyfl import InputError
from lossyfl.report.frames import Frame, frames
from lossyfl.results.ledger_file import HEADER, read_lines


def test_they_are_those_that_the_ledger_has(tmp_path: Path) -> None:
    path = tmp_path / "ledger.csv"
    path.write_text(ledger([record(0), record(1, down=50, up=30)]))
    found = list(frames(path))
    assert found[0] == Frame(0, "down", "update", "0-2", 250)
    whole = [line.frame for line in read_lines(path)]
    assert [(f.round, f.direction, f.kind, f.nbytes) for f in found] == [
        (f.round, f.direction, f.kind, f.nbytes) for f in whole
    ]


def test_a_line_that_is_not_whole_yet_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "ledger.csv").write_text(HEADER + "0,down,update,0-2,250,1,1,1,7\n1,down,upd")
    assert len(list(frames(tmp_path / "ledger.csv"))) == 1


@pytest.mark.parametrize("nbytes", ["-1", "9223372036854775808", "x", ""])
def test_bytes_that_no_frame_has(nbytes: str, tmp_path: Path) -> None:
    (tmp_path / "ledger.csv").write_text(f"{HEADER}0,down,update,0-2,{nbytes},1,1,1,7\n")
    with pytest.raises(InputError, match=r"of line 2 of ledger.csv"):
        list(frames(tmp_path / "ledger.csv"))
