"""The experiment's constants are what the theorem asks for, and the bound holds."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from lossyfl import InputError, MissingExtra, stream
from lossyfl.experiments import bound, logistic
from lossyfl.experiments.bound import Outcome, Setting, Step

NON_IID = logistic.task("non-iid", 5, 0.1)
SETTING = Setting(
    q1=2,
    tau=2,
    partition="non-iid",
    step=Step(first=0.05),
    devices=5,
    rounds=3,
    batch=4,
    seeds=2,
)


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return bound.run(bound.small_settings())


class TestRun:
    def test_bound_holds_at_every_round(self, outcomes: list[Outcome]) -> None:
        assert len(outcomes) == 32
        for outcome in outcomes:
            assert len(outcome.distance) == outcome.setting.rounds + 1
            assert outcome.distance[0] == pytest.approx(outcome.distance_bound[0], rel=1e-12)
            assert outcome.holds, outcome.setting
            assert outcome.least_looseness >= 1

    def test_training_goes_forward(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            assert outcome.gap[-1] < outcome.gap[0], outcome.setting
            assert min(outcome.gap) > 0

    def test_constants_are_measured(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            assert outcome.problem.dimension == 650
            assert outcome.problem.gradient_bound > 0
            assert (outcome.eps == 0) == (outcome.setting.q1 is None)
            assert outcome.eps <= 1

    def test_same_seeds_give_the_same_numbers(self) -> None:
        assert bound.run([SETTING]) == bound.run([SETTING])

    def test_is_the_mean_of_its_seeds(self) -> None:
        first = bound.run([replace(SETTING, seeds=1)])[0]
        both = bound.run([SETTING])[0]
        assert first.distance[-1] != both.distance[-1]
        assert first.problem.gradient_bound <= both.problem.gradient_bound
        assert first.eps <= both.eps

    def test_lossless_round_is_federated_averaging(self) -> None:
        """One round with one local step, by hand: theta(1) = -eta sum_m B_m/B g_m."""
        setting = replace(SETTING, q1=None, tau=1, rounds=1, seeds=1)
        theta = np.zeros((10, 65))
        for m in range(5):
            x, y = NON_IID.x[m], NON_IID.y[m]
            for i in stream(0, purpose="batch", round=0, device=m).bits(0, 4) % NON_IID.sizes[m]:
                theta -= 0.05 * NON_IID.shares[m] * np.outer(0.1 - y[:, i], x[i]) / 4
        best = logistic.optimum("non-iid", 5, 0.1)
        expected = np.sum((theta - best.theta) ** 2)
        assert bound.run([setting])[0].distance[1] == pytest.approx(expected, rel=1e-10)

    def test_an_outcome_that_does_not_hold_says_so(self, outcomes: list[Outcome]) -> None:
        wrong = replace(outcomes[0], distance_bound=tuple(v / 2 for v in outcomes[0].distance))
        assert not wrong.holds
        assert bound.sheet([wrong]).rows[0][-1] == "NO"

    def test_outcomes_are_json(self, outcomes: list[Outcome]) -> None:
        back = json.loads(json.dumps(asdict(outcomes[1]), allow_nan=False))
        assert back["setting"]["q1"] == 1
        assert back["distance"] == list(outcomes[1].distance)


class TestSetting:
    def test_default_has_every_choice_once(self) -> None:
        settings = bound.default_settings()
        assert len(settings) == len(set(settings)) == 32
        assert {s.q1 for s in settings} == {None, 1, 2, 5}
        assert {s.devices for s in settings} == {20}

    def test_step_falls_like_one_over_t(self) -> None:
        step = Step(first=0.2, half=50)
        assert [step(t) for t in (0, 50, 150)] == pytest.approx([0.2, 0.1, 0.05])
        assert step(7) == pytest.approx(10 / (7 + 50))
        assert (str(step), str(Step(first=0.1))) == ("10/(t+50)", "0.1")

    def test_wrong_settings(self) -> None:
        with pytest.raises(InputError, match=r"eta of bound must be in \(0, 1\]"):
            replace(SETTING, step=Step(first=1.5))
        with pytest.raises(InputError, match="q1 of bound must be"):
            replace(SETTING, q1=0)
        with pytest.raises(InputError, match="tau of bound must be"):
            replace(SETTING, tau=0)
        with pytest.raises(InputError, match=r"devices of Setting must be an int in \[1, 1797\]"):
            replace(SETTING, devices=0)
        with pytest.raises(InputError, match="partition of Setting must be one of iid, non-iid"):
            replace(SETTING, partition="idd")  # pyright: ignore[reportArgumentType]
        for name in ("batch", "seeds", "rounds"):
            with pytest.raises(InputError, match=f"{name} of Setting must be an int of at least 1"):
                replace(SETTING, **{name: 0})


class TestReport:
    def test_sheet_has_a_line_for_every_outcome(self, outcomes: list[Outcome]) -> None:
        sheet = bound.sheet(outcomes)
        assert len(sheet.rows) == 32
        assert {len(row) for row in sheet.rows} == {len(sheet.columns)}
        assert {row[-1] for row in sheet.rows} == {"yes"}

    def test_plot_writes_a_picture(self, outcomes: list[Outcome], tmp_path: Path) -> None:
        pytest.importorskip("matplotlib")
        bound.plot(outcomes, tmp_path / "bound.png")
        assert (tmp_path / "bound.png").read_bytes().startswith(b"\x89PNG")

    def test_missing_extras_are_named(
        self, outcomes: list[Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        with pytest.raises(MissingExtra, match=r"matplotlib .*lossyfl\[report\]"):
            bound.plot(outcomes, tmp_path / "bound.png")
        monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
        with pytest.raises(MissingExtra, match=r"sklearn .*lossyfl\[sim\]"):
            logistic.task("iid", 7, 0.1)
