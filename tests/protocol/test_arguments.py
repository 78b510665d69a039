"""What a server is given is checked before anything is built of it."""

from typing import Any

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import Device, InputError, Server, run_round, scheme
from lossyfl.protocol.arguments import check_arguments


def test_the_model_to_start_from_is_the_servers_own() -> None:
    given = laplace(6)
    start = check_arguments(given, scheme("lfl"), "all", None, (2, 4), 0, 1)
    given[0] += 1
    assert start.tobytes() == laplace(6).tobytes()


def test_the_scheme_is_asked_whether_it_can_send_such_a_model() -> None:
    chosen = scheme("lean:down_budget=300B")
    with pytest.raises(InputError, match="budget of the downlink must be"):
        check_arguments(laplace(6), chosen, "all", None, None, 0, 1)


def test_listen() -> None:
    with pytest.raises(InputError, match="listen of Server"):
        Server(laplace(5), scheme("lfl"), samples={}, listen="some")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"seed": -1}, "address of stream"),
        ({"seed": 0.5}, "address of stream"),
        ({"threads": 0}, "threads of the codec"),
        ({"log_bytes": -5}, "log_bytes of Server"),
        ({"tensors": (1, 2)}, "sum to 5"),
        ({"tensors": ((5, 2),)}, "sum to 5"),
        ({"tensors": ((-5, -1),)}, "shapes of 5 entries in all"),
        ({"tensors": ("ab",)}, "tensors of Server must be lengths or shapes"),
        ({"tensors": 5}, "tensors of Server must be lengths or shapes"),
        ({"scheme": "lfl"}, "scheme of Server must be a Scheme"),
        ({"samples": {"a": 1}}, "number of a device"),
        ({"samples": {True: 1}}, "number of a device"),
    ],
)
def test_wrong_arguments_are_refused_at_once(wrong: dict[str, Any], message: str) -> None:
    right: dict[str, Any] = {"scheme": scheme("lfl"), "samples": {0: 1}}
    with pytest.raises(InputError, match=message):
        Server(laplace(5), **(right | wrong))


@pytest.mark.parametrize("tensors", [(2, 3), np.array([2, 3]), [[2], (3, 1)], [(), (2, 2)]])
def test_tensors_are_lengths_or_shapes_of_any_kind(tensors: Any) -> None:  # noqa: ANN401
    chosen = scheme("lfl:scale=tensor")
    server = Server(laplace(5), chosen, samples={0: 1}, tensors=tensors)
    device = Device(0, chosen, tensors=tensors)
    run_round(server, {0: device}, lambda _, held: held + 1)
    assert len(server.theta) == 5


def test_theta_is_finite() -> None:
    with pytest.raises(InputError, match="theta of Server must be finite"):
        Server(np.full(3, np.inf, np.float32), scheme("lfl"), samples={})
