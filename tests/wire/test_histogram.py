"""Counting symbols."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.types import symbol_type
from lossyfl.wire.histogram import Tally, count


@given(
    alphabet=st.integers(2, 700),
    pieces=st.lists(st.integers(0, 40), max_size=5),
    seed=st.integers(0, 10**6),
)
def test_tally_equals_the_plain_count(alphabet: int, pieces: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = [rng.integers(0, alphabet, n).astype(symbol_type(alphabet)) for n in pieces]
    tally = Tally(alphabet)
    for part in parts:
        tally.add(part)
    whole = np.concatenate([np.zeros(0, symbol_type(alphabet)), *parts])
    assert np.array_equal(tally.counts(), count(whole, alphabet))


def test_runs_of_one_symbol() -> None:
    tally = Tally(5)
    tally.add(np.full(100_003, 4, dtype=np.uint8))
    assert tally.counts().tolist() == [0, 0, 0, 0, 100_003]
