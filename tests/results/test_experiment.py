"""Settings: from files and options, checked, and written back."""

from dataclasses import replace
from pathlib import Path

import pytest

from lossyfl import InputError
from lossyfl.results.experiment import KEYS, Experiment, experiment, named, read_toml
from lossyfl.tasks import Defaults


def test_toml_and_back(tmp_path: Path) -> None:
    chosen = Experiment(rounds=7, lr="0.1@0/0.01@5", scheme='lfl:q1="x"', slow=0.25)
    (tmp_path / "a.toml").write_text(chosen.toml())
    assert experiment(read_toml(tmp_path / "a.toml")) == chosen


@pytest.mark.parametrize("text", ["daten/😀.npz", 'quo"te', "back\\slash", "del\x7f", "tab\t", "ü"])
def test_any_text_survives(text: str, tmp_path: Path) -> None:
    chosen = Experiment(task=f"mine:make:path={text}")
    (tmp_path / "a.toml").write_bytes(chosen.toml().encode())
    assert experiment(read_toml(tmp_path / "a.toml")) == chosen


def test_numbers_are_taken_as_people_write_them() -> None:
    assert experiment({"lr": 0.1}).lr == "0.1"
    assert experiment({"lr": 1}).lr == "1"
    assert experiment({"participation": 1, "slow": 0}).participation == 1.0


def test_what_is_not_said_is_what_suits_the_task() -> None:
    chosen = Experiment(rounds=3).resolved(Defaults(rounds=100, devices=40, lr="0.3"))
    assert (chosen.rounds, chosen.devices, chosen.lr) == (3, 40, "0.3")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"round": 3}, r"key of a run must be one of .*did you mean rounds\?.*got round"),
        ({"rounds": 0}, "rounds of a run must be an int >= 1, got 0"),
        ({"rounds": 2.5}, "rounds of a run must be an int >= 1, got 2.5"),
        ({"rounds": True}, "rounds of a run must be an int >= 1, got True"),
        ({"devices": "ten"}, "devices of a run must be an int >= 1, got ten"),
        ({"seed": -1}, "seed of a run must be an int >= 0"),
        ({"lr": True}, "lr of a run must be a text, got True"),
        ({"task": 3}, "task of a run must be a text, got 3"),
        ({"scheme": ""}, "scheme of a run must be a text"),
        ({"participation": 0.0}, r"participation of a run must be a number in \(0, 1\], got 0.0"),
        ({"ask_recent": 1.0}, r"ask_recent of a run must be a number in \[0, 1\), got 1.0"),
        ({"participation": "all"}, r"participation of a run must be a number in \(0, 1\], got all"),
        ({"drop_out": 1.0}, r"drop_out of a run must be a number in \[0, 1\), got 1.0"),
        ({"slow": float("nan")}, r"slow of a run must be a number in \[0, 1\), got nan"),
        ({"listen": "some"}, r"listen of a run must be one of all, participants.*, got some"),
    ],
)
def test_errors(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        experiment(settings)


def test_files_that_are_no_settings(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file of a run must be one that exists"):
        read_toml(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("rounds = = 3")
    with pytest.raises(InputError, match=r"content of bad\.toml must be TOML"):
        read_toml(tmp_path / "bad.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"content of bytes\.toml must be UTF-8"):
        read_toml(tmp_path / "bytes.toml")


def test_every_setting_is_in_the_name_of_the_folder() -> None:
    plain, others = Experiment(), {"lr": "0.3", "partition": "paper", "optimizer": "adam"}
    whole = ("rounds", "devices", "tau", "batch", "evaluate_every", "evaluate_last", "seed")
    others |= {"task": "mnist", "scheme": "lossless", "listen": "participants"}
    others |= {"evaluate": "devices"}
    parts = ("participation", "ask_recent", "drop_out", "slow")
    changed = [replace(plain, **{key: 7}) for key in whole]
    changed += [replace(plain, **{key: 0.5}) for key in parts]
    changed += [replace(plain, **{key: value}) for key, value in others.items()]
    assert len(changed) == len(KEYS)
    assert len({named(each) for each in (plain, *changed)}) == len(KEYS) + 1


def test_a_long_name_stays_a_name() -> None:
    long = [Experiment(task=f"package.module:task:path={'x' * 300}{end}") for end in "ab"]
    assert all(len(named(each)) <= 120 for each in long)
    assert named(long[0]) != named(long[1])
