"""Plain data that server and devices remember, and hand over."""

import copy
from typing import Any

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import Device, InputError, Server, run_round, scheme
from lossyfl.protocol.states import ROUNDS, UNKNOWN, Delivery, DeviceState, check_number
from lossyfl.types import Vector


def local(m: int, theta_hat: Vector) -> Vector:
    return theta_hat + np.float32(m + 1)


class TestDelivery:
    @pytest.mark.parametrize("accepted", [UNKNOWN, -1, 0, ROUNDS - 1])
    def test_any_round_that_a_frame_can_name(self, accepted: int) -> None:
        delivery = Delivery(frames=(b"abc", b"defg"), accepted=accepted)
        assert delivery.nbytes == 7

    @pytest.mark.parametrize("accepted", [UNKNOWN - 1, ROUNDS, 1.0, True, None])
    def test_no_other(self, accepted: Any) -> None:  # noqa: ANN401
        with pytest.raises(InputError, match="accepted of a delivery must be a round in"):
            Delivery(frames=(), accepted=accepted)


@pytest.mark.parametrize("number", [0, (1 << 63) - 1])
def test_numbers_of_devices(number: int) -> None:
    check_number(number)


@pytest.mark.parametrize("number", [-1, 1 << 63, 1.0, True, "1", np.int64(1)])
def test_what_is_no_number_of_a_device(number: object) -> None:
    with pytest.raises(InputError, match=r"number of a device must be an int in \[0, 2\^63\)"):
        check_number(number)


def test_a_copy_is_left_alone_by_the_server_that_goes_on_from_it() -> None:
    """With a round open, everything that a server changes in place is there."""
    chosen = scheme("lfl")
    server = Server(laplace(50), chosen, samples={0: 1, 1: 2})
    devices = {m: Device(m, chosen) for m in (0, 1)}
    run_round(server, devices, local)
    server.open_round()
    for m in (0, 1):
        devices[m].receive(server.frames_for(m))
    state = server.state()
    kept, before = state.copied(), copy.deepcopy(state)
    server.restore(state)
    server.accept(1, devices[1].reply(local(1, devices[1].estimate)))
    server.accept(0, devices[0].reply(local(0, devices[0].estimate)))
    server.leave(1)
    for name in ("samples", "held", "accepted", "answered", "before", "waiting", "norms"):
        assert getattr(kept, name) == getattr(before, name), name
    assert kept.total.tobytes() == before.total.tobytes()


def test_a_new_device_holds_no_model() -> None:
    new = DeviceState()
    assert (new.round, new.estimate.size, new.replied, new.accepted) == (-1, 0, -1, -1)
    assert new.estimate is not DeviceState().estimate
