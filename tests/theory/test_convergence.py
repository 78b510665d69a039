"""Theorem 1 and Corollary 1 against a transcription of their own, closed forms and laws."""

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import InputError
from lossyfl.theory import EXACT, Problem, Uplink, bound, eps, loss_bound, relative_variance

PROBLEM = Problem(
    mu=0.2, smoothness=3.0, gradient_bound=1.7, heterogeneity=0.3, dimension=650, distance0=5.0
)


def falling(t: int) -> float:
    return 1 / (t + 4)


def growing(t: int) -> int:
    return 1 + t


class TestBound:
    @pytest.mark.parametrize("tau", [1, 2, 5])
    def test_is_the_sum_of_products_of_the_paper(self, tau: int) -> None:
        """The recursion of the source against sums and products as they are printed."""
        mu, g, gamma, d = PROBLEM.mu, PROBLEM.gradient_bound, PROBLEM.heterogeneity, 650
        e, rounds = 0.02, 9

        def a(i: int) -> float:
            return 1 - mu * falling(i) * (tau - falling(i) * (tau - 1))

        def b(i: int) -> float:
            eta = falling(i)
            sent = (falling(i - 1) * tau * g / (2 * growing(i))) ** 2 * e * d if i else 0.0
            drift = (1 + mu * (1 - eta)) * eta**2 * g**2 * tau * (tau - 1) * (2 * tau - 1) / 6
            noise = eta**2 * (tau**2 + tau - 1) * g**2
            return a(i) * sent + noise + drift + 2 * eta * (tau - 1) * gamma

        expected = [
            math.prod(a(i) for i in range(t)) * PROBLEM.distance0
            + sum(b(j) * math.prod(a(i) for i in range(j + 1, t)) for j in range(t))
            for t in range(rounds + 1)
        ]
        found = bound(PROBLEM, rounds=rounds, tau=tau, eta=falling, q1=growing, eps=e)
        assert found == pytest.approx(expected, rel=1e-12)

    def test_constants_are_functions_that_do_not_change(self) -> None:
        constant = bound(PROBLEM, rounds=20, tau=3, eta=0.1, q1=2, eps=0.1)
        function = bound(PROBLEM, rounds=20, tau=3, eta=lambda _: 0.1, q1=lambda _: 2, eps=0.1)
        assert np.array_equal(constant, function)

    def test_begins_at_the_distance(self) -> None:
        assert bound(PROBLEM, rounds=0, tau=1, eta=0.1, q1=1, eps=1).tolist() == [5.0]

    def test_first_round_is_not_quantized(self) -> None:
        coarse = bound(PROBLEM, rounds=2, tau=1, eta=0.1, q1=1, eps=1)
        lossless = bound(PROBLEM, rounds=2, tau=1, eta=0.1, q1=None, eps=0)
        assert coarse[1] == lossless[1]
        assert coarse[2] > lossless[2]

    @given(
        mu=st.floats(0.01, 2),
        g=st.floats(0, 10),
        part=st.floats(0.01, 1),
        tau=st.integers(1, 8),
        e=st.floats(0, 1),
    )
    def test_falls_with_levels_and_is_least_without_loss(
        self, mu: float, g: float, part: float, tau: int, e: float
    ) -> None:
        problem = replace(PROBLEM, mu=mu, gradient_bound=g)
        eta = part * min(1.0, 1 / (mu * tau))
        curves = [bound(problem, rounds=12, tau=tau, eta=eta, q1=q, eps=e) for q in (1, 2, 5, 50)]
        curves.append(bound(problem, rounds=12, tau=tau, eta=eta, q1=None, eps=e))
        for coarse, fine in pairwise(curves):
            assert np.all(coarse >= fine * (1 - 1e-12))

    def test_goes_to_zero_where_the_step_does(self) -> None:
        """The paper's asymptotic analysis, for tau = 1: a step of alpha / (t + beta)."""
        values = bound(PROBLEM, rounds=100_000, tau=1, eta=lambda t: 10 / (t + 10), q1=2, eps=1e-3)
        assert values[-1] < 2e-2
        assert values[100_000] < values[10_000] / 5 < values[1000] / 25

    @pytest.mark.parametrize("tau", [2, 5])
    def test_does_not_go_to_zero_with_local_steps_on_unlike_devices(self, tau: int) -> None:
        """A falling step shrinks 2 eta (tau - 1) Gamma and the contraction mu eta tau alike."""
        values = bound(
            PROBLEM, rounds=100_000, tau=tau, eta=lambda t: 10 / (t + 50), q1=2, eps=1e-3
        )
        floor = 2 * (tau - 1) * PROBLEM.heterogeneity / (PROBLEM.mu * tau)
        assert floor < values[-1] < 1.01 * floor

    @pytest.mark.parametrize("bad", [0, 0.0, -0.1, 1.0001, math.nan, math.inf])
    def test_wrong_eta(self, bad: float) -> None:
        with pytest.raises(
            InputError, match=r"eta of bound must be in \(0, 1\], .* got .* round 0"
        ):
            bound(PROBLEM, rounds=3, tau=1, eta=bad, q1=1, eps=1)

    @pytest.mark.parametrize("rounds", [5, 100])
    def test_eta_too_large_in_one_round(self, rounds: int) -> None:
        def late(t: int) -> float:
            return 0.6 if t == 4 else 0.1

        assert late(4) > 1 / (PROBLEM.mu * 10)
        with pytest.raises(InputError, match=r"in \(0, 0\.5\], .* got 0\.6 in round 4"):
            bound(PROBLEM, rounds=rounds, tau=10, eta=late, q1=1, eps=1)
        assert len(bound(PROBLEM, rounds=4, tau=10, eta=late, q1=1, eps=1)) == 5

    def test_largest_eta_is_allowed(self) -> None:
        assert np.all(bound(PROBLEM, rounds=3, tau=1, eta=1, q1=1, eps=1) > 0)
        assert np.all(bound(PROBLEM, rounds=3, tau=10, eta=0.5, q1=1, eps=1) > 0)

    @pytest.mark.parametrize("bad", [0, -1, 1.5, True])
    def test_wrong_counts(self, bad: int) -> None:
        with pytest.raises(InputError, match="q1 of bound must be an int of at least 1"):
            bound(PROBLEM, rounds=3, tau=1, eta=0.1, q1=bad, eps=1)
        with pytest.raises(InputError, match="q1 of bound must be an int of at least 1"):
            bound(PROBLEM, rounds=3, tau=1, eta=0.1, q1=lambda t: bad if t == 2 else 1, eps=1)
        with pytest.raises(InputError, match="tau of bound must be an int of at least 1"):
            bound(PROBLEM, rounds=3, tau=bad, eta=0.1, q1=1, eps=1)

    def test_wrong_rounds_and_eps(self) -> None:
        with pytest.raises(
            InputError, match="rounds of bound must be an int of at least 0, got -1"
        ):
            bound(PROBLEM, rounds=-1, tau=1, eta=0.1, q1=1, eps=1)
        for bad in (-0.1, 1.1, math.nan):
            with pytest.raises(InputError, match=r"eps of bound must be in \[0, 1\]"):
                bound(PROBLEM, rounds=1, tau=1, eta=0.1, q1=1, eps=bad)

    def test_each_round_has_its_own_eps(self) -> None:
        largest = bound(PROBLEM, rounds=20, tau=2, eta=0.1, q1=2, eps=0.3)
        own = bound(PROBLEM, rounds=20, tau=2, eta=0.1, q1=2, eps=lambda t: 0.3 / t)
        assert np.array_equal(largest[:3], own[:3])  # the broadcast of round 1 is the first
        assert np.all(own[3:] < largest[3:])
        assert np.array_equal(
            largest, bound(PROBLEM, rounds=20, tau=2, eta=0.1, q1=2, eps=lambda _: 0.3)
        )

    def test_wrong_eps_of_one_round(self) -> None:
        with pytest.raises(
            InputError, match=r"eps of bound must be in \[0, 1\], got 1\.5 in round 3"
        ):
            bound(PROBLEM, rounds=9, tau=1, eta=0.1, q1=1, eps=lambda t: 1.5 if t == 3 else 1)


class TestUplink:
    """The bound with quantized replies, which the paper does not have."""

    @pytest.mark.parametrize("tau", [1, 3])
    def test_is_the_recursion_of_the_docstring(self, tau: int) -> None:
        mu, g, share, rounds = PROBLEM.mu, PROBLEM.gradient_bound, 0.25, 6

        def omega(t: int) -> float:
            return 0.9 / (t + 1)

        reach = [falling(t) * tau * g for t in range(rounds)]
        large, k = [0.0], [0.0]
        for t in range(rounds):
            large.append(math.sqrt(omega(t)) * (reach[t] + large[t]))
            k.append(math.sqrt(share) * large[-1])
        w = [PROBLEM.distance0]
        for t in range(rounds):
            eta = falling(t)
            a = 1 - mu * eta * (tau - eta * (tau - 1))
            u = (reach[t - 1] + k[t - 1]) ** 2 + k[t] ** 2 if t else 0.0
            rest = eta**2 * (tau**2 + tau - 1) * g**2 + 2 * eta * (tau - 1) * PROBLEM.heterogeneity
            rest += (1 + mu * (1 - eta)) * eta**2 * g**2 * tau * (tau - 1) * (2 * tau - 1) / 6
            sent = u * 0.02 * 650 / (4 * growing(t) ** 2)
            w.append(a * (w[t] + sent) + rest + 2 * reach[t] * k[t])
        expected = [w[t] + k[t] ** 2 for t in range(rounds + 1)]
        uplink = Uplink(variance=omega, share=share)
        found = bound(
            PROBLEM, rounds=rounds, tau=tau, eta=falling, q1=growing, eps=0.02, uplink=uplink
        )
        assert found == pytest.approx(expected, rel=1e-12)

    def test_without_variance_is_theorem_1(self) -> None:
        none = Uplink(variance=0.0, share=0.3)
        found = bound(PROBLEM, rounds=9, tau=2, eta=0.1, q1=2, eps=0.1, uplink=none)
        assert np.array_equal(found, bound(PROBLEM, rounds=9, tau=2, eta=0.1, q1=2, eps=0.1))

    @pytest.mark.parametrize("devices", [1, 8])
    @pytest.mark.parametrize("kept", [1.0, 0.8])
    def test_holds_for_a_quantizer_of_known_variance(self, devices: int, kept: float) -> None:
        """Mean of 400 runs. Replies keep 60 % of their entries, so omega is (1 - 0.6) / 0.6 exactly.

        So coarse a reply of one device breaks the bound of an exact uplink.
        """
        ran = Quadratic(devices=devices, up=0.6, down=kept).run(rounds=30)
        omega, sent = 0.4 / 0.6, (1 - kept) / kept
        problem = Problem(
            mu=1.0,
            smoothness=1.0,
            gradient_bound=math.sqrt(ran.largest_square),
            heterogeneity=0,
            dimension=20,
            distance0=ran.distance[0],
        )
        known = {"rounds": 30, "tau": 1, "eta": 0.5, "q1": 1, "eps": 4 * sent / 20}
        uplink = Uplink(variance=omega, share=1 / devices)
        limit = bound(problem, **known, uplink=uplink)  # pyright: ignore[reportArgumentType]
        assert np.all(ran.distance <= limit * (1 + 1e-12))
        exact = bound(problem, **known)  # pyright: ignore[reportArgumentType]
        assert devices > 1 or ran.distance[-1] > exact[-1]

    def test_what_is_kept_points_back(self) -> None:
        """The step of the proof: E<theta - theta*, k> = -E||k||^2, k the mean of the memories.

        Of 400 runs and 30 rounds; the tolerance is 5 standard deviations.
        """
        ran = Quadratic(devices=4, up=0.6, down=0.8).run(rounds=30)
        sums = ran.inner + ran.kept
        error = 5 * sums.std() / math.sqrt(sums.size)
        assert abs(sums.mean()) < error < ran.kept.mean() / 4

    def test_goes_to_zero_where_the_step_does(self) -> None:
        """Everything that is added is of the order of eta^2, the contraction of that of eta."""
        uplink = Uplink(variance=0.6, share=0.1)
        values = bound(
            PROBLEM,
            rounds=50_000,
            tau=1,
            eta=lambda t: 10 / (t + 10),
            q1=2,
            eps=1e-3,
            uplink=uplink,
        )
        assert values[50_000] < values[5000] / 5 < values[500] / 25

    def test_memory_that_grows_ends_in_infinity_not_in_an_error(self) -> None:
        grown = bound(
            PROBLEM,
            rounds=5000,
            tau=1,
            eta=1.0,
            q1=None,
            eps=0,
            uplink=Uplink(variance=2.0, share=0.1),
        )
        assert grown[-1] == math.inf
        assert not np.isnan(grown).any()
        assert np.all(np.diff(grown[np.isfinite(grown)][10:]) > 0)

    @pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf])
    def test_wrong_variance(self, bad: float) -> None:
        with pytest.raises(InputError, match="variance of Uplink must be finite and at least 0"):
            bound(
                PROBLEM, rounds=2, tau=1, eta=0.1, q1=1, eps=1, uplink=replace(EXACT, variance=bad)
            )

    @pytest.mark.parametrize("bad", [0.0, 1.1, math.nan])
    def test_wrong_share(self, bad: float) -> None:
        with pytest.raises(InputError, match=r"share of Uplink must be in \(0, 1\]"):
            Uplink(variance=1.0, share=bad)

    @given(x=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), levels=st.integers(1, 9))
    def test_relative_variance_is_lemma_1(self, x: list[float], levels: int) -> None:
        """Each entry half way between two levels: no other vector of this eps has more."""
        magnitudes = np.abs(x)
        low, step = magnitudes.min(), np.ptp(magnitudes) / levels
        up = (magnitudes - low) / step % 1 if step else np.zeros(len(x))
        exact = step**2 * np.sum(up * (1 - up))
        limit = relative_variance(eps(x), dimension=len(x), levels=levels)
        assert exact <= limit * np.sum(magnitudes**2) * (1 + 1e-9)


class TestLossBound:
    def test_is_half_the_smoothness_times_the_distance(self) -> None:
        distance = bound(PROBLEM, rounds=7, tau=2, eta=falling, q1=2, eps=0.1)
        loss = loss_bound(PROBLEM, rounds=7, tau=2, eta=falling, q1=2, eps=0.1)
        assert loss == pytest.approx(1.5 * distance)

    @pytest.mark.parametrize("q1", [1, 2, 5, None])
    @pytest.mark.parametrize("eta", [0.01, 0.3, 1])
    def test_closed_form_for_one_local_step(self, q1: int | None, eta: float) -> None:
        """Corollary 1, last line. It counts a quantized first broadcast, the theorem does not.

        With r = 1 - mu eta: L/2 r^T distance0 + L/2 (r eps d / (4 q1^2) + 1) (1 - r^T) eta G^2 / mu
        """
        mu, half, g2, e, d = (
            PROBLEM.mu,
            PROBLEM.smoothness / 2,
            PROBLEM.gradient_bound**2,
            0.05,
            650,
        )
        r, sent = 1 - mu * eta, 0.0 if q1 is None else e * d / (4 * q1**2)
        found = loss_bound(PROBLEM, rounds=50, tau=1, eta=eta, q1=q1, eps=e)
        for t in range(1, 51):
            paper = half * r**t * PROBLEM.distance0
            paper += half * (r * sent + 1) * (1 - r**t) * eta * g2 / mu
            first = half * r**t * eta**2 * g2 * sent
            assert found[t] == pytest.approx(paper - first, rel=1e-12)
            assert found[t] <= paper * (1 + 1e-12)


class TestProblem:
    @pytest.mark.parametrize("name", ["gradient_bound", "heterogeneity", "distance0"])
    @pytest.mark.parametrize("bad", [-1e-9, math.nan, math.inf])
    def test_wrong_constants(self, name: str, bad: float) -> None:
        with pytest.raises(InputError, match=f"{name} of Problem must be finite and at least 0"):
            wrong(name, bad)

    def test_wrong_curvature(self) -> None:
        for bad in (0.0, -1.0, math.nan, math.inf):
            with pytest.raises(InputError, match="mu of Problem must be positive and finite"):
                wrong("mu", bad)
        for bad in (0.1, -1.0, math.nan, math.inf):
            with pytest.raises(InputError, match=r"smoothness of Problem must be .* mu = 0\.2"):
                wrong("smoothness", bad)

    @pytest.mark.parametrize("bad", [0, -1, 2.5])
    def test_wrong_dimension(self, bad: float) -> None:
        with pytest.raises(InputError, match="dimension of Problem must be an int of at least 1"):
            wrong("dimension", bad)


def wrong(name: str, value: float) -> Problem:
    """PROBLEM with one field replaced."""
    return replace(PROBLEM, **{name: value})


@dataclass(frozen=True)
class Ran:
    """distance: mean of ||theta - theta*||^2; inner, kept: <theta - theta*, k> and ||k||^2 of every run."""

    distance: np.ndarray
    inner: np.ndarray
    kept: np.ndarray
    largest_square: float


@dataclass(frozen=True)
class Quadratic:
    """Algorithm 1 on F_m = ||theta||^2 / 2 with noisy gradients, step 0.5, 400 runs at once.

    Vectors lose entries at random and what is left is scaled up: unbiased, with a variance that is known.
    """

    devices: int
    up: float
    down: float
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def run(self, rounds: int) -> Ran:
        theta = np.full((400, 20), 0.2)
        theta_hat, memory = theta, np.zeros((self.devices, 400, 20))
        distance, inner, kept, largest = [], [], [], 0.0
        for t in range(rounds + 1):
            distance.append(np.mean(np.sum(theta**2, axis=1)))
            mean = memory.mean(axis=0)
            inner.append(np.sum(theta * mean, axis=1))
            kept.append(np.sum(mean**2, axis=1))
            theta_hat = theta_hat + self._sent(theta - theta_hat, self.down) if t else theta
            gradients = theta_hat + self.rng.standard_normal(memory.shape)
            largest = max(largest, np.mean(np.sum(gradients**2, axis=2)))
            wanted = memory - 0.5 * gradients
            replies = self._sent(wanted, self.up)
            memory = wanted - replies
            theta = theta_hat + replies.mean(axis=0)
        return Ran(np.array(distance), np.array(inner), np.array(kept), float(largest))

    def _sent(self, x: np.ndarray, part: float) -> np.ndarray:
        return x * (self.rng.random(x.shape) < part) / part
