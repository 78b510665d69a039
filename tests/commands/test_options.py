"""Settings of a file and of the command line, put together."""

from pathlib import Path

import pytest

from lossyfl import InputError
from lossyfl.commands.options import merged, split, split_for_many, with_budgets


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("rounds = 5\nevaluate-every = 2\n")
    assert merged(tmp_path / "a.toml", {"rounds": 7}) == {"rounds": 7, "evaluate_every": 2}
    assert merged(None, {"rounds": 7}) == {"rounds": 7}


def test_how_a_run_is_done_is_no_setting_of_the_experiment() -> None:
    settings, how = split({"rounds": 3, "workers": 2, "save_updates": "0,2"})
    assert settings == {"rounds": 3}
    assert (how.workers, how.saved) == (2, frozenset({0, 2}))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scheme": "lb"}, "scheme of compare must be left out of the file; --schemes says them"),
        ({"out": "a"}, "out of compare must be left out of the file; it has no such setting"),
        ({"tensorboard": True}, "tensorboard of compare must be left out of the file"),
    ],
)
def test_a_command_of_many_runs_refuses_what_is_for_one(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        split_for_many(settings, ("scheme",), "--schemes says them", of="compare")


class TestBudgets:
    def test_they_are_options_of_lean(self) -> None:
        said = {"uplink_budget": "1bit", "first_budget": "3bit", "scheme": "lean:predict=true"}
        chosen = "lean:predict=true,up_budget=1bit,first_budget=3bit"
        assert with_budgets(said) == {"scheme": chosen}

    def test_without_any_the_scheme_stays(self) -> None:
        assert with_budgets({"scheme": "lb", "rounds": 3}) == {"scheme": "lb", "rounds": 3}

    def test_other_schemes_have_none(self) -> None:
        with pytest.raises(InputError, match="must be lean, which keeps to one, or left out"):
            with_budgets({"scheme": "lfl", "downlink_budget": "20kB"})

    def test_twice_is_once_too_often_unless_the_scheme_is_the_files(self) -> None:
        said = {"scheme": "lean:down_budget=1kB,predict=true", "downlink_budget": "20kB"}
        with pytest.raises(InputError, match="down_budget of a run must be given once"):
            with_budgets(said)
        chosen = "lean:predict=true,down_budget=20kB"
        assert with_budgets(said, scheme_of_file=True) == {"scheme": chosen}
