"""The convex problem: its gradients, its smoothness and its minimum."""

import numpy as np
import pytest
from tests.experiments.problems import IID, PAPER, few, some_theta

from lossyfl import InputError, stream
from lossyfl.experiments import logistic, regression
from lossyfl.experiments.regression import Array, Regression


class TestRegression:
    def test_whole_loss_does_not_depend_on_the_partition(self) -> None:
        theta = some_theta()
        assert PAPER.loss(theta) == pytest.approx(IID.loss(theta), rel=1e-12)
        alone = [PAPER.device(m).loss(theta) for m in range(10)]
        assert PAPER.shares @ alone == pytest.approx(PAPER.loss(theta), rel=1e-12)

    def test_gradient_is_the_slope_of_the_loss(self) -> None:
        theta, direction, h = some_theta(), some_theta(1), 1e-5
        found = PAPER.gradients(theta)
        for m in (0, 7):
            own = PAPER.device(m)
            slope = (own.loss(theta + h * direction) - own.loss(theta - h * direction)) / (2 * h)
            assert slope == pytest.approx(np.sum(found[m] * direction), rel=1e-7)
        assert PAPER.slope(theta)[1] == pytest.approx(np.tensordot(PAPER.shares, found, axes=1))

    def test_every_device_may_have_its_own_theta(self) -> None:
        thetas = np.stack([some_theta(m) for m in range(10)])
        together = PAPER.gradients(thetas)
        for m, theta in enumerate(thetas):
            assert together[m] == pytest.approx(PAPER.gradients(theta)[m], rel=1e-12)

    def test_mean_square_is_that_of_all_batches(self) -> None:
        """Device 2 cut to four samples: all 16 batches of two, by enumeration."""
        own, theta = few(4), some_theta()
        residuals = own.residuals(theta)
        squares = [
            np.sum(own.batch_gradients(theta, residuals, np.array([[i, j]])) ** 2)
            for i in range(4)
            for j in range(4)
        ]
        expected = own.mean_squares(theta, residuals, 2)[0]
        assert np.mean(squares) == pytest.approx(expected, rel=1e-12)

    def test_batch_of_all_samples_is_the_gradient(self) -> None:
        own, theta = IID.device(3), some_theta()
        every = np.arange(own.sizes[0])[None]
        found = own.batch_gradients(theta, own.residuals(theta), every)
        assert found == pytest.approx(own.gradients(theta), rel=1e-10, abs=1e-15)

    def test_chosen_samples_are_those_of_their_device(self) -> None:
        theta = some_theta()
        chosen = np.zeros((10, 1), dtype=np.int64)
        found = IID.batch_gradients(theta, IID.residuals(theta), chosen)
        alone = IID.device(4)
        own = alone.batch_gradients(theta, alone.residuals(theta), chosen[:1])
        assert found[4] == pytest.approx(own[0], rel=1e-12)

    def test_smoothness_is_the_same_from_either_side(self) -> None:
        """Fewer samples than features, and more."""
        for own in (few(30), PAPER.device(2)):
            gram = own.x.T @ own.x / len(own.x)
            expected = np.linalg.eigvalsh(gram)[-1] / 2 + 0.1
            assert own.smoothness() == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize("samples", [3, 30, 65, 100])
    def test_minimum_of_fewer_or_more_samples_than_features(self, samples: int) -> None:
        own = few(samples)
        assert own.minimum().shape == (10, 65)
        assert np.linalg.norm(own.slope(own.minimum())[1]) < 2 * regression.PRECISION

    def test_minimum_of_few_samples_is_sought_in_their_space(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shapes = set[tuple[int, int]]()
        slope = Regression.slope

        def seen(self: Regression, theta: Array) -> tuple[float, Array]:
            shapes.add(theta.shape)
            return slope(self, theta)

        monkeypatch.setattr(Regression, "slope", seen)
        few(30).minimum()
        assert shapes == {(10, 30)}

    def test_minimum_is_found_where_losses_are_too_coarse_to_compare(self) -> None:
        """Large features and random labels: a line search ends with a gradient of 1.2e-7."""
        x = 10 * stream(3).bits(0, 30_000).reshape(300, 100) / 2**32
        steep = Regression(
            x=x,
            squares=np.sum(x**2, axis=1),
            labels=(stream(4).bits(0, 300) % 10).astype(np.int64),
            starts=np.array([0, 300]),
            classes=10,
            regulariser=0.1,
        )
        with logistic.one_thread():
            assert np.linalg.norm(steep.slope(steep.minimum())[1]) < regression.PRECISION

    def test_regulariser_too_small_to_find_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(regression, "PRECISION", 0.0)
        with pytest.raises(InputError, match="regulariser of bound must be so large that the grad"):
            few(20).minimum()
