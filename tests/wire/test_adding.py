"""Adding frames to a sum."""

import math
import tracemalloc

import numpy as np
import pytest
from tests.helpers import laplace, sample_frame

from lossyfl import FrameError, Quantizer, Rotated, Stochastic, decode, encode, stream
from lossyfl.kernels.native import reference
from lossyfl.wire import adding
from lossyfl.wire.adding import Plain, open_addend

QUANTIZERS: list[Quantizer] = [
    Stochastic(levels=1),
    Stochastic(levels=2),
    Stochastic(levels=5),
    Stochastic(levels=50),
    Stochastic(levels=1000),
    Stochastic(levels=2, scale=64),
    Rotated(inner=Stochastic(levels=20)),
]


@pytest.mark.parametrize("quantizer", QUANTIZERS, ids=str)
@pytest.mark.parametrize("entries", [1, 2, 10, 5000])
def test_the_same_bits_as_decode_and_add(quantizer: Quantizer, entries: int) -> None:
    total = laplace(entries, seed=1)
    expected = total.copy()
    for t, weight in enumerate((1, 30, 1500)):
        frame = encode(laplace(entries, seed=t), quantizer, rng=stream(t))
        open_addend(frame).terms.add_to(total, weight)
        expected += np.float32(weight) * decode(frame)
    assert total.tobytes() == expected.tobytes()


@pytest.mark.parametrize("quantizer", [*QUANTIZERS, Stochastic(levels=9, scale=1)], ids=str)
@pytest.mark.parametrize("entries", [1, 2, 10, 4999, 5000, 5001])
def test_energy_is_that_of_the_vector(quantizer: Quantizer, entries: int) -> None:
    frame = encode(laplace(entries), quantizer, rng=stream(0))
    expected = math.fsum(np.square(decode(frame).astype(np.float64)))
    assert open_addend(frame).terms.energy(entries) == pytest.approx(expected, rel=1e-12)


def test_energy_has_the_bits_of_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """One addition after the other, as written: so it is the same on every machine."""
    quantizers = (Stochastic(levels=2), Stochastic(levels=3, scale=64), Stochastic(levels=2000))
    terms = [open_addend(encode(laplace(5003), q, rng=stream(0))).terms for q in quantizers]
    terms.append(Plain(vector=laplace(5003)))
    compiled = [each.energy(5003).hex() for each in terms]
    for name in ("sum_of_squares", "sum_looked_up", "sum_rows"):
        monkeypatch.setattr(adding, name, reference(getattr(adding, name)))
    assert [float(each.energy(5003)).hex() for each in terms] == compiled


def test_blocks_are_added_without_a_vector() -> None:
    frame = encode(laplace(200_000), Stochastic(levels=2, scale=1000), rng=stream(0))
    total = np.zeros(200_000, np.float32)
    open_addend(frame).terms.add_to(total, 1)  # compiled
    tracemalloc.start()
    open_addend(frame).terms.add_to(total, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * len(total)  # symbols, letters and words; a vector would be four bytes more


def test_a_bad_frame_is_noticed_before_anything_is_added() -> None:
    frame = sample_frame()
    with pytest.raises(FrameError):
        open_addend(frame[:-1])
    with pytest.raises(FrameError, match="1 to 100 entries"):
        open_addend(frame, max_entries=100)
