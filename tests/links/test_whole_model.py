"""The model itself in every round: both ends hold what the carrier carried."""

import pytest
from tests.helpers import laplace

from lossyfl import FrameMeta, Kind, Stochastic, decode, stream
from lossyfl.compressors import Schedule, SendContext
from lossyfl.errors import InputError
from lossyfl.links import Direct, ErrorFeedback, Link, Lossless, Tracked, WholeModel
from lossyfl.links.lossless import NoState
from lossyfl.links.state import arrays_of
from lossyfl.types import Vector

COARSE = Schedule.constant(Stochastic(levels=2))


@pytest.mark.parametrize(
    "carrier", [Lossless(), Direct(compressor=COARSE), ErrorFeedback(compressor=COARSE)], ids=str
)
def test_the_newest_frame_is_all_that_is_needed(carrier: Link[object]) -> None:
    link = WholeModel(carrier=carrier)
    state = link.init(laplace(300))
    for t in range(4):
        meta = FrameMeta(kind=Kind.MODEL, round=t)
        sent = link.send(
            laplace(300, seed=t), state, SendContext(meta=meta, rng=stream(1, round=t))
        )
        state = sent.state
        _, late = link.receive(sent.frame, link.init(laplace(300, seed=99)))
        assert state.estimate.tobytes() == decode(sent.frame).tobytes() == late.estimate.tobytes()


def test_what_the_carrier_has_at_hand_is_not_decoded() -> None:
    class Deaf(Direct):
        def receive(self, frame: bytes, state: NoState) -> tuple[Vector, NoState]:
            raise AssertionError(frame, state)

    x, meta = laplace(300), FrameMeta(kind=Kind.MODEL)
    link = WholeModel(carrier=Deaf(compressor=COARSE))
    sent = link.send(x, link.init(x), SendContext(meta=meta, rng=stream(1)))
    assert sent.state.estimate.tobytes() == decode(sent.frame).tobytes()


def test_its_state_has_the_names_of_the_carriers() -> None:
    """As older versions wrote them."""
    kept = WholeModel(carrier=ErrorFeedback(compressor=COARSE))
    assert list(arrays_of(kept.init(laplace(3)))) == ["estimate", "memory"]
    assert list(arrays_of(WholeModel(carrier=Lossless()).init(laplace(3)))) == ["estimate"]


def test_two_vectors_of_one_name_are_no_state() -> None:
    twice = WholeModel(carrier=Tracked(compressor=COARSE))
    with pytest.raises(InputError, match="fields of WholeState must be of different names"):
        arrays_of(twice.init(laplace(3)))
