"""The convex problem: its gradients, its optimum and its constants."""

from dataclasses import replace

import numpy as np
import pytest

from lossyfl import stream
from lossyfl.experiments import logistic

IID = logistic.task("iid", 5, 0.1)
NON_IID = logistic.task("non-iid", 5, 0.1)


def some_theta(seed: int = 0) -> logistic.Array:
    bits = stream(seed).bits(0, 650).astype(np.float64)
    return (bits / 2**32 - 0.5).reshape(10, 65)


class TestTask:
    @pytest.mark.parametrize("task", [IID, NON_IID], ids=["iid", "non-iid"])
    def test_holds_every_sample_once(self, task: logistic.Task) -> None:
        assert task.sizes.sum() == logistic.SAMPLES
        assert task.sizes.max() - task.sizes.min() <= 1
        assert task.y.sum(axis=(1, 2)).tolist() == task.sizes.tolist()
        assert task.shares.sum() == pytest.approx(1)

    def test_partitions_differ_in_labels(self) -> None:
        classes = (NON_IID.y.sum(axis=2) > 0).sum(axis=1)
        assert classes.max() <= 3
        assert np.all((IID.y.sum(axis=2) > 0).sum(axis=1) == 10)

    def test_whole_loss_does_not_depend_on_the_partition(self) -> None:
        theta = some_theta()
        one = logistic.task("iid", 1, 0.1).losses(theta)[0]
        for task in (IID, NON_IID):
            assert task.shares @ task.losses(theta) == pytest.approx(one, rel=1e-12)

    def test_gradient_is_the_slope_of_the_loss(self) -> None:
        theta, direction = some_theta(), some_theta(1)
        h = 1e-5
        slope = (NON_IID.losses(theta + h * direction) - NON_IID.losses(theta - h * direction)) / (
            2 * h
        )
        along = np.sum(NON_IID.gradients(theta) * direction, axis=(1, 2))
        assert slope == pytest.approx(along, rel=1e-7)

    def test_mean_square_is_that_of_all_batches(self) -> None:
        """Device 2 cut to four samples: all 16 batches of two, by enumeration."""
        own = NON_IID.device(2)
        few = replace(
            own,
            x=own.x[:, :4],
            lengths=own.lengths[:, :4],
            y=own.y[:, :, :4],
            sizes=np.array([4]),
        )
        theta = some_theta()[None]
        residuals = few.residuals(theta)
        squares = [
            np.sum(few.batch_gradients(theta, residuals, np.array([[i, j]])) ** 2)
            for i in range(4)
            for j in range(4)
        ]
        expected = few.mean_squares(theta, residuals, 2)[0]
        assert np.mean(squares) == pytest.approx(expected, rel=1e-12)

    def test_batch_of_all_samples_is_the_gradient(self) -> None:
        own = IID.device(3)
        theta = some_theta()[None]
        every = np.arange(own.sizes[0])[None]
        found = own.batch_gradients(theta, own.residuals(theta), every)
        assert found == pytest.approx(own.gradients(theta), rel=1e-10, abs=1e-15)


class TestOptimum:
    @pytest.mark.parametrize("task", [IID, NON_IID], ids=["iid", "non-iid"])
    def test_gradient_is_zero(self, task: logistic.Task) -> None:
        best = logistic.optimum("iid" if task is IID else "non-iid", 5, 0.1)
        gradient = np.tensordot(task.shares, task.gradients(best.theta), axes=1)
        assert np.linalg.norm(gradient) < logistic.PRECISION
        assert task.shares @ task.losses(best.theta) == best.loss

    def test_is_the_same_for_both_partitions(self) -> None:
        iid, non_iid = (logistic.optimum(p, 5, 0.1) for p in ("iid", "non-iid"))
        assert np.linalg.norm(iid.theta - non_iid.theta) < 2 * logistic.PRECISION / 0.1

    def test_heterogeneity_is_larger_for_sorted_labels(self) -> None:
        assert logistic.optimum("iid", 1, 0.1).heterogeneity == pytest.approx(0, abs=1e-12)
        iid, non_iid = (logistic.optimum(p, 5, 0.1).heterogeneity for p in ("iid", "non-iid"))
        assert 0 < iid < non_iid / 5

    def test_smoothness_and_strong_convexity_hold_along_random_lines(self) -> None:
        """mu ||v - w||^2 <= <grad F_m(v) - grad F_m(w), v - w> <= L ||v - w||^2."""
        best = logistic.optimum("non-iid", 5, 0.1)
        for seed in range(20):
            v, w = 3 * some_theta(seed), best.theta
            change = NON_IID.gradients(v) - NON_IID.gradients(w)
            curvature = np.sum(change * (v - w), axis=(1, 2)) / np.sum((v - w) ** 2)
            assert np.all(curvature >= 0.1)
            assert np.all(curvature <= best.smoothness)
