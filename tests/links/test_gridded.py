"""Updates on a grid: one frame does what many did, until an estimate has outgrown its grid."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32, laplace

from lossyfl import FrameMeta, Kind, scheme, stream
from lossyfl.compressors import Schedule, SendContext
from lossyfl.compressors.snapped import FINEST, power_above
from lossyfl.links import Gridded
from lossyfl.links.gridded import is_exact
from lossyfl.links.tracked import TrackedState
from lossyfl.quantizers.dyadic import Dyadic
from lossyfl.wire.codec import decode
from lossyfl.wire.frame import pack_raw
from lossyfl.wire.grid import step_of
from lossyfl.wire.header import read_header

D = 400
wide = st.floats(-(2.0**60), 2.0**60, width=32)


def context(t: int) -> SendContext:
    return SendContext(meta=FrameMeta(kind=Kind.UPDATE, round=t), rng=stream(1, round=t))


@pytest.mark.parametrize("spec", ["lfl:grid=true", "lean:grid=true,down_budget=120B"])
def test_the_sum_of_frames_does_what_they_did(spec: str) -> None:
    link = scheme(spec).downlink
    assert link.mergeable
    states, parts = [link.init(np.round(laplace(D) * 64) / np.float32(64))], []
    for t in range(30):
        sent = link.send(laplace(D, seed=t), states[-1], context(t))
        parts.append(decode(sent.frame))
        states.append(sent.state)
    for k in (2, 5, 29):
        total = np.sum(np.array(parts[-k:], dtype=np.float64), axis=0).astype(np.float32)
        meta = FrameMeta(kind=Kind.MERGED, round=30, since=30 - k)
        heard, after = link.receive(pack_raw(total, meta), states[-1 - k])
        assert heard.tobytes() == states[-1].estimate.tobytes()
        assert after.estimate.tobytes() == heard.tobytes()


def test_no_step_is_too_fine_for_the_estimate() -> None:
    """Else an update that hardly matters would leave no room above the grid."""
    link = scheme("lean:grid=true").downlink
    start = f32([1.5] * D)
    x = (start + 1e-6 * laplace(D)).astype(np.float32)
    sent = link.send(x, TrackedState(estimate=start), context(1))
    assert step_of(sent.state.estimate) >= FINEST * power_above(start) == 2.0**-19


def test_an_estimate_that_outgrows_its_grid_begins_anew() -> None:
    """A step of 2 makes 2^24 + 3 or 2^24 + 5 of 2^24 - 1, and both lie between two floats."""
    link = Gridded(compressor=Schedule.constant(Dyadic(levels=4)))
    start = f32([2**24 - 1, 1])
    sent = link.send(f32([2**24 + 4, 9]), link.init(start), context(1))
    heard, _ = link.receive(sent.frame, link.init(start))
    assert heard.tobytes() == sent.state.estimate.tobytes()
    assert read_header(sent.frame).meta.kind == Kind.MODEL
    assert heard.tolist() == [2**24, 0]  # steps are 2^11 from now on


@given(st.lists(st.tuples(wide, wide), min_size=1, max_size=9))
def test_exact_sums_are_told_from_rounded_ones(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs, dtype=np.float32).T
    exact = all(
        Fraction(x) + Fraction(y) == Fraction(float(np.float32(x) + np.float32(y)))
        for x, y in pairs
    )
    assert is_exact(a, b, a + b) == exact
