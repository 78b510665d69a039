"""The quantizer of a round."""

import pytest
from tests.helpers import laplace

from lossyfl import FrameMeta, InputError, Stochastic, encode, stream
from lossyfl.compressors import Schedule, SendContext
from lossyfl.quantizers.sign import Sign

FINE, COARSE = Stochastic(levels=64), Sign()


@pytest.mark.parametrize(("round", "chosen"), [(0, FINE), (4, FINE), (5, COARSE), (999, COARSE)])
def test_a_frame_is_the_rounds_quantizers(round: int, chosen: Stochastic | Sign) -> None:
    schedule, x = Schedule((0, 5), (FINE, COARSE)), laplace(3000)
    meta = FrameMeta(round=round)
    _, data = schedule.make(x, SendContext(meta=meta, rng=stream(1)))
    assert data == encode(x, chosen, rng=stream(1), meta=meta)
    assert schedule.at(round) is chosen


def test_a_constant_one_is_the_same_throughout() -> None:
    schedule = Schedule.constant(FINE)
    assert schedule.quantizers == (FINE,)
    assert {id(schedule.at(t)) for t in (0, 1, 10**9)} == {id(FINE)}
    assert not schedule.damped


@pytest.mark.parametrize(
    ("rounds", "quantizers"),
    [
        ((1,), (FINE,)),
        ((), ()),
        ((0, 5), (FINE,)),
        ((0,), (FINE, COARSE)),
        ((0, 5, 5), (FINE, COARSE, FINE)),
        ((0, 5, 3), (FINE, COARSE, FINE)),
    ],
)
def test_what_is_no_schedule(
    rounds: tuple[int, ...], quantizers: tuple[Stochastic | Sign, ...]
) -> None:
    with pytest.raises(
        InputError, match="rounds of Schedule must be rounds that rise from 0, each"
    ):
        Schedule(rounds, quantizers)
