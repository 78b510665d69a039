"""Bounded parts of `make fuzz`."""

import numpy as np
import pytest
from tests.fuzz import fuzz_grammar
from tests.fuzz.fuzz_decode import fuzz
from tests.fuzz.grammar import FAULTS


def test_twenty_thousand_mutated_frames() -> None:
    outcome = fuzz(20_000, seed=1)
    assert outcome.refused > 15_000
    assert outcome.decoded > 100
    assert len(outcome.reasons) > 12


def test_no_frame_of_the_grammar_decodes_to_anything_but_finite_floats() -> None:
    outcome = fuzz_grammar.fuzz(seed=1, numbers=range(5000))
    assert outcome.findings == []
    assert outcome.right > 2500
    assert len(outcome.refused) > 35


def test_the_grammar_makes_every_fault() -> None:
    made = {name for n in range(2000) for name in fuzz_grammar.made(2, n).faults}
    assert made == set(FAULTS)


def test_a_value_that_is_not_finite_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def to_nan(*_: object, **__: object) -> object:
        return np.array([np.nan], dtype=np.float32)

    monkeypatch.setattr(fuzz_grammar, "decode", to_nan)
    outcome = fuzz_grammar.fuzz(seed=1, numbers=range(20))
    assert len(outcome.findings) == 20
    assert "seed 1, frame 7, faults" in outcome.findings[7]
    assert fuzz_grammar.made(1, 7).frame.hex() in outcome.findings[7]
