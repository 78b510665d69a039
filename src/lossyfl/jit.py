"""The one way in which lossyfl compiles a kernel."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba  # pyright: ignore[reportMissingTypeStubs]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile `function` with numba: cached on disk, free of the GIL, plain IEEE arithmetic.

    No fast-math: results must be the same to the bit on every machine. With
    `NUMBA_DISABLE_JIT=1` the same source runs as ordinary Python. Where nothing can be written, neither
    beside the source nor in the user's cache nor in $NUMBA_CACHE_DIR, every process compiles anew.
    """
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)  # pyright: ignore
    except RuntimeError:  # no place for a cache
        return numba.njit(nogil=True, error_model="numpy")(function)  # pyright: ignore
