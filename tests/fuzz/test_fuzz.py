"""A bounded part of `make fuzz`."""

from tests.fuzz.fuzz_decode import fuzz


def test_twenty_thousand_mutated_frames() -> None:
    outcome = fuzz(20_000, seed=1)
    assert outcome.refused > 15_000
    assert outcome.decoded > 100
    assert len(outcome.reasons) > 12
