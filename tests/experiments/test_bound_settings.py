"""Settings of the bound: what is outside of the theorem is refused before anything is loaded."""

from dataclasses import replace

import pytest

from lossyfl import InputError
from lossyfl.experiments.bound_settings import BoundSetting, Grid

SETTING = BoundSetting(q1="2", tau=2, partition="paper", eta="0.05")


class TestSetting:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"eta": "1.5"}, r"eta of bound must be in \(0, 1\], .* got 1\.5 in round 0"),
            ({"tau": 20}, None),
            ({"tau": 201}, r"eta of bound must be in \(0, 0\.0497512\]"),
            ({"eta": "0.1@0/2@7"}, r"eta of bound must be in \(0, 1\], .* got 2\.0 in round 7"),
            ({"eta": "0.1@0/2@120"}, None),
            ({"eta": "cosine:start=0.1,rounds=20"}, r"eta of bound .* got 0\.0 in round 20"),
            ({"regulariser": 20.0}, r"eta of bound must be in \(0, 0\.025\]"),
            ({"regulariser": 0.0}, "mu of Problem must be positive"),
            ({"q1": "0"}, "levels of Stochastic must be"),
            ({"q1": "8@0/0@5"}, "levels of Stochastic must be"),
            ({"q2": "two"}, "q of scheme must be a number"),
            ({"q2": "exact"}, None),
            ({"tau": 0}, "tau of bound must be"),
            ({"partition": "idd"}, "did you mean iid"),
            ({"devices": 0}, "devices of a run must be an int >= 1"),
            ({"batch": 0}, "batch of a run must be an int >= 1"),
            ({"seeds": 0}, "seeds of bound must be an int >= 1"),
            ({"rounds": 0}, "rounds of a run must be an int >= 1"),
        ],
    )
    def test_wrong_settings(self, change: dict[str, object], message: str | None) -> None:
        if message is None:
            replace(SETTING, **change)  # pyright: ignore[reportArgumentType]
            return
        with pytest.raises(InputError, match=message):
            replace(SETTING, **change)  # pyright: ignore[reportArgumentType]


class TestGrid:
    def test_default_has_every_choice_once(self) -> None:
        settings = Grid().settings()
        assert len(settings) == len(set(settings)) == 32
        assert {s.q1 for s in settings} == {"exact", "1", "2", "5"}
        assert {s.q2 for s in settings} == {"exact"}

    def test_default_step_sizes_suit_tau(self) -> None:
        assert {(s.tau, s.eta) for s in Grid().settings()} == {
            (1, "0.1"),
            (4, "0.025"),
            (1, "inverse:start=0.2,after=50"),
            (4, "inverse:start=0.05,after=50"),
        }

    def test_all_combinations(self) -> None:
        grid = Grid(taus=(1, 3), partitions=("iid",), etas=("0.1",), q1s=("2", "4"), q2s=("5",))
        assert [(s.tau, s.q1, s.q2) for s in grid.settings()] == [
            (1, "2", "5"),
            (1, "4", "5"),
            (3, "2", "5"),
            (3, "4", "5"),
        ]
