"""A kernel at every level of instructions, beside its reference."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lossyfl.kernels import native

LIBRARY_ONLY = pytest.mark.skipif(native.LIBRARY is None, reason="no native kernels here")


def same_everywhere(
    kernel: Callable[..., Any], make: Callable[[], tuple[Any, ...]], *, good: int | None = None
) -> tuple[Any, ...]:
    """Call the reference and every native version with new arguments: the same result and arrays, to the bit.

    Arrays of a failed call may hold anything. Returns the reference's arguments, as it left them, and the
    result.

    good: the only result that is no failure, instead of all that are not negative
    """
    arguments = make()
    result = native.reference(kernel)(*arguments)
    for version in native.natives(kernel):
        others = make()
        assert repr(version(*others)) == repr(result)
        if result == good if good is not None else not _failed(result):
            for ours, theirs in zip(others, arguments, strict=True):
                if isinstance(ours, np.ndarray):
                    assert ours.tobytes() == theirs.tobytes()
    return (*arguments, result)


def _failed(result: object) -> bool:
    return isinstance(result, int | float) and result < 0
