"""Options of schemes as Python has them."""

from typing import Any

import numpy as np
import pytest

from lossyfl import InputError, Stochastic, scheme
from lossyfl.protocol.options import with_options


def test_numbers_truth_values_and_quantizers() -> None:
    made = scheme("lean", down=Stochastic(levels=5), up_budget=5000, predict=True, damping=None)
    same = scheme("lean:down=stochastic(levels=5),up_budget=5000B,predict=true")
    assert made == same
    assert made.spec == same.spec
    four: Any = np.int64(4)
    assert scheme("lfl:q1=3", q2=four) == scheme("lfl:q1=3,q2=4")
    assert scheme("lean", down_budget="0.5bit") == scheme("lean:down_budget=0.5bit")
    assert with_options("mine:make", {}, {"keep": 0.5}) == "mine:make:keep=0.5"
    assert with_options("lfl", {}, {"q1": None}) == "lfl"


def test_nothing_is_said_twice() -> None:
    with pytest.raises(InputError, match="q1 of lfl:q1=3 must be given once"):
        scheme("lfl:q1=3", q1=2)
    with pytest.raises(InputError, match="option of lfl must be one of"):
        scheme("lfl", levels=2)
