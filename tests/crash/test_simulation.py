"""A run and a resume, disturbed at every operation: afterwards the same bits as if nothing had happened."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.crash.points import POWER, PROCESS, Scenario, Way, disturb_everywhere

from lossyfl.errors import InputError
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.simulation import checkpoint
from lossyfl.simulation.run import resume, run

BASE = Experiment(
    task="tests.simulation.tiny:make_task", rounds=3, scheme="lfl", slow=0.2, drop_out=0.2,
    optimizer="adam:moments=kept", lr="0.05",
)  # fmt: skip
UPDATES = frozenset([1])


def state(out: Path) -> dict[str, object]:
    """Everything that a run leaves, but for times."""
    files = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    kept: dict[str, object] = {
        name: path.read_bytes()
        for name, path in files.items()
        if name not in ("run.json", "rounds.jsonl", "checkpoint/state.safetensors")
        and not name.endswith(".bin")
    }
    kept["names"] = sorted(files)
    kept["state"] = json.loads(files["run.json"].read_text())["state"]
    kept["rounds"] = [
        line.partition('"seconds"')[0] for line in files["rounds.jsonl"].read_text().splitlines()
    ]
    saved = checkpoint.load(out / "checkpoint")
    kept["theta"] = saved.server.theta.tobytes()
    kept["digests"] = saved.digests  # of what devices remember, in whichever slots
    return kept


class Run:
    """A whole run, with a checkpoint after every round, over an older one that is replaced."""

    def prepare(self, folder: Path) -> None:
        run(replace(BASE, rounds=1, seed=5), folder / "out")
        self._do(folder / "whole")

    def act(self, folder: Path) -> None:
        self._do(folder / "out")

    def recover(self, folder: Path) -> None:
        out = folder / "out"
        try:
            resume(out, checkpoint_every=0)
        except InputError:  # it did not come to a checkpoint
            self._do(out)
        if Results(out).read_config() != Results(folder / "whole").read_config():
            self._do(out)  # it did not come to remove the older run
        assert state(out) == state(folder / "whole")

    @staticmethod
    def _do(out: Path) -> None:
        run(BASE, out, checkpoint_every=0, save_updates=UPDATES, force=True)


class Resume:
    """A resume of a run that has a round, to which rounds are added."""

    def prepare(self, folder: Path) -> None:
        for name in ("out", "whole"):
            run(replace(BASE, rounds=1), folder / name)
        self.act(folder, "whole")

    def act(self, folder: Path, name: str = "out") -> None:
        resume(folder / name, rounds=BASE.rounds, checkpoint_every=0, save_updates=UPDATES)

    def recover(self, folder: Path) -> None:
        saved = checkpoint.load(folder / "out" / "checkpoint")
        wanted = UPDATES if saved.server.round < min(UPDATES) else frozenset[int]()
        resume(folder / "out", rounds=BASE.rounds, checkpoint_every=0, save_updates=wanted)
        assert state(folder / "out") == state(folder / "whole")


@pytest.mark.parametrize("ways", [PROCESS, POWER], ids=["process", "power"])
@pytest.mark.parametrize("scenario", [Run(), Resume()], ids=["run", "resume"])
def test_same_bits_after_every_crash_point(
    scenario: Scenario,
    ways: tuple[Way, ...],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    said = disturb_everywhere(tmp_path, scenario, sample=4, ways=ways)
    record_property("counts", said)
