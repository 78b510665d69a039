"""Quantizers as texts, and back."""

from dataclasses import dataclass

import pytest

from lossyfl import InputError, Rotated, Stochastic, quantizer
from lossyfl.quantizers import names, spec_of
from lossyfl.quantizers.spelling import spelt


@pytest.mark.parametrize("name", names())
def test_texts_make_the_same_again(name: str) -> None:
    made = quantizer(name)
    assert quantizer(spec_of(made)) == made


def test_what_is_not_the_default_is_said() -> None:
    assert spec_of(Stochastic(levels=5, scale="tensor")) == "stochastic(levels=5,scale=tensor)"
    assert quantizer(spec_of(Rotated(inner=Stochastic(levels=50)))) == Rotated(
        inner=Stochastic(levels=50)
    )


@dataclass(frozen=True)
class Odd:
    inner: object = None


def test_own_ones_are_named_by_their_module() -> None:
    assert spelt(Odd(), None) == f"{__name__}:Odd"  # type: ignore[arg-type]
    with pytest.raises(InputError, match="option of a quantizer must be a number or a text"):
        spelt(Odd(inner=object()), None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="quantizer of a scheme must be a text, or a dataclass"):
        spelt(object(), None)  # type: ignore[arg-type]
