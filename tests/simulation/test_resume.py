"""A run that is killed at any moment ends with the same model and ledger as one that never was."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from tests.simulation.same import same

from lossyfl import InputError
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import read_rounds
from lossyfl.simulation import checkpoint
from lossyfl.simulation.run import resume, run
from lossyfl.simulation.store import wait_until_alone

TINY = "tests.simulation.tiny:make_task"
KILLS = 4 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 2
BASE = Experiment(task=TINY, rounds=12, scheme="lfl", slow=0.2, drop_out=0.2)


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "lossyfl", *map(str, arguments)]


def launch(*arguments: str | Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command(*arguments, "--allow", TINY),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_when(process: "subprocess.Popen[str]", folder: Path, lines: int, more: float) -> None:
    """Kill a run some time after so many rounds are written."""
    written = folder / "rounds.jsonl"
    while process.poll() is None:
        if written.exists() and written.read_text().count("\n") >= lines:
            time.sleep(more)
            break
        time.sleep(0.002)
    process.kill()
    process.communicate()


@pytest.mark.parametrize(
    ("workers", "every", "optimizer"),
    [
        (1, "0", "sgd"),
        (2, "0.1", "adam:moments=kept"),
        (2, "0", "adam:moments=shared"),
        (2, "0.1", "adam:moments=carried"),
    ],
)
def test_killed_at_random_moments(workers: int, every: str, optimizer: str, tmp_path: Path) -> None:
    rng = random.Random(f"{workers}{every}{optimizer}")
    task = f"{TINY}:pause=0.004"
    asked = replace(BASE, task=task, optimizer=optimizer, lr="0.05", evaluate="average")
    if workers == 1:
        asked = replace(asked, scheme="lean:down_budget=200B,predict=true,first_budget=300B")
    run(replace(asked), tmp_path / "whole")
    (tmp_path / "settings.toml").write_text(asked.toml())
    out, done = tmp_path / "killed", 0
    how = ("--workers", str(workers), "--checkpoint-every", every)
    process = launch("run", tmp_path / "settings.toml", "--out", out, *how)
    for _ in range(KILLS):
        done += rng.randint(1, 3)
        kill_when(process, out, done, rng.random() * 0.08)
        process = launch("resume", out, *how)
    _, said = process.communicate()
    assert process.returncode == 0, said
    same(tmp_path / "whole", out)


def test_workers_end_with_the_run_and_a_resume_waits_for_them(tmp_path: Path) -> None:
    """Killed in the middle of long jobs: nobody goes on to write for the run that is gone."""
    asked = replace(BASE, task=f"{TINY}:pause=0.3", rounds=2, slow=0.0, drop_out=0.0)
    run(replace(asked, task=TINY), tmp_path / "whole")
    (tmp_path / "settings.toml").write_text(asked.toml())
    out = tmp_path / "killed"
    process = launch("run", tmp_path / "settings.toml", "--out", out, "--workers", "2")
    store = checkpoint.store_path(out / "checkpoint")
    while not checkpoint.path(out / "checkpoint").exists():
        time.sleep(0.01)
    time.sleep(0.5)
    assert process.poll() is None
    process.kill()
    process.communicate()  # its workers have the pipes open, too
    wait_until_alone(store)
    resume(out, workers=2)
    for name in ("model.safetensors", "ledger.csv"):
        assert (out / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_second_interrupt_stops_at_once(tmp_path: Path) -> None:
    asked = replace(BASE, task=f"{TINY}:pause=0.2")
    (tmp_path / "settings.toml").write_text(asked.toml())
    out = tmp_path / "out"
    process = launch("run", tmp_path / "settings.toml", "--out", out, "--workers", "2")
    assert process.stderr is not None
    for said in ("round 1/", "stopping after this round"):
        while said not in process.stderr.readline():
            assert process.poll() is None
        time.sleep(0.2)  # within the second round, which takes seconds
        os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped at once" in said
    assert "Traceback" not in said
    assert '"state": "interrupted"' in (out / "run.json").read_text()


def test_killed_before_the_first_round(tmp_path: Path) -> None:
    run(BASE, tmp_path / "whole")
    out = tmp_path / "killed"
    (tmp_path / "settings.toml").write_text(BASE.toml())
    process = launch("run", tmp_path / "settings.toml", "--out", out, "--workers", "1")
    while not checkpoint.path(out / "checkpoint").exists():
        time.sleep(0.001)
    process.kill()
    process.communicate()
    resume(out)
    same(tmp_path / "whole", out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_after_a_whole_round(number: signal.Signals, tmp_path: Path) -> None:
    asked = replace(BASE, task=f"{TINY}:pause=0.01")
    run(asked, tmp_path / "whole", workers=2)
    (tmp_path / "settings.toml").write_text(asked.toml())
    out = tmp_path / "out"
    process = launch("run", tmp_path / "settings.toml", "--out", out, "--workers", "2")
    while not (out / "rounds.jsonl").exists() or not (out / "rounds.jsonl").read_text():
        time.sleep(0.01)
    os.kill(process.pid, number)
    said, complained = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"lossyfl resume {out} --allow {TINY}` goes on" in complained
    assert "stopping after this round" in complained
    assert "Traceback" not in complained
    assert "results in" in said
    saved = checkpoint.load(out / "checkpoint").server.round
    assert saved + 1 == len(read_rounds(out / "rounds.jsonl")) < 12
    resume(out, workers=1)
    same(tmp_path / "whole", out)


def test_more_rounds_are_added_to_a_run_that_is_done(tmp_path: Path) -> None:
    run(BASE, tmp_path / "whole")
    run(replace(BASE, rounds=5), tmp_path / "out")
    assert resume(tmp_path / "out", rounds=12).summary.rounds == 12
    same(tmp_path / "whole", tmp_path / "out")
    assert resume(tmp_path / "out").finished
    with pytest.raises(
        InputError, match=r"rounds of resume must be more than the 12 that are done"
    ):
        resume(tmp_path / "out", rounds=4)


def test_who_is_asked_is_the_same_after_a_checkpoint(tmp_path: Path) -> None:
    """Who holds what is in the server's state: a run in two parts asks the same devices."""
    asked = replace(BASE, participation=0.4, listen="participants", ask_recent=0.7)
    run(asked, tmp_path / "whole")
    run(replace(asked, rounds=5), tmp_path / "out")
    resume(tmp_path / "out", rounds=12)
    same(tmp_path / "whole", tmp_path / "out")


def test_what_cannot_be_resumed_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be a results directory"):
        resume(tmp_path)
    (tmp_path / "new").mkdir()
    Results(tmp_path / "new").create(BASE)
    with pytest.raises(InputError, match="must be that of a run that has begun"):
        resume(tmp_path / "new")
    run(BASE, tmp_path / "out")
    state = checkpoint.path(tmp_path / "out" / "checkpoint")
    whole = state.read_bytes()
    state.write_bytes(whole[:-5] + b"wrong")
    with pytest.raises(
        InputError, match=r"content of state\.safetensors must be a whole Checkpoint"
    ):
        resume(tmp_path / "out")
    state.write_bytes(whole)
    with pytest.raises(
        InputError, match="save_updates of a run must be rounds from 12 to 14, got 5"
    ):
        resume(tmp_path / "out", rounds=15, save_updates=frozenset([5]))
    (tmp_path / "out" / "ledger.csv").write_text("")
    before = {path: path.read_bytes() for path in kept(tmp_path / "out")}
    with pytest.raises(InputError, match="must be as long as at the checkpoint"):
        resume(tmp_path / "out", rounds=15)
    assert {path: path.read_bytes() for path in kept(tmp_path / "out")} == before


def kept(out: Path) -> list[Path]:
    """What a resume that cannot begin leaves alone."""
    return [out / name for name in ("config.toml", "rounds.jsonl", "run.json", "model.safetensors")]
