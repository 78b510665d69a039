"""What every registered quantizer must do; a new one is found here by its name."""

import numpy as np
import pytest
from tests.helpers import f32

from lossyfl import Quantizer, decode, encode, inspect, quantizer, stream
from lossyfl.quantizers import names
from lossyfl.rotation import padded_length
from lossyfl.types import Vector
from lossyfl.vectors import block_bounds
from lossyfl.wire.frame import values

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

pytestmark = [
    pytest.mark.parametrize("name", [*names(), *(f"rotated+{name}" for name in names())]),
    pytest.mark.parametrize("scale", ["model", "tensor", "64"]),
    pytest.mark.parametrize("x", VECTORS.values(), ids=VECTORS.keys()),
]


def build(name: str, scale: str) -> Quantizer:
    if name.startswith("rotated+") and scale == "tensor":
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
