"""Subtractive dither to a target: the step is found from bins, and what was drawn keeps to it."""

import numpy as np
import pytest

from lossyfl import quantizer, stream
from lossyfl.quantizers.dithered import size
from lossyfl.types import Vector


def vector(kind: str, entries: int) -> Vector:
    rng = np.random.default_rng(5)
    made = {
        "laplace": rng.laplace(size=entries),
        "spike": np.append(1e-6 * rng.normal(size=entries - 1), 1.0),
        "zeros": np.zeros(entries),
        "tiny": 1e-42 * rng.normal(size=entries),
        "steps": rng.integers(-2, 3, size=entries),
    }
    return made[kind].astype(np.float32)


@pytest.mark.parametrize("kind", ["laplace", "spike", "zeros", "tiny", "steps"])
@pytest.mark.parametrize("entries", [1000, 100_000])
@pytest.mark.parametrize("rate", [0.25, 1.0, 4.0])
def test_symbols_and_tables_keep_to_the_target(kind: str, entries: int, rate: float) -> None:
    x = vector(kind, entries)
    quantize = quantizer(f"dithered:target={rate}bit").quantize
    made = quantize(x, np.array([0, entries]), rng=stream(2))
    assert made.counts is not None
    assert np.array_equal(made.counts, np.bincount(made.symbols, minlength=made.table.alphabet))
    assert size(made) <= rate * entries


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_the_target_is_used(rate: float) -> None:
    x = vector("laplace", 100_000)
    made = quantizer(f"dithered:target={rate}bit").quantize(x, np.array([0, len(x)]), rng=stream(2))
    assert size(made) >= 0.98 * rate * len(x)


def test_threads_change_nothing() -> None:
    x = vector("laplace", 300_000)
    one, two = (
        quantizer("dithered:target=1bit").quantize(
            x, np.array([0, 100_001, len(x)]), rng=stream(2), threads=threads
        )
        for threads in (1, 2)
    )
    assert np.array_equal(one.symbols, two.symbols)
    assert size(one) == size(two)
