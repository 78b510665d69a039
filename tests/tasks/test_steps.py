"""Step sizes as functions of the round."""

import pytest

from lossyfl import InputError
from lossyfl.tasks.steps import step


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        ("0.1", {0: 0.1, 999: 0.1}),
        ("0.1@0/0.01@50/0.001@90", {0: 0.1, 49: 0.1, 50: 0.01, 89: 0.01, 90: 0.001}),
        ("inverse:start=0.1,after=50", {0: 0.1, 50: 0.05, 150: 0.025}),
        ("exponential:start=0.1,rate=0.5", {0: 0.1, 1: 0.05, 3: 0.0125}),
        ("cosine:start=0.2,rounds=100", {0: 0.2, 50: 0.1, 100: 0.0, 200: 0.0}),
    ],
)
def test_values(spec: str, values: dict[int, float]) -> None:
    for t, value in values.items():
        assert step(spec).at(t) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "lr of local training must be a number"),
        ("1e", "lr of local training must be a number"),
        ("0.1@5", "lr of local training must be a number"),
        ("0.1@0/0.2@0", "lr of local training must be a number"),
        ("-0.1", "lr of local training must be a number > 0, got -0.1"),
        ("0", "lr of local training must be a number > 0"),
        ("nan", "lr of local training must be a number > 0, got nan"),
        ("cosin:start=1", r"did you mean cosine\?"),
        ("cosine:start=0.1", "options of cosine must be those that it takes and needs"),
        ("cosine:start=0.1,rounds=0", "rounds of cosine must be a number > 0"),
        ("inverse:start=high", "start of inverse must be a number > 0, got high"),
    ],
)
def test_errors(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        step(spec)
