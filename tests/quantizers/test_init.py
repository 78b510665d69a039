"""Quantizers by name: all modules of the package are found, and any may be rotated."""

import pytest

from lossyfl import InputError, quantizer
from lossyfl.quantizers import adjustable_names, names
from lossyfl.quantizers.rotated import Rotated


def test_every_file_with_a_quantizer_is_found() -> None:
    known = {"stochastic", "deadzone", "dithered", "topk", "sparse_ternary", "sign", "eden", "qsgd"}
    assert known | {"natural"} <= set(names())
    assert names() == sorted(names())


def test_those_whose_size_can_be_set_are_found_by_what_they_do() -> None:
    assert {"deadzone", "dithered", "sparse_ternary", "topk"} <= set(adjustable_names())
    assert set(adjustable_names()) == {n for n in names() if hasattr(quantizer(n), "with_target")}


def test_a_prefix_rotates_any() -> None:
    assert quantizer("rotated+sign:scale=64") == Rotated(inner=quantizer("sign:scale=64"))
    with pytest.raises(InputError, match="name of quantizer must be one of"):
        quantizer("rotated+rotated+sign")
