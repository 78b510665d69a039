"""The busiest device of a round."""

from pathlib import Path

from tests.report.synthetic import ledger, record

from lossyfl.report.busiest import Busiest, busiest
from lossyfl.simulation.ledger_file import HEADER


def test_a_broadcast_and_replies(tmp_path: Path) -> None:
    rounds = [record(0), record(1, down=50, up=30)]
    (tmp_path / "ledger.csv").write_text(ledger(rounds))
    assert busiest(tmp_path / "ledger.csv", rounds) == (
        Busiest(down=250, up=102),
        Busiest(down=50, up=32),
    )


def test_a_device_that_catches_up_is_sent_all_it_missed(tmp_path: Path) -> None:
    (tmp_path / "ledger.csv").write_text(
        HEADER
        + "0,down,update,0-1 3,100,9,1.0,1.0,1\n"
        + "0,down,catch-up,2,70,9,1.0,1.0,2\n"
        + "0,down,catch-up,2,90,9,1.0,1.0,3\n"
    )
    assert busiest(tmp_path / "ledger.csv", [record(0)]) == (Busiest(down=160, up=0),)


def test_one_device_may_have_two_lines_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "ledger.csv").write_text(
        HEADER + "0,down,catch-up,2,70,9,1.0,1.0,2\n" + "0,down,catch-up,2,90,9,1.0,1.0,3\n"
    )
    assert busiest(tmp_path / "ledger.csv", [record(0)])[0].down == 160


def test_without_a_ledger_it_is_the_mean(tmp_path: Path) -> None:
    assert busiest(tmp_path / "ledger.csv", [record(0)]) == (Busiest(down=250, up=101),)
