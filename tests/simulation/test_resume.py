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

from lossyfl import InputError
from lossyfl.errors import Stopped
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import read_rounds
from lossyfl.simulation import checkpoint
from lossyfl.simulation.run import resume, run
from lossyfl.simulation.store import wait_until_alone

TINY = "tests.simulation.tiny:make_task"
BASE = Experiment(task=TINY, rounds=12, scheme="lfl", slow=0.2, drop_out=0.2)
NAMES = ("model.safetensors", "ledger.csv", "config.toml")


def same(folder: Path, other: Path) -> None:
    for name in NAMES:
        assert (folder / name).read_bytes() == (other / name).read_bytes(), name
    mine, theirs = (
        [line.partition('"seconds"')[0] for line in (f / "rounds.jsonl").read_text().splitlines()]
        for f in (folder, other)
    )
    assert mine == theirs


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
    for _ in range(3):
        done += rng.randint(1, 3)
        kill_when(process, out, done, rng.random() * 0.08)
        process = launch("resume", out, *how)
    _, said = process.communicate()
    assert process.returncode == 0, said
    same(tmp_path / "whole", out)


def test_workers_end_with_the_run_and_a_resume_waits_for_them(tmp_path: Path) -> None:
    """Killed in the middle of long visits: nobody goes on to write for the run that is gone."""
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


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    run(replace(BASE, rounds=2), tmp_path / "out")
    with (
        Results(tmp_path / "out").locked(),
        pytest.raises(InputError, match="no other run is going on"),
    ):
        resume(tmp_path / "out", rounds=5)


class TestFailures:
    """Each says what happened and where the checkpoint is, and that is whole."""

    def test_loss_that_is_no_number(self, tmp_path: Path) -> None:
        asked = replace(BASE, task="tests.simulation.tiny:breaking", tau=1, slow=0.0, drop_out=0.0)
        for workers in (1, 2):
            out = tmp_path / str(workers)
            with pytest.raises(
                Stopped, match=r"training of device 3 diverged in round .*nan"
            ) as info:
                run(asked, out, workers=workers, checkpoint_every=0)
            saved = checkpoint.load(out / "checkpoint").server.round
            assert f"the checkpoint of round {saved} is whole" in str(info.value)
            assert saved == 0
            assert '"state": "diverged"' in (out / "run.json").read_text()
            with pytest.raises(Stopped, match="training of device 3 diverged"):
                resume(out)

    @pytest.mark.parametrize("workers", [1, 2])
    def test_an_infinite_model_with_a_good_loss(self, workers: int, tmp_path: Path) -> None:
        asked = replace(BASE, task="tests.simulation.tiny:huge", lr="1", tau=1)
        with pytest.raises(Stopped, match=r"training of device \d+ diverged in round 0: loss 0.0"):
            run(asked, tmp_path / "out", workers=workers)
        assert '"state": "diverged"' in (tmp_path / "out" / "run.json").read_text()

    @pytest.mark.parametrize("workers", [1, 2])
    def test_an_error_that_no_frame_can_have(self, workers: int, tmp_path: Path) -> None:
        """It is the scheme's fault, not the training's; that nothing was done is said."""
        asked = replace(BASE, scheme="lean:up=sparse_ternary,up_budget=nmse=0.0001")
        with pytest.raises(InputError, match="budget of the uplink in round 0 must be an nmse of"):
            run(asked, tmp_path / "out", workers=workers)
        assert '"state": "stopped"' in (tmp_path / "out" / "run.json").read_text()

    def test_worker_that_dies(self, tmp_path: Path) -> None:
        asked = replace(BASE, task="tests.simulation.tiny:dying")
        with pytest.raises(Stopped, match=r"ended by itself \(signal SIGKILL\)"):
            run(asked, tmp_path / "out", workers=2)

    def test_mistake_in_a_task(self, tmp_path: Path) -> None:
        asked = replace(BASE, task="tests.simulation.tiny:raising")
        with pytest.raises(Stopped, match="ZeroDivisionError: oops") as info:
            run(asked, tmp_path / "out", workers=2)
        assert "in mistaken" in str(info.value)
        with pytest.raises(Stopped, match="in mistaken"):
            run(asked, tmp_path / "here", workers=1)
        assert '"state": "stopped"' in (tmp_path / "here" / "run.json").read_text()

    def test_full_disk_before_the_first_round(self, tmp_path: Path) -> None:
        said = _with_limit(4096, "run", "--task", TINY, "--out", tmp_path / "out")
        assert "no room for the devices' " in said

    def test_full_disk_on_the_way(self, tmp_path: Path) -> None:
        """A limit on the size of files is met by the ledger, which grows; a full disk is the same."""
        task = f"{TINY}:samples=1000"
        out, rounds = tmp_path / "out", "400"
        how = ("--devices", "50", "--batch", "4", "--checkpoint-every", "0", "--workers", "1")
        said = _with_limit(120_000, "run", "--task", task, "--out", out, "--rounds", rounds, *how)
        saved = checkpoint.load(out / "checkpoint").server.round
        assert saved > 2
        assert f"the checkpoint of round {saved} is whole" in said
        resume(out, rounds=saved + 3)
        run(Results(out).read_config(), tmp_path / "whole")
        same(tmp_path / "whole", out)


def _with_limit(nbytes: int, *arguments: str | Path) -> str:
    """What the command says where no file may become larger."""
    script = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({nbytes}, {nbytes}))"
    given = f"import sys; sys.argv[1:] = {[*map(str, arguments)]}"
    code = f"{script}\n{given}\nfrom lossyfl.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr
