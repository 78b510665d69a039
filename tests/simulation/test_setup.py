"""What could not run is refused before anything is written."""

from dataclasses import replace
from pathlib import Path

import pytest

from lossyfl import InputError
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.simulation import run as module
from lossyfl.simulation.run import run
from lossyfl.simulation.setup import Setup, prepare

TINY = "tests.simulation.tiny"
BASE = Experiment(task=f"{TINY}:make_task")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "digit"}, r"name of task must be one of .*did you mean digits\?"),
        ({"task": f"{TINY}:nothing"}, "path of task must be a class that can be imported"),
        ({"task": "no.such.module:make"}, "path of task must be a class that can be imported"),
        ({"task": f"{TINY}:not_a_task"}, "path of task must be a class or function that makes"),
        ({"task": f"{TINY}:untyped"}, "result of .*:untyped must be a task .*, got int"),
        ({"task": f"{TINY}:make_task:size=3"}, "option of .* must be one of pause, samples"),
        ({"scheme": "lf"}, r"did you mean lfl\?"),
        ({"devices": 15}, "devices of the partition paper must be a multiple of the 10 classes"),
        ({"devices": 300, "partition": "iid"}, r"devices of a partition must be in \[1, 200\]"),
        ({"batch": 21}, "batch of a run must be at most 20, the samples of device 0, got 21"),
        ({"partition": "paperr"}, r"did you mean paper\?"),
        ({"optimizer": "sdg"}, r"did you mean sgd\?"),
        ({"lr": "fast"}, "name of step size must be one of"),
        ({"task": f"{TINY}:divided"}, "devices of the task tiny must be 2, as the data is divided"),
        ({"task": f"{TINY}:outside", "devices": 2}, "samples of device 1 of the task tiny must be"),
        ({"task": f"{TINY}:make_task:samples=0"}, "train samples of a task must be as many inputs"),
    ],
)
def test_errors(settings: dict[str, str], message: str, tmp_path: Path) -> None:
    asked = replace(BASE, **settings)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        run(asked, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_task_may_say_who_has_what() -> None:
    setup = prepare(replace(BASE, task=f"{TINY}:divided", devices=2))
    assert [len(part) for part in setup.parts] == [100, 100]
    assert setup.experiment.lr == "0.5"  # the task's


@pytest.mark.parametrize("workers", [0, -1, 1.5])
def test_workers_are_counted(workers: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="workers of a run must be an int >= 1"):
        run(BASE, tmp_path / "out", workers=workers)


def test_functions_of_a_task_can_be_imported_by_workers(tmp_path: Path) -> None:
    asked = replace(BASE, task=f"{TINY}:local_function")
    with pytest.raises(InputError, match="loss of the task tiny must be a function that can be"):
        run(asked, tmp_path / "out", workers=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["def make(:", "raise RuntimeError('at import')"])
def test_a_module_that_cannot_be_imported(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"broken_{len(text)}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match=r"path of task must be .*Error"):
        run(replace(BASE, task=f"{name}:make"), tmp_path / "out")


def test_checkpoints_need_a_time(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="checkpoint_every of a run must be seconds, >= 0"):
        run(BASE, tmp_path / "out", checkpoint_every=float("nan"))


class TestFolder:
    def test_a_run_is_not_overwritten(self, tmp_path: Path) -> None:
        run(BASE, tmp_path / "out")
        before = Results(tmp_path / "out").model.read_bytes()
        with pytest.raises(
            InputError, match="must be a new folder, or with --force, or `lossyfl resume"
        ):
            run(replace(BASE, seed=1), tmp_path / "out")
        assert Results(tmp_path / "out").model.read_bytes() == before
        run(replace(BASE, seed=1), tmp_path / "out", force=True)
        assert Results(tmp_path / "out").model.read_bytes() != before

    def test_a_run_without_a_round_is_nothing_to_lose(self, tmp_path: Path) -> None:
        """A quantizer that cannot be so exact ends a run in its first broadcast; the next one may begin."""
        with pytest.raises(InputError, match=r"an nmse of .* or more for this vector"):
            run(replace(BASE, scheme="lean:up=topk,up_budget=nmse=1e-5"), tmp_path / "out")
        assert Results(tmp_path / "out").config.is_file()
        run(BASE, tmp_path / "out")
        assert Results(tmp_path / "out").model.is_file()

    def test_with_force_only_runs_are_removed(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("precious")
        with pytest.raises(InputError, match="must be a new folder, or one that a run made"):
            run(BASE, tmp_path, force=True)
        assert (tmp_path / "thesis.tex").read_text() == "precious"
        with pytest.raises(InputError, match="out of a run must be a folder"):
            run(BASE, tmp_path / "thesis.tex", force=True)
        with pytest.raises(InputError, match="must be a folder that can be made and written"):
            run(BASE, tmp_path / "thesis.tex" / "out")

    def test_with_force_only_what_a_run_wrote_is_removed(self, tmp_path: Path) -> None:
        (tmp_path / "config.toml").write_text('title = "a site of mine"')
        with pytest.raises(InputError, match="must be a new folder, or one that a run made"):
            run(BASE, tmp_path, force=True)
        run(BASE, tmp_path / "out")
        (tmp_path / "out" / "notes.md").write_text("precious")
        run(BASE, tmp_path / "out", force=True)
        assert (tmp_path / "out" / "notes.md").read_text() == "precious"

    def test_a_run_that_was_quicker_is_not_removed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def slow_prepare(asked: Experiment, data_dir: Path | None) -> Setup:
            monkeypatch.undo()
            run(replace(BASE, seed=9), tmp_path / "out")
            return prepare(asked, data_dir)

        monkeypatch.setattr(module, "prepare", slow_prepare)
        with pytest.raises(InputError, match="must be a new folder"):
            run(BASE, tmp_path / "out")
        assert Results(tmp_path / "out").read_config().seed == 9

    def test_the_current_folder_and_links(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        run(BASE, tmp_path / "link")
        monkeypatch.chdir(tmp_path / "real")
        run(BASE, Path(), force=True)
        assert Results(tmp_path / "real").model.exists()

    def test_a_bad_setting_does_not_remove_the_old_run(self, tmp_path: Path) -> None:
        run(BASE, tmp_path / "out")
        with pytest.raises(InputError):
            run(replace(BASE, batch=500), tmp_path / "out", force=True)
        assert Results(tmp_path / "out").model.exists()

    def test_a_run_that_goes_on_is_not_removed(self, tmp_path: Path) -> None:
        run(BASE, tmp_path / "out")
        with (
            Results(tmp_path / "out").locked(),
            pytest.raises(InputError, match="no other run is going on"),
        ):
            run(BASE, tmp_path / "out", force=True)
        assert Results(tmp_path / "out").model.exists()
