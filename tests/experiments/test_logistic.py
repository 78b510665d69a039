"""The convex problem: its samples, its gradients, its optimum and its constants."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.experiments.problems import IID, PAPER, SOURCE, few, some_theta

from lossyfl import InputError, data
from lossyfl.experiments import logistic
from lossyfl.experiments.logistic import Source
from lossyfl.experiments.regression import PRECISION, Regression
from lossyfl.tasks import Defaults, Samples, Task
from lossyfl.tasks.models import linear


@cache
def optimum(partition: str, devices: int = 10) -> logistic.Optimum:
    source = replace(SOURCE, partition=partition, devices=devices)
    return logistic.optimum(logistic.regression(source))


class TestSamples:
    @pytest.mark.parametrize("problem", [IID, PAPER], ids=["iid", "paper"])
    def test_holds_every_training_sample_once(self, problem: Regression) -> None:
        digits = data.load("digits")
        assert problem.shape == (10, 65)
        assert problem.sizes.sum() == len(digits.train_x)
        assert problem.x[:, :-1].sum() == digits.train_x.sum() / 16
        assert np.all(problem.x[:, -1] == 1)
        counts = np.bincount(problem.labels).tolist()
        assert counts == np.bincount(digits.train_y).tolist()

    def test_partitions_differ_in_labels(self) -> None:
        for m in range(10):
            assert len(np.unique(PAPER.device(m).labels)) == 1
            assert len(np.unique(IID.device(m).labels)) == 10

    def test_some_samples_are_drawn_from_all(self) -> None:
        some = logistic.regression(replace(SOURCE, partition="iid", samples=500))
        assert len(some.x) == 500
        assert len(np.unique(some.labels)) == 10
        rows = {row.tobytes() for row in IID.x}
        assert all(row.tobytes() in rows for row in some.x)


class TestOptimum:
    @pytest.mark.parametrize("partition", ["iid", "paper"])
    def test_gradient_is_zero(self, partition: str) -> None:
        best, problem = optimum(partition), IID if partition == "iid" else PAPER
        loss, gradient = problem.slope(best.theta)
        assert np.linalg.norm(gradient) < PRECISION
        assert loss == best.loss

    def test_is_the_same_for_both_partitions(self) -> None:
        away = np.linalg.norm(optimum("iid").theta - optimum("paper").theta)
        assert away < 2 * PRECISION / 0.1

    def test_heterogeneity_is_larger_for_one_class_each(self) -> None:
        assert optimum("iid", 1).heterogeneity == pytest.approx(0, abs=1e-12)
        assert 0 < optimum("iid").heterogeneity < optimum("paper").heterogeneity / 5

    def test_every_minimum_is_told(self) -> None:
        told = list[int]()
        logistic.optimum(few(20), lambda: told.append(1))
        assert len(told) == 2

    def test_smoothness_and_strong_convexity_hold_along_random_lines(self) -> None:
        """mu ||v - w||^2 <= <grad F_m(v) - grad F_m(w), v - w> <= L ||v - w||^2."""
        best = optimum("paper")
        for seed in range(20):
            v, w = 3 * some_theta(seed), best.theta
            change = PAPER.gradients(v) - PAPER.gradients(w)
            curvature = np.sum(change * (v - w), axis=(1, 2)) / np.sum((v - w) ** 2)
            assert np.all(curvature >= 0.1)
            assert np.all(curvature <= best.smoothness)


def own_task(y: object = (5, 5, 9, 9), x: float = 1.0, *, divided: bool = True) -> Task:
    """Four samples of three features, two devices that the data knows."""
    samples = Samples(x=np.full((4, 3), x, dtype=np.float32), y=np.array(y))
    parts = [np.array([0, 2]), np.array([1, 3])] if divided else None
    return Task(
        name="own",
        train=samples,
        test=samples,
        model=lambda: linear(3, 2),
        prepare=lambda batch: batch * 2,
        defaults=Defaults(),
        parts=parts,
    )


def real_valued() -> Task:
    return own_task(y=(0.5, 1.0, 2.0, 2.5))


def broken() -> Task:
    return own_task(x=float("nan"))


class TestOwnTask:
    OWN = Source(task=f"{__name__}:own_task", partition="natural", devices=2, regulariser=0.1)

    def test_samples_are_prepared_and_divided_as_it_says(self) -> None:
        problem = logistic.regression(self.OWN)
        assert problem.x.tolist() == [[2, 2, 2, 1]] * 4
        assert problem.labels.tolist() == [0, 1, 0, 1]
        assert problem.classes == 2
        assert problem.starts.tolist() == [0, 2, 4]

    def test_devices_are_those_of_the_data(self) -> None:
        with pytest.raises(InputError, match="devices of the task own must be 2, as the data is"):
            logistic.regression(replace(self.OWN, devices=3))

    def test_divided_data_is_not_cut(self) -> None:
        with pytest.raises(InputError, match="samples of the task own must be left out"):
            logistic.regression(replace(self.OWN, samples=2))

    def test_targets_are_classes(self) -> None:
        with pytest.raises(InputError, match="targets of the task own must be one whole number"):
            logistic.regression(replace(self.OWN, task=f"{__name__}:real_valued"))

    def test_inputs_are_finite(self) -> None:
        with pytest.raises(InputError, match="inputs of the task own must be finite"):
            logistic.regression(replace(self.OWN, task=f"{__name__}:broken"))

    def test_too_many_samples(self) -> None:
        with pytest.raises(InputError, match=r"samples of the task digits must be .*\[1, 1437\]"):
            logistic.regression(replace(SOURCE, samples=1438))

    def test_data_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="mnist"):
            logistic.regression(replace(SOURCE, task="mnist", data_dir=tmp_path))
