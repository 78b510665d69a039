"""Merged updates of somebody who means harm, or is mistaken: refused, and the estimate stays."""

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import Delivery, Device, FrameError, FrameMeta, Kind, OutOfSync, scheme
from lossyfl.protocol.digests import digest
from lossyfl.types import Vector
from lossyfl.wire.frame import pack_raw

D = 50
STEP = np.float32(2.0**-8)
HELD = (np.round(laplace(D) / STEP) * STEP).astype(np.float32)
MOVE = (np.round(laplace(D, 1) / STEP) * STEP).astype(np.float32)
MOVED: Vector = (HELD + MOVE).astype(np.float32)
RIGHT = FrameMeta(kind=Kind.MERGED, round=9, since=4, digest=digest(HELD), result=digest(MOVED))


def device(spec: str = "lfl:grid=true") -> Device:
    made = Device(3, scheme(spec), tensors=(D,))
    trend = FrameMeta(kind=Kind.TREND, round=4, digest=digest(HELD))
    model = replace(trend, kind=Kind.MODEL)
    frames = [pack_raw(HELD, model)]
    if "predict" in spec:
        frames.insert(0, pack_raw(np.zeros_like(HELD), trend))
    made.receive(Delivery(frames=tuple(frames), accepted=-1))
    return made


def receive(made: Device, move: Vector, meta: FrameMeta) -> None:
    made.receive(Delivery(frames=(pack_raw(move, meta),), accepted=-1))


def test_the_right_one_is_taken_and_the_same_again_passed_over() -> None:
    made = device()
    for _ in range(2):
        receive(made, MOVE, RIGHT)
        assert made.held.round == 9
        assert made.estimate.tobytes() == MOVED.tobytes()


@pytest.mark.parametrize(
    "change",
    [{"digest": 1}, {"since": 3}, {"since": 5}],
    ids=["wrong base", "lag too long", "lag too short"],
)
def test_what_applies_to_another_estimate(change: dict[str, int]) -> None:
    made = device()
    with pytest.raises(OutOfSync):
        receive(made, MOVE, replace(RIGHT, **change))  # type: ignore[arg-type]
    assert made.estimate.tobytes() == HELD.tobytes()


@pytest.mark.parametrize(
    "move",
    [MOVE + STEP / 3, MOVE + np.float32(2**24) * STEP, np.zeros_like(MOVE)],
    ids=["off the grid", "beyond 2^24 steps", "nothing"],
)
def test_what_leads_elsewhere(move: Vector) -> None:
    made = device()
    with pytest.raises(FrameError, match=r"byte 37: expected an update that leads to [0-9a-f]{16}"):
        receive(made, move, RIGHT)
    assert made.estimate.tobytes() == HELD.tobytes()
    assert made.held.round == 4


def test_what_leaves_the_model_infinite() -> None:
    huge = np.full(D, 3e38, np.float32)
    made = Device(3, scheme("lfl:grid=true"))
    model = FrameMeta(kind=Kind.MODEL, round=4, digest=digest(huge))
    made.receive(Delivery(frames=(pack_raw(huge, model),), accepted=-1))
    with pytest.raises(FrameError, match="an update that leaves the model finite"):
        receive(made, huge, replace(RIGHT, digest=digest(huge)))


def test_of_another_length() -> None:
    short = Device(3, scheme("lfl:grid=true"))
    short.receive(
        Delivery(
            frames=(pack_raw(HELD, replace(RIGHT, kind=Kind.MODEL, round=4, since=0, result=0)),),
            accepted=-1,
        )
    )
    with pytest.raises(FrameError, match=r"byte 8: expected 50 entries, got 49"):
        receive(short, MOVE[:-1], RIGHT)


@pytest.mark.parametrize(
    "spec", ["lfl", "lean:predict=true", "lfl:compensate_server=true", "lgm", "lossless"]
)
def test_a_link_whose_updates_are_no_sums(spec: str) -> None:
    made = device(spec)
    with pytest.raises(FrameError, match="byte 4: expected no merged update"):
        receive(made, MOVE, RIGHT)
    assert made.estimate.tobytes() == HELD.tobytes()
