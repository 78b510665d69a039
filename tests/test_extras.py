"""Optional dependencies."""

import math

import pytest

from lossyfl import MissingExtra
from lossyfl.extras import require


def test_a_module_that_is_there() -> None:
    assert require("math", extra="sim") is math


def test_a_missing_module_names_the_command() -> None:
    with pytest.raises(
        MissingExtra, match=r"^nosuch is not installed: pip install 'lossyfl\[sim\]'$"
    ):
        require("nosuch.part", extra="sim")
