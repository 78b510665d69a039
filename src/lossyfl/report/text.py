"""Numbers for people."""

import math
from collections.abc import Iterable

MISSING = "-"


def size(nbytes: float) -> str:
    """Bytes.

    >>> size(999), size(20_500), size(3_450_000)
    ('999 B', '20.5 kB', '3.45 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if nbytes < 999.5:
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{_three(nbytes)} {unit}"
        nbytes /= 1000
    return f"{nbytes:.4g} TB"


def size_down(nbytes: float, catch_up: float) -> str:
    """Bytes sent down, and how many of them were to catch up, if any were.

    >>> size_down(1_200_000, 400_000), size_down(999, 0)
    ('1.20 MB, of which catch-up 400 kB', '999 B')
    """
    return f"{size(nbytes)}, of which catch-up {size(catch_up)}" if catch_up else size(nbytes)


def rate(bits: float) -> str:
    """Bits per second.

    >>> rate(250_000), rate(3.2e9)
    ('250 kbit/s', '3.20 Gbit/s')
    """
    for unit in ("bit/s", "kbit/s", "Mbit/s", "Gbit/s"):
        if bits < 999.5:
            return f"{_three(bits)} {unit}"
        bits /= 1000
    return f"{_three(bits)} Tbit/s"


def limit(bits: float | None) -> str:
    """The rate below which something holds; None if it never does.

    >>> limit(250_000), limit(float("inf")), limit(None)
    ('250 kbit/s', 'any rate', '-')
    """
    if bits is None:
        return MISSING
    return "any rate" if math.isinf(bits) else rate(bits)


def duration(seconds: float) -> str:
    """Seconds.

    >>> duration(0.0042), duration(4.2), duration(75), duration(7300)
    ('4.2 ms', '4.2 s', '1:15 min', '2:01 h')
    >>> duration(0.9996), duration(59.97), duration(3599.9)
    ('1.0 s', '1:00 min', '1:00 h')
    """
    if seconds < 0.0995:
        return f"{1000 * seconds:.2g} ms"
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole // 60 % 60:02d} h"


def percent(value: float | None) -> str:
    """A fraction.

    >>> percent(0.9722), percent(None)
    ('97.22 %', '-')
    """
    return MISSING if value is None else f"{100 * value:.2f} %"


def times(value: float | None) -> str:
    """How many times fewer.

    >>> times(21.325), times(None)
    ('21.3x', '-')
    """
    return MISSING if value is None else f"{value:.1f}x"


def numbers(values: Iterable[int]) -> str:
    """Numbers in order, neighbours as ranges.

    >>> numbers([0, 1, 2, 5])
    '0-2, 5'
    """
    runs: list[list[int]] = []
    for value in sorted(values):
        if runs and value == runs[-1][-1] + 1:
            runs[-1][1:] = [value]
        else:
            runs.append([value])
    return ", ".join(MISSING.join(map(str, run)) for run in runs)


def _three(value: float) -> str:
    """Three digits, also if the last ones are zeros."""
    return f"{value:#.3g}".rstrip(".")
