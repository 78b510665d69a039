"""Every native version of a kernel against its reference, to the bit."""

from typing import Any

import numpy as np

from lossyfl.kernels.native import natives, reference

__all__ = ["agree", "cut", "natives", "refuses"]


def agree(kernel: Any, *arguments: Any, good: int | None = None) -> tuple[Any, ...]:  # noqa: ANN401
    """Call the reference and all native versions on copies: the same result and arrays, to the bit.

    Arrays of a failed call may hold anything. Returns the reference's arguments, as it left them, and the
    result.

    good: the only result that is no failure, instead of all that are not negative
    """
    result, expected = _run(reference(kernel), arguments)
    fine = result == good if good is not None else not result < 0  # NaN is fine
    for native in natives(kernel):
        other, left = _run(native, arguments)
        assert _exact(other) == _exact(result)
        if fine:
            assert all(a.tobytes() == b.tobytes() for a, b in _arrays(left, expected))
    return (*expected, result)


def refuses(kernel: Any, *arguments: Any) -> None:  # noqa: ANN401
    """Raise unless all native versions return -1 and write nothing."""
    for native in natives(kernel):
        result, left = _run(native, arguments)
        assert result == -1
        assert all(a.tobytes() == b.tobytes() for a, b in _arrays(left, arguments))


def _run(kernel: Any, arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401
    own = tuple(each.copy() if isinstance(each, np.ndarray) else each for each in arguments)
    return kernel(*own), own


def _arrays(some: tuple[Any, ...], others: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    pairs = zip(some, others, strict=True)
    return [(a, b) for a, b in pairs if isinstance(a, np.ndarray)]


def _exact(result: Any) -> int | bytes:  # noqa: ANN401
    whole = isinstance(result, int | np.integer)
    return int(result) if whole else np.float64(result).tobytes()


def cut(entries: int, blocks: int, rng: np.random.Generator) -> np.ndarray:
    """Bounds of so many blocks, some of them perhaps empty."""
    inner = np.sort(rng.integers(0, entries + 1, blocks - 1))
    return np.array([0, *inner, entries], dtype=np.int64)
