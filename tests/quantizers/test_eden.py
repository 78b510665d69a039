"""EDEN against its definition, and against what its paper says of long vectors."""

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import InputError, decode, encode, quantizer, stream
from lossyfl.quantizers.eden import lloyd_max, lloyd_max_error
from lossyfl.types import Vector
from lossyfl.wire.rotation import rotate

ENTRIES = 2**15


def nmse(x: Vector, spec: str, seed: int = 0) -> float:
    error = decode(encode(x, quantizer(spec), rng=stream(seed))).astype(np.float64) - x
    return float(error @ error / np.square(x, dtype=np.float64).sum())


@pytest.mark.parametrize("bits", [1, 2, 4])
def test_symbols_are_the_nearest_values(bits: int) -> None:
    x, rng = laplace(3000), stream(5)
    made = quantizer(f"eden:bits={bits}").quantize(x, np.array([0, len(x)]), rng=rng)
    z = rotate(x, rng.a).astype(np.float64)
    distance = np.abs(z[:, None] / z.std() - lloyd_max(bits))
    chosen = distance[np.arange(len(z)), made.symbols]
    assert chosen == pytest.approx(distance.min(axis=1), abs=1e-3)  # z.std() has its mean taken off


@pytest.mark.parametrize("bits", [1, 2, 3, 4])
def test_errors_are_those_of_normal_entries(bits: int) -> None:
    """D / (1 - D) and D, whatever the entries were before the rotation: here with heavy tails."""
    x = np.random.default_rng(1).standard_t(3, size=ENTRIES).astype(np.float32)
    best = lloyd_max_error(bits)
    assert nmse(x, f"eden:bits={bits}") == pytest.approx(best / (1 - best), rel=0.05)
    assert nmse(x, f"eden:bits={bits},aim=least-error") == pytest.approx(best, rel=0.05)


def test_values_are_the_means_of_their_cells() -> None:
    """What Lloyd and Max ask for; a million draws, so that 0.01 is more than five deviations."""
    draws = np.random.default_rng(2).normal(size=1_000_000)
    values = lloyd_max(3)
    cells = np.searchsorted((values[1:] + values[:-1]) / 2, draws)
    means = [draws[cells == each].mean() for each in range(len(values))]
    assert means == pytest.approx(values, abs=0.01)


def test_a_scale_a_block_follows_the_blocks() -> None:
    """A rotation makes all blocks alike, so their scales hardly differ and cost bytes for nothing."""
    x = laplace(ENTRIES)
    assert nmse(x, "eden:scale=4096") == pytest.approx(nmse(x, "eden"), rel=0.05)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("eden:bits=0", r"bits of Eden must be an int in \[1, 8\], got 0"),
        ("eden:bits=true", r"bits of Eden must be an int in \[1, 8\], got True"),
        ("eden:aim=least", 'aim of Eden must be "unbiased" or "least-error", got least'),
        ("eden:scale=tensor", "a rotated vector has no tensors, got tensor"),
    ],
)
def test_what_it_refuses(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        quantizer(spec)


def test_what_a_rotation_would_make_infinite_is_refused() -> None:
    with pytest.raises(InputError, match="entries of Eden must be small enough to be rotated"):
        encode(np.full(64, 3e38, dtype=np.float32), quantizer("eden"), rng=stream(0))
