"""Nothing is looked for where rows and columns are alike, and found wherever they are not."""

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.helpers import rows_of_all_sizes

from lossyfl import encode, inspect, quantizer, stream
from lossyfl.wire.even import is_even
from lossyfl.wire.shapes import matrices_of

SHAPES = ((200, 20, 5), (200,), (100, 300))


def symbols(seed: int, busy: float = 0.1) -> NDArray[np.uint8]:
    """Of three or six letters, all in any place."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random(50_200) < busy, rng.integers(0, 5, 50_200), 2).astype(np.uint8)


def even(x: NDArray[np.uint8]) -> bool:
    shapes = matrices_of(SHAPES, len(x))
    assert shapes is not None
    return is_even(x, 5, shapes)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_drawn_alike_is_even(seed: int) -> None:
    assert even(symbols(seed))


@pytest.mark.parametrize("what", ["rows", "columns", "signs", "tensors"])
def test_differences_are_seen(what: str) -> None:
    x = symbols(0)
    second = x[20_200:].reshape(100, 300)
    if what == "rows":
        second[::2] = np.where(np.arange(300) % 3, 2, second[::2])
    elif what == "columns":
        second[::2, 150:] = 2
        second[1::2, 150:] = 2
    elif what == "signs":
        second[::2] = np.minimum(second[::2], 2)
    else:
        x[:20_000] = np.where(np.arange(20_000) % 3, x[:20_000], 2)
    assert not even(x)


def test_of_few_nothing_is_said() -> None:
    assert not even(symbols(0, busy=0.004))


def test_frames_of_even_symbols_are_as_without_shapes() -> None:
    rng, chosen = np.random.default_rng(0), quantizer("deadzone:target=1bit")
    x = rng.laplace(size=60_000).astype(np.float32)
    assert encode(x, chosen, rng=stream(0)) == encode(
        x, chosen, rng=stream(0), tensors=[(300, 200)]
    )
    busy = rows_of_all_sizes(300, 200).ravel()
    assert inspect(encode(busy, chosen, rng=stream(0), tensors=[(300, 200)])).classes > 1
