"""The paper's quantizer: kernel against reference, the settled corner cases, and Lemma 1."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats
from tests.helpers import f32

from lossyfl import InputError, Stochastic, stream
from lossyfl.quantizers.stochastic import reference
from lossyfl.types import Bounds, Quantized, Scale, UniformTable, Vector
from lossyfl.wire.values import values
from lossyfl.wire.vectors import block_bounds

FALSE_ALARM = 1e-6
"""Every statistical test below fails by chance with at most this probability; seeds are fixed."""

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)
vectors = arrays(np.float32, st.integers(1, 300), elements=floats)
scales = st.one_of(st.just("model"), st.integers(1, 400))
levels = st.sampled_from([1, 2, 3, 5, 50, 127, 128, 1000, 32_767])


def laplace(entries: int, seed: int = 0) -> Vector:
    return np.random.default_rng(seed).laplace(size=entries).astype(np.float32)


def same(a: Quantized, b: Quantized) -> bool:
    tables_equal = np.array_equal(a.table.rows(0, a.table.blocks), b.table.rows(0, b.table.blocks))
    return (
        tables_equal
        and a.symbols.dtype == b.symbols.dtype
        and np.array_equal(a.symbols, b.symbols)
        and np.array_equal(np.asarray(a.counts), np.asarray(b.counts))
    )


class TestKernelAgainstReference:
    @given(x=vectors, q=levels, scale=scales, seed=st.integers(0, 2**64 - 1))
    def test_same_symbols_counts_and_table(
        self, x: Vector, q: int, scale: Scale, seed: int
    ) -> None:
        bounds = block_bounds(scale, len(x), None)
        rng = stream(seed)
        fast = Stochastic(levels=q, scale=scale).quantize(x, bounds, rng=rng)
        assert same(fast, reference(x, bounds, q, rng=rng))

    @pytest.mark.parametrize("entries", [4095, 4096, 4097, 300_001])
    @pytest.mark.parametrize("scale", ["model", 777, 100_000])
    @pytest.mark.parametrize("q", [2, 1000])
    def test_long_vectors_on_many_threads(self, entries: int, scale: Scale, q: int) -> None:
        x = laplace(entries)
        bounds = block_bounds(scale, entries, None)
        expected = reference(x, bounds, q, rng=stream(1))
        for threads in (1, 2, 3, 8):
            got = Stochastic(levels=q).quantize(x, bounds, rng=stream(1), threads=threads)
            assert same(got, expected)

    def test_blocks_of_unequal_tensors(self) -> None:
        x = laplace(10_000)
        bounds = block_bounds("tensor", len(x), (3, 0, 5000, 1, 4996))
        fast = Stochastic(levels=2, scale="tensor").quantize(x, bounds, rng=stream(2))
        assert same(fast, reference(x, bounds, 2, rng=stream(2)))


class TestSettledCases:
    """What PAPER leaves open and the module's docstring settles."""

    @staticmethod
    def of(x: list[float], q: int) -> Quantized:
        vector = np.array(x, dtype=np.float32)
        return Stochastic(levels=q).quantize(vector, np.array([0, len(x)]), rng=stream(0))

    def test_largest_magnitude_goes_to_the_top_level_with_certainty(self) -> None:
        for seed in range(200):
            x = laplace(50, seed)
            q = Stochastic(levels=7).quantize(x, np.array([0, 50]), rng=stream(seed))
            top = np.argmax(np.abs(x))
            assert values(q)[top] == x[top]

    def test_equal_magnitudes_are_exact(self) -> None:
        x = [0.3, -0.3, -0.3, 0.3]
        assert np.array_equal(values(self.of(x, 5)), f32(x))

    def test_zero_vector_is_exact_and_has_one_symbol(self) -> None:
        quantized = self.of([0.0, -0.0, 0.0], 2)
        assert np.array_equal(values(quantized), np.zeros(3))
        assert np.count_nonzero(np.asarray(quantized.counts)) == 1

    @pytest.mark.parametrize("value", [0.0, 1e-45, -3.4e38, 1.0])
    def test_single_entry_is_exact(self, value: float) -> None:
        assert values(self.of([value], 1))[0] == np.float32(value)

    def test_zero_minimum_needs_one_symbol_for_level_zero(self) -> None:
        assert self.of([0.0, 1.0, -2.0], 3).table.alphabet == 2 * 3 + 1

    def test_positive_minimum_needs_two_symbols_for_level_zero(self) -> None:
        assert self.of([0.5, 1.0, -2.0], 3).table.alphabet == 2 * 3 + 2

    def test_block_with_zero_minimum_sends_no_sign_at_level_zero(self) -> None:
        x = np.concatenate([laplace(500), np.tile(f32([0.0, -1e-9, 1e-9, 1.0]), 125)])
        bounds = np.array([0, 500, 1000])
        quantized = Stochastic(levels=2).quantize(x, bounds, rng=stream(3))
        assert quantized.table.alphabet == 6
        zeros = quantized.symbols[500:][values(quantized)[500:] == 0]
        assert set(zeros.tolist()) == {3}

    @pytest.mark.parametrize("scale", [1e-42, 1e-38, 1e30, 3e38])
    def test_extreme_scales_stay_on_the_grid(self, scale: float) -> None:
        x = (np.linspace(-1, 1, 101) * scale).astype(np.float32)
        got = values(Stochastic(levels=50).quantize(x, np.array([0, 101]), rng=stream(0)))
        step = np.float64(np.abs(x).max()) / 50
        assert np.all(np.abs(got.astype(np.float64) - x) <= 1.001 * step + 2e-45)


class TestLemmaOne:
    """E[Q(x)] = x and E||Q(x)||^2 <= ||x||^2 + eps d ||x||^2 / (4 q^2)."""

    DRAWS = 3000

    def draw(self, x: Vector, bounds: Bounds, q: int) -> NDArray[np.float64]:
        quantizer = Stochastic(levels=q)
        return np.array(
            [
                values(quantizer.quantize(x, bounds, rng=stream(5, round=t)))
                for t in range(self.DRAWS)
            ],
            dtype=np.float64,
        )

    @staticmethod
    def variance(x: Vector, bounds: Bounds, q: int) -> NDArray[np.float64]:
        """Per entry: step^2 f (1 - f), with f the distance to the level below in steps."""
        out = np.empty(len(x))
        for start, stop in pairwise(bounds):
            size = np.abs(x[start:stop].astype(np.float64))
            step = (size.max() - size.min()) / q
            part = (size - size.min()) / step
            part -= np.floor(part)
            out[start:stop] = step**2 * part * (1 - part)
        return out

    @pytest.mark.parametrize("q", [1, 2, 5])
    @pytest.mark.parametrize("scale", ["model", "tensor", 64])
    def test_mean_and_energy(self, scale: Scale, q: int) -> None:
        x = laplace(400)
        bounds = block_bounds(scale, len(x), (100, 280, 20))
        draws = self.draw(x, bounds, q)
        variance = self.variance(x, bounds, q)
        random = variance > 1e-12
        score = (draws.mean(axis=0) - x)[random] / np.sqrt(variance[random] / self.DRAWS)
        assert stats.chi2.sf(np.sum(score**2), random.sum()) > FALSE_ALARM
        assert stats.chi2.cdf(np.sum(score**2), random.sum()) > FALSE_ALARM

        energy = np.sum(draws**2, axis=1)
        expected = np.sum(x.astype(np.float64) ** 2) + variance.sum()
        error = energy.std() / np.sqrt(self.DRAWS)
        limit = stats.norm.isf(FALSE_ALARM / 2)
        assert abs(energy.mean() - expected) < limit * error

        bound = np.sum(x.astype(np.float64) ** 2)
        for start, stop in pairwise(bounds):
            size = np.abs(x[start:stop].astype(np.float64))
            eps = (size.max() - size.min()) ** 2 / np.sum(size**2)
            bound += eps * (stop - start) * np.sum(size**2) / (4 * q**2)
        assert expected <= bound
        assert energy.mean() <= bound + limit * error

    def test_a_biased_quantizer_would_be_caught(self) -> None:
        x = laplace(400)
        bounds = np.array([0, 400])
        draws = self.draw(x, bounds, 2) * 1.01
        variance = self.variance(x, bounds, 2)
        random = variance > 1e-12
        score = (draws.mean(axis=0) - x)[random] / np.sqrt(variance[random] / self.DRAWS)
        assert stats.chi2.sf(np.sum(score**2), random.sum()) < FALSE_ALARM


class TestStochastic:
    @pytest.mark.parametrize("q", [0, -1, 32_768, 2.0, "2", True, None])
    def test_levels_out_of_range(self, q: object) -> None:
        with pytest.raises(
            InputError, match=r"levels of Stochastic must be an int in \[1, 32767\]"
        ):
            Stochastic(levels=q)  # type: ignore[arg-type]

    @pytest.mark.parametrize("scale", ["layer", 0, -5, 2**32, 1.5, True, None])
    def test_unknown_scale(self, scale: object) -> None:
        with pytest.raises(InputError, match="scale of Stochastic must be"):
            Stochastic(scale=scale)  # type: ignore[arg-type]

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("threads", [1, 2])
    def test_first_bad_entry_is_named(self, bad: float, threads: int) -> None:
        x = laplace(200_000)
        x[123_456] = x[150_000] = bad
        with pytest.raises(InputError, match=f"entry 123456 of the vector .* got {bad}"):
            Stochastic().quantize(x, np.array([0, len(x)]), rng=stream(0), threads=threads)

    def test_nominal_bits_are_the_papers(self) -> None:
        """R_Q = 64 + d (1 + log2(q + 1)): for q = 3 that is 64 + 3 d."""
        assert Stochastic(levels=3).nominal_bits(1000, 1) == 64 + 3000

    def test_ladder_has_exact_ends(self) -> None:
        low, high = f32([0.1]), f32([0.7])
        row = UniformTable(low=low, high=high, alphabet=8).rows(0, 1)[0]
        assert row[4] == low[0]
        assert row[7] == high[0]
        assert np.array_equal(row, -row[::-1])
