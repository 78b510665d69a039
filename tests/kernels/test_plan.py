"""The encoder's plan, natively and by NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree

from lossyfl.kernels.counts import rounded, table_room, write_counts
from lossyfl.kernels.model import letters_of
from lossyfl.kernels.native import natives, reference
from lossyfl.kernels.plan import open_model, plan

counts = st.one_of(
    st.lists(st.integers(0, 9), min_size=2, max_size=400),
    st.lists(st.one_of(st.just(0), st.integers(1, 2**26)), min_size=2, max_size=300),
    st.lists(st.integers(0, 10**7), min_size=2, max_size=8),
).filter(any)


@given(counts=counts)
def test_same_plan(counts: list[int]) -> None:
    n = len(counts)

    def make() -> tuple[np.ndarray, ...]:
        table, frequencies = np.zeros(table_room(n), np.uint8), np.zeros(max(n, 256), np.uint64)
        return np.array(counts), np.zeros(n, np.uint64), table, frequencies, np.zeros(4, np.int64)

    arguments = make()
    reference(plan)(*arguments)
    group, _, _, size = arguments[-1].tolist()
    for version in natives(plan):
        others = make()
        assert version(*others) == 0
        assert others[-1].tolist() == arguments[-1].tolist()
        assert others[2][:size].tobytes() == arguments[2][:size].tobytes()
        used = letters_of(n, group) if group else n
        assert np.array_equal(others[3][:used], arguments[3][:used])


@given(counts=counts, group=st.integers(0, 8), cut=st.integers(0, 2), junk=st.binary(max_size=8))
def test_same_model(counts: list[int], group: int, cut: int, junk: bytes) -> None:
    n = len(counts)
    out = np.zeros(table_room(n), np.uint8)
    size = write_counts(rounded(np.array(counts)), out)
    data = np.concatenate([out[: size - cut], np.frombuffer(junk, np.uint8)])
    letters = max(letters_of(n, group), 1) if group else n
    agree(open_model, data, group, np.zeros(n, np.uint64), np.zeros(letters, np.uint64))


def test_impossible_counts_and_sizes_are_refused() -> None:
    def result(counts: list[int], n: int, room: int, frequencies: int, found: int) -> set[int]:
        arguments = (
            np.array(counts),
            np.zeros(n, np.uint64),
            np.zeros(room, np.uint8),
            np.zeros(frequencies, np.uint64),
            np.zeros(found, np.int64),
        )
        return {version(*arguments) for version in (reference(plan), *natives(plan))}

    assert result([5, 4], 2, 20, 256, 4) == {0}
    assert result([-5, 9], 2, 20, 256, 4) == {-1}
    assert result([0, 0], 2, 20, 256, 4) == {-1}
    assert result([2**62, 2**62], 2, 20, 256, 4) == {-1}
    assert result([5], 1, 20, 256, 4) == {-1}
    assert result([5, 4], 1, 20, 256, 4) == {-1}
    assert result([5, 4], 2, 0, 256, 4) == {-1}
    assert result([5, 4], 2, 20, 255, 4) == {-1}
    assert result([5, 4], 2, 20, 256, 3) == {-1}
