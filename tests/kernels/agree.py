"""Every native version of a kernel against its reference, to the bit."""

from typing import Any

import numpy as np

from lossyfl.kernels.native import natives, reference

__all__ = ["agree", "cut", "natives", "refuses"]


def agree(kernel: Any, *arguments: Any) -> None:  # noqa: ANN401
    """Raise unless all versions return the same and leave the same in their arrays."""
    expected, left = _run(reference(kernel), arguments)
    for native in natives(kernel):
        result, own = _run(native, arguments)
        assert np.float64(result).tobytes() == np.float64(expected).tobytes()
        for array, wanted in zip(own, left, strict=True):
            assert array.tobytes() == wanted.tobytes()


def refuses(kernel: Any, *arguments: Any) -> None:  # noqa: ANN401
    """Raise unless all native versions return -1 and write nothing."""
    for native in natives(kernel):
        result, left = _run(native, arguments)
        assert result == -1
        given = [each for each in arguments if isinstance(each, np.ndarray)]
        assert all(a.tobytes() == b.tobytes() for a, b in zip(given, left, strict=True))


def _run(kernel: Any, arguments: tuple[Any, ...]) -> tuple[Any, list[Any]]:  # noqa: ANN401
    own = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    return kernel(*own), [each for each in own if isinstance(each, np.ndarray)]


def cut(entries: int, blocks: int, rng: np.random.Generator) -> np.ndarray:
    """Bounds of so many blocks, some of them perhaps empty."""
    inner = np.sort(rng.integers(0, entries + 1, blocks - 1))
    return np.array([0, *inner, entries], dtype=np.int64)
