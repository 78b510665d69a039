"""Memory that is used over and over.

By default the C library gives freed memory back to the system, and every training step asks for its
activations anew, page by page. A process that trains all day had better keep them.
"""

import ctypes
import sys

M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3
LARGEST = 1 << 25
"""The largest block that glibc lets one keep in the heap, 32 MB."""


def keep_freed_memory() -> None:
    """Let this process keep what it frees, where the C library can be told so (glibc)."""
    if not sys.platform.startswith("linux"):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGEST)
        mallopt(M_TRIM_THRESHOLD, 1 << 30)
        mallopt(M_TOP_PAD, 1 << 26)
