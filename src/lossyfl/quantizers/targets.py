"""How large, or how exact: "20kB", "0.5bit" an entry, or "nmse=0.1".

A size is of symbols and their tables. An error is relative, ||Q(x) - x||^2 / ||x||^2.
"""

import math
import re
from dataclasses import dataclass

from lossyfl.errors import InputError, OutOfReach

UNITS = {"bit": 1, "B": 8, "kB": 8_000, "MB": 8_000_000, "GB": 8_000_000_000}
ALLOWED = 'a size as "20kB", a rate as "0.5bit" an entry, or an error as "nmse=0.1"'
SLACK = 0.02
"""How far an error may miss what was asked for: magnitudes are known by bins, which have a width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One of the three; the others are None.

    bits: in all
    rate: bits an entry
    nmse: the relative error
    """

    bits: float | None = None
    rate: float | None = None
    nmse: float | None = None

    def bits_for(self, entries: int) -> float | None:
        """The bits for so many entries; None if the target is an error."""
        return self.bits if self.rate is None else self.rate * entries


def target(text: object, *, of: str, name: str = "target") -> Target:
    """The target that a text spells.

    >>> target("0.5bit", of="x").bits_for(100)
    50.0
    >>> target("20kB", of="x").bits_for(100)
    160000.0
    """
    found = re.fullmatch(r"(nmse=)?([-+.\d]+(?:e[-+]?\d+)?)\s*([A-Za-z]*)", str(text).strip())
    try:
        error, number, unit = found.groups() if found else (None, "", "")
        value = float(number)
    except ValueError:
        raise InputError(name, of=of, allowed=ALLOWED, got=text) from None
    if (error is None) != (unit in UNITS) or (error and unit):
        allowed = f'{ALLOWED} (did you mean "{number}{_near(unit)}"?)' if _near(unit) else ALLOWED
        raise InputError(name, of=of, allowed=allowed, got=text)
    if not 0 < value < math.inf:
        raise InputError(name, of=of, allowed=f"{ALLOWED}, above 0", got=text)
    if error:
        if value >= 1:
            raise InputError(name, of=of, allowed="an nmse in (0, 1)", got=text)
        return Target(nmse=value)
    return Target(rate=value) if unit == "bit" else Target(bits=value * UNITS[unit])


def _near(unit: str) -> str:
    """The unit that is spelt nearly so, empty if there is none."""
    short = unit.lower().removesuffix("ytes").removesuffix("yte")
    units = {each.lower(): each for each in UNITS} | {
        "k": "kB",
        "m": "MB",
        "g": "GB",
        "bits": "bit",
    }
    return units.get(short, "")


def check_reached(nmse: float, wanted: Target, *, of: str) -> None:
    """Raise if an error is larger than what was asked for: no promise is broken silently."""
    if wanted.nmse is not None and nmse > wanted.nmse * (1 + SLACK):
        raise OutOfReach("target", of=of, nmse=nmse, got=f"nmse={wanted.nmse:g}")


def check_error(wanted: Target, scale: object, *, of: str) -> None:
    """Raise if an error is asked for where blocks are scaled: it would be theirs, not the vector's."""
    if wanted.nmse is not None and scale != "model":
        raise InputError("target", of=of, allowed="a size, with a scale a block", got="an nmse")
