"""The longest reply of a round."""

from pathlib import Path

import pytest
from tests.report.synthetic import ledger, record

from lossyfl import InputError
from lossyfl.report.longest import longest_replies
from lossyfl.results.ledger_file import HEADER


def test_of_each_round(tmp_path: Path) -> None:
    rounds = [record(0), record(1, down=50, up=30)]
    (tmp_path / "ledger.csv").write_text(ledger(rounds))
    assert longest_replies(tmp_path / "ledger.csv", rounds) == (102, 32)


def test_without_a_ledger_it_is_the_mean(tmp_path: Path) -> None:
    assert longest_replies(tmp_path / "ledger.csv", [record(0)]) == (101,)


@pytest.mark.parametrize("text", ["", "other\n", f"{HEADER}0,up\n", f"{HEADER}x,up,a,0,9,9\n"])
def test_another_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "ledger.csv").write_text(text)
    with pytest.raises(InputError, match=r"of (line 2 of )?ledger.csv"):
        longest_replies(tmp_path / "ledger.csv", [record(0)])
