"""Small numbers as adaptive bits: inverse to itself, near what their chances allow, hostile bytes refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, natives

from lossyfl.kernels.native import reference
from lossyfl.kernels.numbers import (
    BIT_LOWEST,
    CHANCES,
    FAMILIES,
    FIRST_CHANCE,
    STATE,
    pop_numbers,
    push_numbers,
)

numbers = st.lists(
    st.one_of(st.integers(-3, 3), st.integers(-40, 40), st.integers(-(2**40) + 1, 2**40 - 1)),
    max_size=60,
)


def push(values: list[int], families: list[int], room: int = 2000) -> tuple[np.ndarray, int]:
    """The bytes, the same natively and by the reference."""
    *_, out, size = agree(
        push_numbers,
        np.array(values, np.int64),
        np.array(families, np.uint8),
        np.zeros(84 * len(values) + 1, np.uint32),
        np.zeros(room, np.uint8),
    )
    return out[len(out) - size :] if size >= 0 else out, size


def pop(
    data: np.ndarray, family: int, count: int, state: np.ndarray, chances: np.ndarray
) -> list[int]:
    """The next numbers; state and chances go on."""
    *_, values, result = agree(pop_numbers, data, state, chances, family, np.zeros(count, np.int64))
    if result == 0:
        reference(pop_numbers)(data, state, chances, family, np.zeros(count, np.int64))
        return values.tolist()
    return []


def start(data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    state = np.zeros(STATE, np.int64)
    state[:2] = int.from_bytes(data[:3].tobytes(), "little"), 3
    return state, np.full(FAMILIES * CHANCES, FIRST_CHANCE, np.uint32)


@given(values=numbers, family=st.integers(0, FAMILIES - 1), cut=st.integers(0, 60))
def test_round_trip_of_two_families(values: list[int], family: int, cut: int) -> None:
    first, second = values[:cut], values[cut:]
    other = (family + 1) % FAMILIES
    data, size = push(values, [family] * len(first) + [other] * len(second))
    assert size >= 3
    state, chances = start(data)
    assert pop(data, family, len(first), state, chances) == first
    assert pop(data, other, len(second), state, chances) == second
    assert state[0] == BIT_LOWEST
    assert state[1] == len(data)


def test_numbers_cost_little_once_they_are_foreseen() -> None:
    """A thousand zeros and ten ones: 17 bytes, where 1,010 bits of even chances are 127."""
    _, size = push(([0] * 100 + [1]) * 10, [0] * 1010)
    assert size < 20


@given(data=st.binary(max_size=40), count=st.integers(0, 30), family=st.integers(-1, FAMILIES))
def test_any_bytes_are_read_or_refused_alike(data: bytes, count: int, family: int) -> None:
    raw = np.frombuffer(data, np.uint8)
    state, chances = start(raw)
    agree(pop_numbers, raw, state, chances, family, np.zeros(count, np.int64))


@pytest.mark.parametrize("value", [2**40, -(2**40), 2**63 - 1, -(2**63)])
def test_numbers_beyond_40_bits_are_refused(value: int) -> None:
    assert push([value], [0])[1] == -1


def test_unknown_families_and_too_little_room_are_refused() -> None:
    assert push([1], [FAMILIES])[1] == -1
    assert push([1, 2], [0])[1] == -1
    assert push([12345] * 30, [0] * 30, room=20)[1] == -1
    arguments = (
        np.array([7] * 9),
        np.zeros(9, np.uint8),
        np.zeros(10, np.uint32),
        np.zeros(99, np.uint8),
    )
    assert {each(*arguments) for each in (reference(push_numbers), *natives(push_numbers))} == {-1}


@pytest.mark.parametrize(
    ("x", "at"), [(BIT_LOWEST - 1, 3), (BIT_LOWEST << 8, 3), (BIT_LOWEST, -1), (BIT_LOWEST, 9)]
)
def test_impossible_states_are_refused(x: int, at: int) -> None:
    state, chances = start(np.zeros(5, np.uint8))
    state[:2] = x, at
    *_, result = agree(pop_numbers, np.zeros(5, np.uint8), state, chances, 0, np.zeros(1, np.int64))
    assert result == -1
