"""Rates and times as people write them."""

import math
import re

from lossyfl.errors import InputError

RATES = {
    "bit": 1.0,
    "kbit": 1e3,
    "Mbit": 1e6,
    "Gbit": 1e9,
    "B/s": 8.0,
    "kB/s": 8e3,
    "MB/s": 8e6,
    "GB/s": 8e9,
}
"""Bits per second; the first four may also be written with /s."""

TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
"""Units of a latency, in seconds."""

_NUMBER = re.compile(r"\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*([A-Za-z/]*)\s*")


def rate(text: str, *, name: str) -> float:
    """Bits per second.

    >>> rate("250kbit", name="uplink"), rate("1 MB/s", name="uplink")
    (250000.0, 8000000.0)
    """
    units = RATES | {f"{unit}/s": factor for unit, factor in RATES.items() if "/" not in unit}
    value = _parse(text, units)
    if value is None or value <= 0:
        allowed = f"a number > 0 with one of {', '.join(RATES)}, like 250kbit"
        raise InputError(name, of="a report", allowed=allowed, got=text)
    return value


def seconds(text: str, *, name: str) -> float:
    """Seconds.

    >>> seconds("50ms", name="latency")
    0.05
    """
    value = _parse(text, TIMES)
    if value is None:
        allowed = f"a number >= 0 with one of {', '.join(TIMES)}, like 50ms"
        raise InputError(name, of="a report", allowed=allowed, got=text)
    return value


def _parse(text: str, units: dict[str, float]) -> float | None:
    """The number times its unit; None if it is not written that way."""
    match = _NUMBER.fullmatch(text)
    if match is None or match[2] not in units:
        return None
    value = float(match[1]) * units[match[2]]
    return value if math.isfinite(value) else None
