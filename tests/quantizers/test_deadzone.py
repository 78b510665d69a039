"""The entropy-coded scalar quantizer against the limits of rate-distortion theory."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32

from lossyfl import decode, encode, inspect, quantizer, stream
from lossyfl.quantizers.deadzone import Deadzone
from lossyfl.quantizers.targets import Target
from lossyfl.types import Vector
from lossyfl.wire.vectors import block_bounds

ENTRIES = 400_000
# Bits an entry; the error of the best uniform quantizer with a dead zone on Laplacian entries.
LAPLACIAN = {0.25: 0.671, 0.5: 0.486, 1: 0.262, 1.585: 0.125, 2: 0.0729, 2.585: 0.0334, 3: 0.0190}


def nmse(x: Vector, frame: bytes) -> float:
    error = decode(frame).astype(np.float64) - x
    return float(error @ error / np.square(x, dtype=np.float64).sum())


@pytest.mark.parametrize("rate", LAPLACIAN)
def test_gaussian_within_half_of_the_limit(rate: float) -> None:
    x = np.random.default_rng(1).normal(size=ENTRIES).astype(np.float32)
    frame = encode(x, quantizer(f"deadzone:target={rate}bit"), rng=stream(0))
    bits = 8 * len(frame) / ENTRIES
    assert bits == pytest.approx(rate, rel=0.03)
    assert nmse(x, frame) <= 1.5 * 4**-bits


@pytest.mark.parametrize("rate", LAPLACIAN)
def test_laplacian_at_the_best_of_its_kind(rate: float) -> None:
    x = np.random.default_rng(2).laplace(size=ENTRIES).astype(np.float32)
    frame = encode(x, quantizer(f"deadzone:target={rate}bit"), rng=stream(0))
    assert 8 * len(frame) / ENTRIES == pytest.approx(rate, rel=0.01)
    assert nmse(x, frame) <= 1.05 * LAPLACIAN[rate]


def test_error_falls_as_the_rate_rises() -> None:
    x = np.random.default_rng(3).standard_t(4, size=50_000).astype(np.float32)
    frames = [encode(x, quantizer(f"deadzone:target={r}bit"), rng=stream(0)) for r in LAPLACIAN]
    errors = [nmse(x, frame) for frame in frames]
    assert errors == sorted(errors, reverse=True)
    assert [len(f) for f in frames] == sorted(len(f) for f in frames)


@pytest.mark.parametrize("small", [0.0, 0.01, 0.3])
def test_error_falls_where_there_are_two_magnitudes(small: float) -> None:
    """All entries of a magnitude go together or a part of them does: the better must win at every rate."""
    signs = np.random.default_rng(5).choice([-1, 1], size=20_000)
    x = (np.where(np.arange(20_000) % 10 < 3, 1, small) * signs).astype(np.float32)
    rates = np.linspace(0.1, 1.3, 25)
    errors = [
        nmse(x, encode(x, quantizer(f"deadzone:target={r}bit"), rng=stream(0))) for r in rates
    ]
    assert all(b <= a * 1.01 for a, b in pairwise(errors))


@pytest.mark.parametrize("spec", ["target=5B", "target=2kB,scale=64"])
def test_what_is_too_little_is_the_smallest_frame(spec: str) -> None:
    x = np.random.default_rng(6).laplace(size=100_000).astype(np.float32)
    frame = encode(x, quantizer(f"deadzone:{spec}"), rng=stream(0))
    assert len(frame) < (100 if "scale" not in spec else 6500)  # scales take 6,252 B


def test_one_step_for_all_tensors_is_how_water_fills() -> None:
    """Tensors far below the level get nothing, others half a bit for every doubling of their variance."""
    rng = np.random.default_rng(4)
    deviations, each = [0.01, 1.0, 2.0, 4.0], 100_000
    x = np.concatenate([d * rng.normal(size=each) for d in deviations]).astype(np.float32)
    bounds = np.array([0, len(x)])
    made = quantizer("deadzone:target=1.5bit").quantize(x, bounds, rng=stream(0))
    rates = []
    for part in np.split(made.symbols, len(deviations)):
        share = np.bincount(part) / each
        rates.append(float(-(share[share > 0] * np.log2(share[share > 0])).sum()))
    assert rates[0] == 0
    assert np.diff(rates)[1:] == pytest.approx([1, 1], abs=0.15)
    # Against as many bits for every tensor: a smaller error in all.
    equal = encode(
        x, quantizer("deadzone:target=1.5bit,scale=tensor"), rng=stream(0), tensors=[each] * 4
    )
    filled = encode(x, quantizer("deadzone:target=1.5bit"), rng=stream(0))
    assert nmse(x, filled) < 0.9 * nmse(x, equal)


@given(st.integers(0, 1000), st.floats(0.05, 4), st.sampled_from(["model", 100]))
def test_what_the_bins_promise_is_what_comes(seed: int, rate: float, scale: object) -> None:
    """Counts, told from the bins alone, are those of the symbols."""
    x = np.random.default_rng(seed).standard_t(3, size=3000).astype(np.float32)
    chosen = quantizer(f"deadzone:target={rate}bit,scale={scale}")
    made = chosen.quantize(x, block_bounds(chosen.scale, len(x), None), rng=stream(0))
    assert made.counts is not None
    assert (np.bincount(made.symbols, minlength=len(made.counts)) == made.counts).all()


def test_cells_without_entries_are_not_sent() -> None:
    x = f32([0.0] * 1000 + [1.0, -1.0] * 10 + [1000.0])
    frame = encode(x, quantizer("deadzone:target=2bit"), rng=stream(0))
    assert inspect(frame).alphabet <= 5
    assert nmse(x, frame) < 1e-6


@pytest.mark.parametrize("name", ["deadzone", "topk", "sparse_ternary", "deadzone:target=8bit"])
def test_the_largest_floats(name: str) -> None:
    x = np.random.default_rng(7).normal(size=1000).astype(np.float32)
    x[3] = np.finfo(np.float32).max
    assert decode(encode(x, quantizer(name), rng=stream(0)))[3] > 1e37


@pytest.mark.parametrize("name", ["topk:keep=0.01", "sparse_ternary:keep=0.01", "deadzone"])
def test_zeros_stay_zero(name: str) -> None:
    x = np.zeros(1000, np.float32)
    x[[7, 500]] = 1, -2
    decoded = decode(encode(x, quantizer(name), rng=stream(0)))
    assert np.flatnonzero(decoded).tolist() == [7, 500]


@pytest.mark.parametrize("rate", [1, 4, 8])
def test_one_outlier_does_not_empty_a_budget(rate: int) -> None:
    x = np.random.default_rng(9).normal(size=50_000).astype(np.float32)
    x[11] = 1e5
    frame = encode(x, quantizer(f"deadzone:target={rate}bit"), rng=stream(0))
    assert 0.97 * rate <= 8 * len(frame) / len(x) <= 1.01 * rate


def test_a_text_is_read_once() -> None:
    assert Deadzone(target="2kB") == Deadzone(target=Target(bits=16_000))
    assert Deadzone(target="2kB").target == Target(bits=16_000)
    assert Deadzone() == Deadzone(target="1bit")


def test_nominal_bits_are_those_asked_for() -> None:
    assert quantizer("deadzone:target=0.5bit").nominal_bits(1000, 1) == 500
    assert quantizer("deadzone:target=2kB").nominal_bits(1000, 1) == 16_000
    assert quantizer("deadzone:target=nmse=0.1").nominal_bits(1000, 1) == 32_000
