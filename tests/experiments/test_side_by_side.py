"""Several runs at a time, in processes of their own."""

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.commands.test_run import TINY

from lossyfl.errors import InputError, Stopped
from lossyfl.experiments.compare import Planned, go_on, plan, settled
from lossyfl.experiments.side_by_side import Begun, Ended, Event, jobs_for, play_side_by_side
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import Round, Seconds, read_rounds
from lossyfl.simulation.watcher import Silent

NO_TIME = Seconds(
    broadcast=0, devices=0, aggregate=0, evaluate=0, save=0, total=0, training=0, coding=0
)
LONG = 20_000
"""Rounds that are not over when another process has had its first, however busy the machine."""
CARRIED = "adam:moments=carried"


def planned(out: Path, rounds: int = 3, task: str = TINY) -> list[Planned]:
    base = Experiment(task=task, rounds=rounds, optimizer=CARRIED, lr="0.001")
    return plan(settled(base, None), ["lossless", "lfl", "lb"], 1, out)


def rounds_of(run: Planned) -> list[Round]:
    """All that is written of them but the clock's times."""
    rounds = read_rounds(Results(run.folder).rounds)
    return [replace(each, seconds=NO_TIME) for each in rounds]


def test_the_same_bits_as_one_after_the_other(tmp_path: Path) -> None:
    together, alone = planned(tmp_path / "a"), planned(tmp_path / "b")
    events: list[tuple[int, Event]] = []
    done = play_side_by_side(
        together, jobs=2, workers=1, data_dir=None, listener=lambda *event: events.append(event)
    )
    assert done
    for side, own in zip(together, alone, strict=True):
        go_on(own, workers=1, data_dir=None, watcher=Silent())
        assert Results(side.folder).model.read_bytes() == Results(own.folder).model.read_bytes()
        assert rounds_of(side) == rounds_of(own)
    for index in range(3):
        mine = [event for number, event in events if number == index]
        assert isinstance(mine[0], Begun)
        assert mine[-1] == Ended(state="done")
        assert len(mine) == 5


def once_both_train(act: Callable[[], object]) -> Callable[[int, Event], None]:
    """A listener that acts once, when the first two runs both have a round behind them."""
    training = set[int]()

    def listener(index: int, event: Event) -> None:
        before = len(training)
        if isinstance(event, Round):
            training.add(index)
        if before < 2 <= len(training):
            act()

    return listener


def test_a_killed_run_stops_all_and_the_same_call_goes_on(tmp_path: Path) -> None:
    runs = planned(tmp_path, rounds=LONG)
    process = list[int]()
    kill = once_both_train(lambda: os.kill(process[0], signal.SIGKILL))

    def kill_the_first(index: int, event: Event) -> None:
        if index == 0 and isinstance(event, Begun):
            process.append(event.process)
        kill(index, event)

    with pytest.raises(Stopped, match=r"the process of .*lossless-0 ended with code -9"):
        play_side_by_side(runs, jobs=2, workers=1, data_dir=None, listener=kill_the_first)
    assert runs[1].state == "interrupted"
    assert runs[2].state == ""
    short = [replace(run, experiment=replace(run.experiment, rounds=run.done + 2)) for run in runs]
    assert play_side_by_side(short, jobs=3, workers=1, data_dir=None)
    assert all(run.is_complete for run in short)


def test_ctrl_c_is_passed_on(tmp_path: Path) -> None:
    runs = planned(tmp_path, rounds=LONG)
    wish = once_both_train(lambda: os.kill(os.getpid(), signal.SIGINT))
    assert not play_side_by_side(runs, jobs=2, workers=1, data_dir=None, listener=wish)
    assert [run.state for run in runs[:2]] == ["interrupted"] * 2
    assert all(0 < run.done < LONG for run in runs[:2])
    assert runs[2].state == ""


def test_a_run_that_diverges_stops_no_other(tmp_path: Path) -> None:
    base = Experiment(task="tests.simulation.tiny:breaking", rounds=6, tau=1, lr="0.1")
    runs = plan(settled(base, None), ["lossless", "lb"], 1, tmp_path)
    ends = list[Ended]()

    def listen(_index: int, event: Event) -> None:
        if isinstance(event, Ended):
            ends.append(event)

    assert play_side_by_side(runs, jobs=2, workers=1, data_dir=None, listener=listen)
    assert [end.state for end in ends] == ["diverged"] * 2


def test_jobs(tmp_path: Path) -> None:
    runs = planned(tmp_path)
    assert [jobs_for(runs, workers) for workers in (1, 2, 8)] == [1, 2, 3]
    kept = [replace(run, experiment=replace(run.experiment, optimizer="sgd")) for run in runs]
    assert jobs_for(kept, 8) == 1
    with pytest.raises(InputError, match=r"jobs of a comparison must be an int >= 1, got 0"):
        play_side_by_side(runs, jobs=0, workers=1, data_dir=None)
