"""How a run ends that cannot go on."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.simulation.same import same

from lossyfl import InputError
from lossyfl.errors import Stopped
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.simulation import checkpoint
from lossyfl.simulation.run import resume, run

TINY = "tests.simulation.tiny:make_task"
BASE = Experiment(task=TINY, rounds=12, scheme="lfl", slow=0.2, drop_out=0.2)


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
