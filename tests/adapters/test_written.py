"""A disk without room stops no training: what could not be written follows, and nothing is there by half."""

import errno
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.adapters.federation import SPEC, add_one, new_training, play_round

from lossyfl.adapters.framework import Framework
from lossyfl.adapters.journal import Journal
from lossyfl.adapters.written import REFUSALS, Written
from lossyfl.files.disk import Operation, watched
from lossyfl.protocol.ledger import Ledger, Refusals
from lossyfl.results import ledger_file
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import Round, read_rounds

MINE = Framework(name="mine", messages="packets", command="mine run", settings="MyServer")


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Round, Ledger]]:
    """Two rounds of a training, with their ledgers."""
    folder, training, journal = tmp_path_factory.mktemp("state"), new_training(), Journal(None)
    made: list[tuple[Round, Ledger]] = []
    for _ in range(2):
        journal.open()
        play_round(training, {0: add_one, 1: add_one}, folder)
        journal.trained({}, 0.1)
        drained = training.server.ledger.drain()
        assert journal.notes is not None
        made.append((journal._record(journal.notes, len(made), drained), drained))
    return made


@pytest.fixture
def results(tmp_path: Path) -> Results:
    made = Results(tmp_path / "results")
    with made.locked():
        made.create(Experiment(task="mine", scheme=SPEC, rounds=2))
    return made


def fails(name: str, *, times: int) -> Callable[[Operation], None]:
    """The first writes to a file of this name fit by half."""
    failed: list[Operation] = []

    def hook(operation: Operation) -> None:
        if operation.path.name == name and operation.name == "write" and len(failed) < times:
            failed.append(operation)
            os.write(operation.fd, bytes(operation.data)[:9])
            raise OSError(errno.ENOSPC, "No space left on device", str(operation.path))

    return hook


@pytest.mark.parametrize("name", ["rounds.jsonl", "ledger.csv"])
def test_a_round_without_room_is_written_with_the_next(
    name: str,
    two: list[tuple[Round, Ledger]],
    results: Results,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "lossyfl")
    written, head = Written(results, MINE), results.ledger.read_bytes()
    with watched(fails(name, times=1)):
        written.add(*two[0])
        written.write("running", [two[0][0]], None)
        assert (read_rounds(results.rounds), results.ledger.read_bytes()) == ([], head)
        written.add(*two[1])
        written.write("done", [each for each, _ in two], None)
    assert read_rounds(results.rounds) == [each for each, _ in two]
    entries = [each for _, ledger in two for each in ledger.entries]
    assert ledger_file.read(results.ledger).entries == entries
    assert json.loads(results.about.read_text())["state"] == "done"
    said = [record.getMessage() for record in caplog.records]
    assert ["make room" in each for each in said] == [True, False]
    assert said[1] == "lossyfl: results are written again, and all rounds are there"


def test_the_log_says_once_that_there_is_no_room_and_where_results_end(
    two: list[tuple[Round, Ledger]], results: Results, caplog: pytest.LogCaptureFixture
) -> None:
    written = Written(results, MINE)
    with watched(fails("rounds.jsonl", times=9)):
        for each in two:
            written.add(*each)
            written.write("running", [], None)
        written.write("done", [], None)
    first, last = (record.getMessage() for record in caplog.records)
    assert first.startswith("lossyfl: results cannot be written: ")
    assert last.startswith("lossyfl: results end before round 1: ")
    assert read_rounds(results.rounds) == []


def test_refusals_are_written_if_there_are_any(results: Results) -> None:
    written, refusals = Written(results, MINE), Refusals()
    written.write("running", [], refusals)
    assert not (results.folder / REFUSALS).exists()
    refusals.note(3, 7, "late", "of another round")
    written.write("running", [], refusals)
    found = json.loads((results.folder / REFUSALS).read_text())
    assert found["counts"] == {"late": 1}
    (one,) = found["recent"]
    assert (one["round"], one["device"], one["detail"]) == (3, 7, "of another round")
