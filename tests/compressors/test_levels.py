"""The paper's q as a text."""

import pytest

from lossyfl import InputError, Stochastic
from lossyfl.compressors import Schedule
from lossyfl.compressors.adaptive import Adaptive
from lossyfl.compressors.by_eps import ByEps
from lossyfl.compressors.levels import leveled, levels


def test_numbers_steps_and_rules() -> None:
    assert leveled(3, "tensor") == Schedule.constant(Stochastic(levels=3, scale="tensor"))
    assert leveled("8@0/4@50", "model") == levels("8@0/4@50", "model")
    assert leveled("eps", 100) == Adaptive(rule=ByEps(), scale=100)


def test_a_rule_is_no_number() -> None:
    with pytest.raises(InputError, match="q of scheme must be a number, or levels"):
        levels("eps", "model")
    with pytest.raises(InputError, match="q of scheme must be a number, or levels"):
        leveled("", "model")
