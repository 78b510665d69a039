"""What every registered quantizer must do; a new one is found here by its name."""

import numpy as np
import pytest
from tests.helpers import f32

from lossyfl import InputError, Quantizer, decode, encode, inspect, quantizer, stream
from lossyfl.quantizers import names
from lossyfl.types import Vector
from lossyfl.wire.rotation import padded_length
from lossyfl.wire.values import values
from lossyfl.wire.vectors import block_bounds

VECTORS: dict[str, Vector] = {
    "zeros": np.zeros(100, np.float32),
    "one entry": f32([-2.5]),
    "two entries": f32([1.0, -3.0]),
    "constant": np.full(1000, 0.25, np.float32),
    "one spike": np.eye(1, 500, 77, dtype=np.float32)[0],
    "laplace": np.random.default_rng(0).laplace(size=5000).astype(np.float32),
    "tiny": np.random.default_rng(1).normal(scale=1e-40, size=300).astype(np.float32),
    "huge": np.random.default_rng(2).normal(scale=1e37, size=300).astype(np.float32),
}

ROTATES = "eden"
NAMES = [*names(), *(f"rotated+{name}" for name in names() if name != ROTATES)]

pytestmark = [
    pytest.mark.parametrize("name", NAMES),
    pytest.mark.parametrize("scale", ["model", "tensor", "64"]),
    pytest.mark.parametrize("x", VECTORS.values(), ids=VECTORS.keys()),
]


def build(name: str, scale: str) -> Quantizer:
    if name.startswith(("rotated+", ROTATES)) and scale == "tensor":
        pytest.skip("a rotated vector has no tensors")
    return quantizer(f"{name}:scale={scale}")


def test_frame_is_what_the_quantizer_said(name: str, scale: str, x: Vector) -> None:
    chosen = build(name, scale)
    lengths = (len(x) // 2, len(x) - len(x) // 2)
    bounds = block_bounds(chosen.scale, len(x), lengths)
    quantized = chosen.quantize(x, bounds, rng=stream(1))
    frame = encode(x, chosen, rng=stream(1), tensors=lengths)
    assert np.array_equal(decode(frame), values(quantized))
    assert np.isfinite(decode(frame)).all()


def test_same_address_same_bytes_on_any_threads(name: str, scale: str, x: Vector) -> None:
    chosen = build(name, scale)
    lengths = (len(x),)
    frames = {encode(x, chosen, rng=stream(2), tensors=lengths, threads=n) for n in (1, 2, 5)}
    assert len(frames) == 1


def test_input_is_not_changed(name: str, scale: str, x: Vector) -> None:
    before = x.copy()
    encode(x, build(name, scale), rng=stream(3), tensors=(len(x),))
    assert np.array_equal(x, before)


def test_counts_are_of_the_symbols_and_no_frame_exceeds_raw(
    name: str, scale: str, x: Vector
) -> None:
    frame = encode(x, build(name, scale), rng=stream(4), tensors=(len(x),))
    assert len(frame) <= 36 + 4 * len(x)
    info = inspect(frame)
    symbols = padded_length(len(x)) if info.rotated else len(x)
    assert info.coding == "raw" or sum(info.counts) == symbols


def test_nothing_that_is_not_finite(name: str, scale: str, x: Vector) -> None:
    chosen = build(name, scale)
    if name.startswith("rotated+"):
        pytest.skip("a rotation spreads it over all entries")
    for wrong in (np.nan, np.inf, -np.inf):
        bad = x.copy()
        bad[len(x) // 2] = wrong
        with pytest.raises(InputError, match=rf"entry {len(x) // 2} of the vector must be finite"):
            encode(bad, chosen, rng=stream(5), tensors=(len(x),))


def test_error_is_within_its_bound_in_the_mean(name: str, scale: str, x: Vector) -> None:
    chosen = build(name, scale)
    bound = chosen.error_bound(len(x))
    energy = float(np.square(x, dtype=np.float64).sum())
    if bound is None or not energy or name == ROTATES:
        pytest.skip("nothing is promised")
    tiny = np.abs(x).max() < 1e-37  # subnormal numbers have few digits
    errors = [
        float(np.square(decoded.astype(np.float64) - x).sum()) / energy
        for t in range(40)
        for decoded in [decode(encode(x, chosen, rng=stream(6, round=t), tensors=(len(x),)))]
    ]
    # One spike of 500 under a coarse random rounding has an error of a large spread: six deviations.
    slack = 6 * np.std(errors) / np.sqrt(len(errors)) + (0.05 if tiny else 1e-6)
    assert np.mean(errors) <= bound + slack


def test_mean_is_the_vector_where_it_says_so(name: str, scale: str, x: Vector) -> None:
    chosen = build(name, scale)
    if not chosen.unbiased or np.abs(x).max() < 1e-37:
        pytest.skip("biased, or too few digits")
    if name == ROTATES and len(x) < 64:
        pytest.skip("few entries do not look normal after Hadamard's rotation")
    draws = 100
    total, squares = np.zeros(len(x)), 0.0
    for t in range(draws):
        frame = encode(x, chosen, rng=stream(7, round=t), tensors=(len(x),))
        error = decode(frame).astype(np.float64) - x
        total += error
        squares += float(error @ error)
    # E||mean error||^2 = E||error||^2 / draws; three times that by chance in less than one of 10^6 for
    # vectors of many entries. EDEN is unbiased only over all rotations, not over Hadamard's: a small rest.
    rest = 0.002 * float(np.square(x, dtype=np.float64).sum()) if name == ROTATES else 0.0
    expected = squares / draws**2
    floor = 1e-12 * float(np.square(x, dtype=np.float64).sum())
    assert float(total @ total) / draws**2 <= (3 if len(x) > 10 else 25) * expected + rest + floor
