"""Signs and mean magnitudes."""

import numpy as np
import pytest

from lossyfl import quantizer, stream
from lossyfl.types import Symbols, Vector


def signs(x: Vector, bounds: list[int]) -> tuple[Symbols, Vector]:
    made = quantizer("sign").quantize(x, np.array(bounds), rng=stream(0))
    assert made.counts is not None
    assert np.array_equal(made.counts, np.bincount(made.symbols, minlength=2))
    return made.symbols, made.table.rows(0, made.table.blocks)


@pytest.mark.parametrize("entries", [1, 7, 8, 9, 1000])
def test_signs_and_means_of_every_block(entries: int) -> None:
    x = np.random.default_rng(0).normal(size=3 * entries).astype(np.float32)
    bounds = [0, entries, 3 * entries]
    symbols, rows = signs(x, bounds)
    assert np.array_equal(symbols, x >= 0)
    means = [np.abs(part).mean(dtype=np.float64) for part in np.split(x, [entries])]
    assert np.allclose(rows[:, 1], means, rtol=1e-6)
    assert np.array_equal(rows[:, 0], -rows[:, 1])


def test_the_sum_has_one_order() -> None:
    """With the compiler off the mean must be the same to the bit: the parts are added one by one."""
    x = np.zeros(8, dtype=np.float32)
    x[:4] = 1, 2.0**-24, 2.0**-53, 2.0**-53
    _, rows = signs(x, [0, 8])
    assert rows[0, 1].view(np.uint32) == 0x3E000000
