"""The downlink as it was sent: what messages carry counts for every node."""

from dataclasses import replace
from pathlib import Path

from tests.report.synthetic import ledger, record

from lossyfl.results.handed import as_sent
from lossyfl.results.ledger_file import HEADER
from lossyfl.results.records import Round, Traffic


def over_messages(number: int) -> Round:
    one = record(number)
    return replace(one, down=replace(one.down, carrier=900))


def test_a_broadcast_that_all_hear_counts_once(tmp_path: Path) -> None:
    rounds = [record(0), record(1)]
    (tmp_path / "ledger.csv").write_text(ledger(rounds))
    assert as_sent(rounds, tmp_path / "ledger.csv") == tuple(rounds)


def test_copies_that_a_record_has_are_kept(tmp_path: Path) -> None:
    known = replace(over_messages(0), copies=Traffic(nbytes=7))
    (tmp_path / "ledger.csv").write_text(ledger([record(0)]))
    assert as_sent([known], tmp_path / "ledger.csv") == (known,)


def test_records_of_older_versions_have_copies_from_the_ledger(tmp_path: Path) -> None:
    """250 bytes of 1,000 entries, 2,640 bits by the paper's count and 1,600 of entropy, for three devices."""
    rounds = [over_messages(0), over_messages(1)]
    (tmp_path / "ledger.csv").write_text(ledger(rounds))
    for each in as_sent(rounds, tmp_path / "ledger.csv"):
        assert each.copies == Traffic(
            nbytes=750, unicast=750, update=750, raw=12_000, paper=990, entropy=600, entries=3000,
            carrier=900,
        )  # fmt: skip
        assert each.handed is each.copies


def test_only_participants_listen_so_each_is_sent_its_own(tmp_path: Path) -> None:
    """As runs of older versions that did not note it, from the ledger; of newer ones, as they say."""
    rounds = [record(0), replace(record(1), copies=Traffic(nbytes=7))]
    (tmp_path / "ledger.csv").write_text(ledger(rounds))
    first, second = as_sent(rounds, tmp_path / "ledger.csv", listen="participants")
    assert (first.handed.nbytes, first.handed.raw) == (750, 12_000)
    assert second == rounds[1]
    assert as_sent(rounds, tmp_path / "ledger.csv", listen="all") == tuple(rounds)


def test_without_a_ledger_records_stay_as_they_are(tmp_path: Path) -> None:
    assert as_sent([over_messages(0)], tmp_path / "none.csv") == (over_messages(0),)


def test_two_frames_for_the_same_devices_are_one_model_of_floats(tmp_path: Path) -> None:
    """The initial model and an update for devices 0 to 2, the update for 4, too: four models."""
    (tmp_path / "ledger.csv").write_text(
        HEADER
        + "0,down,initial,0-2,400,100,3300,3200,1\n"
        + "0,down,update,0-2 4,30,100,260,200,2\n"
    )
    (each,) = as_sent([over_messages(0)], tmp_path / "ledger.csv")
    assert each.copies is not None
    assert (each.copies.initial, each.copies.update) == (1200, 120)
    assert each.copies.entries == 4 * 100


def test_the_last_evaluation_belongs_to_the_last_round(tmp_path: Path) -> None:
    (tmp_path / "ledger.csv").write_text(
        HEADER + "0,down,update,0,10,100,260,80,1\n" + "1,down,update,0,20,100,260,80,2\n"
    )
    (only,) = as_sent([over_messages(0)], tmp_path / "ledger.csv")
    assert only.copies is not None
    assert only.copies.nbytes == 30
