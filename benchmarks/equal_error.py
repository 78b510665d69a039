"""Bytes of a code at a given error, where its errors come in steps.

A code with a whole number for its fineness hits no error exactly. Its bytes there are those between the two
settings on both sides, on a straight line of their logarithms: at high rates that is the law.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from lossyfl.errors import InputError

STRIDE = 4
"""Settings from one try to the next, before the two around an error are halved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """What coding a vector gave: real bytes and relative squared error."""

    nbytes: int
    nmse: float


def bytes_at(nmse: float, finer: Coded, coarser: Coded) -> float:
    """The bytes between two settings, logarithms on a straight line.

    >>> round(bytes_at(0.02, Coded(nbytes=400, nmse=0.01), Coded(nbytes=100, nmse=0.04)))
    200
    """
    if finer.nmse == coarser.nmse:
        return float(min(finer.nbytes, coarser.nbytes))
    part = math.log(nmse / finer.nmse) / math.log(coarser.nmse / finer.nmse)
    return finer.nbytes * (coarser.nbytes / finer.nbytes) ** part


@dataclass(slots=True, kw_only=True)
class Settings:
    """A code whose error grows with a whole number; every setting is tried once.

    code:  a vector with a setting
    first: the setting to begin with
    """

    code: Callable[[int], Coded]
    first: int
    least: int
    most: int
    tried: dict[int, Coded] = field(default_factory=dict[int, Coded])

    def bytes_at(self, nmse: float) -> tuple[float, int]:
        """The bytes at an error, and the nearest setting that is at least as exact."""
        finer = self.first
        while self._coded(finer).nmse > nmse:
            finer = self._checked(finer - STRIDE, nmse)
        while self._coded(self._checked(finer + STRIDE, nmse)).nmse <= nmse:
            finer += STRIDE
        self.first, coarser = finer, finer + STRIDE
        while coarser - finer > 1:
            middle = (finer + coarser) // 2
            exact = self._coded(middle).nmse <= nmse
            finer, coarser = (middle, coarser) if exact else (finer, middle)
        return bytes_at(nmse, self._coded(finer), self._coded(coarser)), finer

    def _coded(self, setting: int) -> Coded:
        if setting not in self.tried:
            self.tried[setting] = self.code(setting)
        return self.tried[setting]

    def _checked(self, setting: int, nmse: float) -> int:
        if not self.least <= setting <= self.most:
            allowed = f"one between the errors of settings {self.least} and {self.most}"
            raise InputError("nmse", of="equal error", allowed=allowed, got=nmse)
        return setting
