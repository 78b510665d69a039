"""How large, or how exact: "20kB", "0.5bit" per entry, or "nmse=0.1".

A size is of symbols and their tables. An error is relative, ||Q(x) - x||^2 / ||x||^2. A text is read once,
where somebody wrote it; from there on it is a Target.
"""

import math
import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from lossyfl.errors import InputError, OutOfReach
from lossyfl.quantizers import adjustable_names
from lossyfl.types import Quantizer

UNITS = {"bit": 1, "B": 8, "kB": 8_000, "MB": 8_000_000, "GB": 8_000_000_000}
ALLOWED = 'a size as "20kB", a rate as "0.5bit" per entry, or an error as "nmse=0.1"'
SLACK = 0.02
"""How far an error may miss what was asked for: magnitudes are known by bins, which have a width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One of the three; the others are None.

    bits: in all
    rate: bits per entry
    nmse: the relative error
    """

    bits: float | None = None
    rate: float | None = None
    nmse: float | None = None

    def __post_init__(self) -> None:
        said = [each for each in (self.bits, self.rate, self.nmse) if each is not None]
        if len(said) != 1 or not 0 < said[0] < (math.inf if self.nmse is None else 1):
            allowed = "one of bits and rate, above 0, and nmse, in (0, 1)"
            got = f"bits={self.bits}, rate={self.rate}, nmse={self.nmse}"
            raise InputError("value", of="Target", allowed=allowed, got=got)

    def __str__(self) -> str:
        """As one writes it.

        >>> str(Target(bits=160_000))
        '20kB'
        """
        if self.bits is None:
            return f"nmse={self.nmse:.10g}" if self.rate is None else f"{self.rate:.10g}bit"
        fitting = [unit for unit in ("kB", "MB", "GB") if self.bits >= UNITS[unit]]
        unit = fitting[-1] if fitting else "B"
        return f"{self.bits / UNITS[unit]:.10g}{unit}"

    def bits_for(self, entries: int) -> float | None:
        """The bits for so many entries; None if the target is an error."""
        return self.bits if self.rate is None else self.rate * entries


@runtime_checkable
class Adjustable(Quantizer, Protocol):
    """A quantizer whose size, or error, can be set: what a budget needs."""

    def with_target(self, target: Target) -> Quantizer:
        """The same for another target; raises if it has one of its own, or cannot keep to this one."""
        ...


def adjustable(quantizer: Quantizer) -> Adjustable:
    """The quantizer, as one whose size can be set; raises if it cannot be."""
    if not isinstance(quantizer, Adjustable):
        allowed = f"one whose size can be set: {', '.join(adjustable_names())}"
        got = type(quantizer).__name__.lower()
        raise InputError("quantizer", of="a budget", allowed=allowed, got=got)
    return quantizer


def target(text: object, *, of: str, name: str = "target") -> Target:
    """The target that a text spells; a Target is one.

    >>> target("0.5bit", of="x").bits_for(100)
    50.0
    >>> target("20kB", of="x").bits_for(100)
    160000.0
    """
    if isinstance(text, Target):
        return text
    found = re.fullmatch(r"(nmse=)?([-+.\d]+(?:e[-+]?\d+)?)\s*([A-Za-z]*)", str(text).strip())
    try:
        error, number, unit = found.groups() if found else (None, "", "")
        value = float(number)
    except ValueError:
        raise InputError(name, of=of, allowed=ALLOWED, got=text) from None
    if (error is None) != (unit in UNITS) or (error and unit):
        allowed = f'{ALLOWED} (did you mean "{number}{_near(unit)}"?)' if _near(unit) else ALLOWED
        raise InputError(name, of=of, allowed=allowed, got=text)
    if not 0 < value * UNITS.get(unit, 1) < math.inf:
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
        raise OutOfReach("target", of=of, nmse=nmse, got=str(wanted))


def check_unset(given: Target | None, default: Target | None, *, of: str) -> None:
    """Raise if a quantizer that gets a target has one of its own."""
    if given != default:
        allowed = "left out: a budget sets the size"
        raise InputError("target", of=of, allowed=allowed, got=str(given))


def check_error(wanted: Target, scale: object, *, of: str) -> None:
    """Raise if an error is asked for where blocks are scaled: it would be theirs, not the vector's."""
    if wanted.nmse is not None and scale != "model":
        raise InputError("target", of=of, allowed="a size, with a scale a block", got="an nmse")
