"""What several schemes are put together from."""

import pytest

from lossyfl import InputError, scheme
from lossyfl.compressors import Rounded, Snapped
from lossyfl.compressors.levels import levels
from lossyfl.links import Gridded, Tracked
from lossyfl.protocol.parts import check_grid, check_snaps, first, tracked
from lossyfl.quantizers.dyadic import Dyadic
from lossyfl.quantizers.stochastic import Stochastic


def test_levels_of_either_kind() -> None:
    assert levels(3, "model").quantizers == (Stochastic(levels=3),)
    steps = levels("8@0/2@50", "tensor", kind=Dyadic)
    assert steps.at(49) == Dyadic(levels=8, scale="tensor")
    assert steps.at(50) == Dyadic(levels=2, scale="tensor")


def test_the_initial_model_is_on_the_grid_if_there_is_one() -> None:
    assert first(None) is None
    assert isinstance(first(None, grid=True), Rounded)
    assert isinstance(first("5bit", grid=True), Snapped)


def test_the_link_too() -> None:
    chosen = levels(2, "model")
    assert isinstance(tracked(chosen, grid=True), Gridded)
    assert isinstance(tracked(chosen, grid=False), Tracked)


def test_a_grid_goes_with_nothing_that_leaves_it() -> None:
    check_grid(True, "predict", False)
    check_grid(False, "predict", True)
    with pytest.raises(InputError, match="grid of scheme must be false with predict"):
        check_grid(True, "predict", True)
    with pytest.raises(InputError, match="grid of scheme must be true or false, got 1"):
        check_grid(1, "predict", False)  # type: ignore[arg-type]


@pytest.mark.parametrize("spec", ["deadzone", "topk", "sparse_ternary", "sign", "qsgd", "dyadic"])
def test_quantizers_with_values_that_can_be_chosen(spec: str) -> None:
    check_snaps(spec)


@pytest.mark.parametrize(
    "spec", ["dithered", "eden", "rotated+deadzone", "stochastic", "deadzone:scale=tensor"]
)
def test_quantizers_without(spec: str) -> None:
    with pytest.raises(InputError, match="quantizer of grid must be"):
        check_snaps(spec)


@pytest.mark.parametrize(
    "spec",
    [
        "lfl:grid=true,compensate_server=true", "lfl:grid=true,membership=full-model",
        "lean:grid=true,predict=true", "lean:grid=true,down=eden", "lean:grid=maybe",
    ],
)  # fmt: skip
def test_schemes_that_are_refused(spec: str) -> None:
    with pytest.raises(InputError):
        scheme(spec)


def test_the_defaults_are_those_of_before() -> None:
    assert isinstance(scheme("lfl").downlink, Tracked)
    assert isinstance(scheme("lean").downlink, Tracked)
    assert scheme("lfl:grid=false").spec == scheme("lfl").spec
