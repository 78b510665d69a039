"""The bits that dithered steps will take."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import natives, refuses

from lossyfl.kernels.dithered import expected_bits, step_for_bits
from lossyfl.kernels.native import reference


@given(seed=st.integers(0, 2**32 - 1), length=st.integers(1, 300), step=st.floats(1e-2, 1e4))
def test_same_bits_and_steps(seed: int, length: int, step: float) -> None:
    """What is left in the room is nobody's business."""
    rng = np.random.default_rng(seed)
    values = np.sort(rng.exponential(size=length))
    counts = rng.integers(0, 1000, (2, length))
    room = np.zeros((2, 3 + int(values[-1] / 1e-2)))
    bits = reference(expected_bits)(values, counts, step, room)
    wanted = reference(step_for_bits)(values, counts, bits, 1e-2, 1e4, 9, room)
    for native in natives(expected_bits):
        assert native(values, counts, step, room) == bits
    for native in natives(step_for_bits):
        assert native(values, counts, bits, 1e-2, 1e4, 9, room) == wanted


def test_arrays_that_do_not_fit() -> None:
    values, counts = np.array([1.0, 2.0]), np.ones((2, 2), np.int64)
    refuses(expected_bits, values, counts, 1.0, np.zeros(7))
    refuses(expected_bits, values, counts, 0.0, np.zeros(80))
    refuses(expected_bits, values, counts, -1.0, np.zeros(80))
    refuses(expected_bits, values, counts[0], 1.0, np.zeros(80))
    refuses(expected_bits, values[:0], counts[:, :0], 1.0, np.zeros(80))
    refuses(step_for_bits, values, counts[0], 9.0, 1.0, 2.0, 3, np.zeros(80))
    refuses(step_for_bits, values, counts, 9.0, 1e-9, 1e-8, 3, np.zeros(80))
    for native in natives(expected_bits):  # not in ascending order
        assert native(values[::-1].copy(), counts, 0.1, np.zeros(24)) == -1
