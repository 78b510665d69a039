"""Steps of the server."""

import numpy as np
import pytest
from tests.helpers import f32

from lossyfl import InputError
from lossyfl.protocol.optimizers import Adam, Momentum, PlainStep, optimizer


def test_plain_adds_the_update() -> None:
    step, _ = PlainStep().step(f32([1, 2]), PlainStep().init(2))
    assert step.tolist() == [1, 2]


def test_momentum_by_hand() -> None:
    """m = 1, then 0.5 * 1 + 1 = 1.5; steps are twice that."""
    chosen = Momentum(rate=2.0, beta=0.5)
    step, moments = chosen.step(f32([1]), chosen.init(1))
    assert step.tolist() == [2]
    step, _ = chosen.step(f32([1]), moments)
    assert step.tolist() == [3]


def test_adam_by_hand() -> None:
    """m = 0.5 * 2 = 1, v = 0.25 * 4 = 1: step = 0.1 * 1 / (1 + 1)."""
    chosen = Adam(rate=0.1, beta1=0.5, beta2=0.75, floor=1.0)
    step, moments = chosen.step(f32([2]), chosen.init(1))
    assert step == pytest.approx(0.05)
    assert moments.first.tolist() == [1]
    assert moments.second.tolist() == [1]
    assert step.dtype == np.float32


@pytest.mark.parametrize(
    ("name", "kind"), [("none", PlainStep), ("momentum", Momentum), ("adam", Adam)]
)
def test_by_name(name: str, kind: type) -> None:
    assert isinstance(optimizer(name), kind)


def test_options_by_text() -> None:
    assert optimizer("adam(beta1=0.5,beta2=0.95)", 0.002) == Adam(rate=0.002, beta1=0.5, beta2=0.95)
    assert optimizer("momentum:beta=0") == Momentum(beta=0)


@pytest.mark.parametrize("wrong", [{"rate": 0.0}, {"beta1": 1.0}, {"beta2": -0.1}, {"floor": 0.0}])
def test_wrong_values(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="of Adam must be"):
        Adam(**wrong)
