"""`lossyfl run` and `lossyfl resume`, as a user types them."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from tests.outsiders import NAME, SPEC, plant
from typer.testing import CliRunner

from lossyfl.cli import app
from lossyfl.commands.progress import Live, PlainLines
from lossyfl.errors import LossyflError

TINY = "tests.simulation.tiny:make_task"


def call(*arguments: str | Path | int) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


def good(*arguments: str | Path | int) -> str:
    result = call(*arguments)
    if result.exception is not None:
        raise result.exception
    return result.output


def bad(*arguments: str | Path | int) -> str:
    result = call(*arguments)
    assert result.exit_code != 0
    assert isinstance(result.exception, LossyflError | SystemExit)
    return result.output + str(result.exception)


def test_options(tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = good("run", "--task", TINY, "--rounds", 3, "--seed", 5, "--workers", 1, "--out", out)
    assert "round 3/3  accuracy" in said
    assert "110 parameters, 10 devices, partition paper" in said
    assert f"results in {out}" in said
    assert "seed = 5\n" in (out / "config.toml").read_text()


def test_file_and_options_after_it(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        f'task = "{TINY}"\nrounds = 50\nlr = 0.25\nevaluate-every = 2\nworkers = 1\n'
    )
    good("run", tmp_path / "a.toml", "--rounds", 2, "--out", tmp_path / "out", "--allow", TINY)
    text = (tmp_path / "out" / "config.toml").read_text()
    assert "rounds = 2\n" in text
    assert 'lr = "0.25"\n' in text
    assert "evaluate_every = 2\n" in text


def test_the_first_model_is_said_to_be_in_no_budget(tmp_path: Path) -> None:
    how = ("--task", TINY, "--rounds", 1, "--workers", 1, "--downlink-budget", "200B")
    assert "the initial model, 440 B, is in no budget" in good("run", *how, "--out", tmp_path / "a")
    said = good("run", *how, "--first-budget", "200B", "--out", tmp_path / "b")
    assert "is in no budget" not in said


def test_budgets_win_over_those_of_a_file(tmp_path: Path) -> None:
    how = ("--rounds", 2, "--workers", 1, "--allow", TINY)
    good("run", "--task", TINY, "--downlink-budget", "400B", "--uplink-budget", "300B", *how,
         "--out", tmp_path / "one")  # fmt: skip
    file = tmp_path / "one" / "config.toml"
    good("run", file, "--downlink-budget", "200B", *how, "--out", tmp_path / "two")
    text = (tmp_path / "two" / "config.toml").read_text()
    assert 'scheme = "lean:up_budget=300B,down_budget=200B"\n' in text
    twice = call("run", "--scheme", "lean:down_budget=1kB", "--downlink-budget", "2kB", *how)
    assert "down_budget of a run must be given once" in str(twice.exception)


def test_json(tmp_path: Path) -> None:
    result = call(
        "run",
        "--task",
        TINY,
        "--rounds",
        2,
        "--workers",
        1,
        "--json",
        "-q",
        "--out",
        tmp_path / "out",
    )
    summary = json.loads(result.stdout)
    assert summary["finished"] is True
    assert summary["rounds"] == 2
    assert summary["down"] > 0


def test_a_folder_is_named_after_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = f"{TINY.replace(':', '-').replace('_', '-')}-lb-q2=3-0-rounds="
    for rounds in (1, 2):  # another setting, another folder
        good("run", "--task", TINY, "--scheme", "lb:q2=3", "--rounds", rounds, "--workers", 1)
        assert (tmp_path / "runs" / f"{name}{rounds}").is_dir()
    again = bad("run", "--task", TINY, "--scheme", "lb:q2=3", "--rounds", 1, "--workers", 1)
    assert "out of a run must be" in again


def test_resume_adds_rounds_and_events(tmp_path: Path) -> None:
    out = tmp_path / "out"
    good("run", "--task", TINY, "--rounds", 2, "--workers", 1, "--tensorboard", "--out", out)
    said = good("resume", out, "--rounds", 4, "--workers", 1, "--tensorboard", "--allow", TINY)
    assert "round 4/4" in said
    assert list((out / "tensorboard").iterdir())


def test_own_task_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_for_test.py").write_text("from tests.simulation.tiny import make_task\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [p for p in __import__("sys").path if p])
    good("run", "--task", "mine_for_test:make_task", "--rounds", 1, "--workers", 1, "--out", "out")
    assert (tmp_path / "out" / "model.safetensors").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rounds", "0"), "rounds of a run must be an int >= 1, got 0"),
        (("--task", "mnit"), "did you mean mnist?"),
        (("--lr", "-1"), "lr of local training must be a number > 0"),
        (("--workers", "0"), "workers of a run must be an int >= 1, got 0"),
        (("--checkpoint-every", "-1"), "checkpoint_every of a run must be seconds"),
        (("--participation", "2"), "participation of a run must be a number in (0, 1], got 2.0"),
        (("--round", "3"), "No such option"),
        (("--first-budget", "1B"), "budget of the initial model must be between 96 B"),
        (("--downlink-budget", "1B"), "budget of the downlink must be between 96 B"),
        (("none.toml",), "file of a run must be one that exists"),
        (("--task", "mnist", "--data-dir", "nowhere"), "nowhere"),
    ],
)
def test_errors(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    assert message in bad("run", *arguments, "--out", tmp_path / "out").replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_unknown_keys_of_a_file_name_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("round = 3\n")
    assert "did you mean rounds?" in bad("run", tmp_path / "a.toml")
    (tmp_path / "a.toml").write_text('workers = "two"\n')
    assert "workers of a run must be an int >= 1, got two" in bad("run", tmp_path / "a.toml")
    for line, message in (
        ('out = ["a"]', "out of a run must be a path, got ['a']"),
        ("data_dir = 3", "data_dir of a run must be a path, got 3"),
        ('tensorboard = "no"', "tensorboard of a run must be true or false, got no"),
    ):
        (tmp_path / "a.toml").write_text(f"{line}\nworkers = 1\n")
        assert message in bad("run", tmp_path / "a.toml")
    (tmp_path / "a.toml").write_text('checkpoint_every = "soon"\n')
    assert "checkpoint_every of a run must be seconds" in bad("run", tmp_path / "a.toml")


def test_resume_without_a_run(tmp_path: Path) -> None:
    assert "must be a results directory" in bad("resume", tmp_path)


def test_a_terminal_gets_a_bar_and_a_file_gets_lines(tmp_path: Path) -> None:
    from io import StringIO

    from rich.console import Console

    from lossyfl.results.experiment import Experiment
    from lossyfl.simulation.run import run

    for number, kind in enumerate((Live, PlainLines)):
        text = StringIO()
        console = Console(file=text, force_terminal=kind is Live, width=140)
        run(Experiment(task=TINY, rounds=3), tmp_path / str(number), watcher=kind(console))
        assert "round 3/3" in text.getvalue()
        assert "down" in text.getvalue()


def test_save_updates_writes_what_links_were_given(tmp_path: Path) -> None:
    out = tmp_path / "out"
    good(
        "run", "--task", TINY, "--rounds", 3, "--workers", 1, "--save-updates", "0,2", "--out", out
    )
    names = {path.name for path in (out / "updates").iterdir()}
    assert names == {"2-down.npy", *(f"{t}-up-{m}.npy" for t in (0, 2) for m in (0, 1, 2))}
    assert "numbers of rounds" in bad("run", "--save-updates", "soon", "--out", tmp_path / "other")
    assert "rounds from 0 to 2" in bad(
        "run", "--task", TINY, "--rounds", 3, "--save-updates", "3", "--out", tmp_path / "other"
    )
    assert "numbers of rounds" in bad("run", "--save-updates", "1,-2", "--out", tmp_path / "other")


class TestFilesOfOthers:
    """A file says what to train; what it imports says only who types the command."""

    def test_a_config_imports_nothing_by_itself(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mark, file, task = plant(tmp_path, monkeypatch), tmp_path / "a.toml", f"{NAME}:make_task"
        how = ("--rounds", 1, "--workers", 1, "--out", tmp_path / "out")
        file.write_text(f'task = "{task}"\n')
        refused = bad("run", file, *how)
        assert f"repeat the command with --allow {task} if you trust its code" in refused
        for name in ("compare", "tune"):
            assert "must be a registered one" in bad(name, file, *how)
        assert not mark.exists()
        good("run", file, *how, "--task", task)  # typed

    @pytest.mark.parametrize(
        "line",
        [
            f'task = "{NAME}:make_task"',
            f'task = "{TINY}"\nscheme = "lean:down={SPEC}"',
            f'task = "{TINY}"\noptimizer = "{NAME}:Optimizer"',
            f'task = "{TINY}"\nlr = "{NAME}:Step"',
            f'task = "{TINY}"\npartition = "{NAME}:Partition"',
        ],
    )
    def test_nor_a_results_directory(
        self, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mark, out = plant(tmp_path, monkeypatch), tmp_path / "out"
        good("run", "--task", TINY, "--rounds", 1, "--workers", 1, "--out", out)
        (out / "config.toml").write_text(f"{line}\nrounds = 1\n")
        refused = bad("resume", out, "--rounds", 2, "--workers", 1, "--allow", TINY)
        assert f"repeat the command with --allow {NAME}:" in refused
        call("report", out, "--out", tmp_path / "report.html")
        assert not mark.exists()

    def test_what_is_allowed_goes_on(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        mark, out, task = plant(tmp_path, monkeypatch), tmp_path / "out", f"{NAME}:make_task"
        (tmp_path / "a.toml").write_text(f'task = "{task}"\nrounds = 1\nworkers = 1\n')
        good("run", tmp_path / "a.toml", "--out", out, "--allow", task)
        assert mark.exists()
        good("resume", out, "--rounds", 2, "--workers", 1, "--allow", task)
