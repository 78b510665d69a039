"""What a run came to."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.synthetic import long

from lossyfl.experiments.compare import go_on, plan, settled
from lossyfl.experiments.outcome import late_values, outcome
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import read_rounds
from lossyfl.simulation.run import run
from lossyfl.simulation.watcher import Silent


def late(values: list[float | None]) -> list[float]:
    metrics = [{} if each is None else {"accuracy": each} for each in values]
    return late_values([replace(long(0, 1)[0], metrics=each) for each in metrics])


def test_a_short_run_is_judged_by_its_end() -> None:
    assert late([k / 100 for k in range(100)]) == [k / 100 for k in range(90, 100)]
    assert late([0.1 * k for k in range(10)]) == [0.8, 0.9]
    assert late([0.5, None, None, None, None, None]) == [0.5]
    assert late([None, None]) == []


def test_bytes_are_of_rounds_after_the_initial_model(tmp_path: Path) -> None:
    base = settled(Experiment(task="tests.simulation.tiny:make_task", rounds=4), None)
    (run,) = plan(base, ["lfl"], 1, tmp_path)
    assert outcome(run.folder) is None
    go_on(run, workers=1, data_dir=None, watcher=Silent())
    found, rounds = outcome(run.folder), read_rounds(Results(run.folder).rounds)
    assert found is not None
    assert found.value == rounds[-1].accuracy
    assert found.down == sum(each.down.nbytes for each in rounds[1:]) / 3
    assert found.up == pytest.approx(sum(each.up.nbytes for each in rounds[1:]) / 30)
    assert found.saving_up > found.saving_down > 1


def test_a_run_that_diverged_has_learned_nothing(tmp_path: Path) -> None:
    task = "tests.simulation.tiny:breaking"
    base = settled(Experiment(task=task, rounds=6, tau=1, lr="0.1"), None)
    (run,) = plan(base, ["lossless"], 1, tmp_path)
    with pytest.raises(Exception, match="diverged"):
        go_on(run, workers=1, data_dir=None, watcher=Silent())
    found = outcome(run.folder)
    assert found is None or found.value is None


@pytest.mark.parametrize("listen", ["all", "participants"])
def test_it_counts_a_broadcast_or_what_one_participant_is_sent(listen: str, tmp_path: Path) -> None:
    asked = Experiment(
        task="tests.simulation.tiny:make_task", rounds=8, participation=0.3, listen=listen
    )
    run(asked, tmp_path)
    later = read_rounds(tmp_path / "rounds.jsonl")[1:]
    found = outcome(tmp_path)
    assert found is not None
    if listen == "all":
        assert found.down == sum(each.down.nbytes for each in later) / 7
        assert found.catch_up == 0
    else:
        assert found.down == sum(each.down.unicast for each in later) / 21
        assert 0 < found.catch_up < found.down
