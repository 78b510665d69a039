"""Levels that a rule chooses for every frame: the paper's quantizer, as fine as vector and round ask for.

    eps(variance=1)                                by_eps        by Lemma 1, for a relative variance
    distance(q=2,at=0.5)                           by_distance   by ||theta - theta_hat||
    bound(q=2,rounds=100,mu=0.1,eta=0.05)          by_bound      by Theorem 1, for the bound after all rounds

A rule is a function of the vector and the round. It remembers nothing from frame to frame, so a link has no
more state than without one, and the same vector has the same levels on any processor. Receivers need no rule:
a frame says its levels itself. A rule of one's own is `package.module:Name`.
"""

import importlib
import math
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from lossyfl.compressors.base import SendContext, packed, quantized
from lossyfl.errors import InputError
from lossyfl.quantizers.stochastic import Stochastic, check_levels
from lossyfl.registry import Registry
from lossyfl.types import Bounds, Quantized, Quantizer, Scale, Shape, Vector, check_scale
from lossyfl.wire.shapes import lengths_of
from lossyfl.wire.vectors import block_bounds, check_finite

MOST = 32_767


class LevelRule(Protocol):
    """Chooses the paper's q."""

    @property
    def least(self) -> int:
        """The fewest levels that it chooses."""
        ...

    @property
    def most(self) -> int:
        """The most."""
        ...

    def check(self, rounds: int | None) -> None:
        """Raise if it has no answer in one of so many rounds."""
        ...

    def levels(self, x: Vector, bounds: Bounds, round: int) -> int:
        """How many for a vector whose blocks have a range each, in a round."""
        ...


_registry: "Registry[LevelRule]" = Registry(
    "level rule",
    makes="a level rule (lossyfl.compressors.adaptive.LevelRule)",
    methods=("check", "levels"),
    values=("least", "most"),
)
register = _registry.register


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive:
    """Frames of the paper's quantizer with levels by a rule."""

    rule: LevelRule
    scale: Scale = "model"

    damped = False

    def __post_init__(self) -> None:
        check_scale(self.scale, of="Adaptive")

    @property
    def quantizers(self) -> tuple[Quantizer, ...]:
        """The coarsest and the finest."""
        ends = dict.fromkeys((self.rule.least, self.rule.most))
        return tuple(Stochastic(levels=levels, scale=self.scale) for levels in ends)

    def check(self, tensors: Sequence[Shape], rounds: int | None = None) -> None:
        """Raise if the rule has no answer in one of the rounds."""
        del tensors
        self.rule.check(rounds)

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """Symbols, table and frame of `x` with the levels of the rule."""
        check_finite(x)
        lengths = None if context.tensors is None else lengths_of(context.tensors)
        bounds = block_bounds(self.scale, len(x), lengths)
        levels = self.rule.levels(x, bounds, context.meta.round)
        made = quantized(x, Stochastic(levels=levels, scale=self.scale), context)
        return made, packed(made, context)


@cache
def _load_all() -> None:
    """Import every module of this package, so that each rule registers itself."""
    package = importlib.import_module("lossyfl.compressors")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


def adaptive(spec: str, scale: Scale) -> Adaptive:
    """The compressor whose levels the rule `name(key=value,...)` chooses.

    >>> adaptive("distance(q=4,at=0.5)", "tensor")
    Adaptive(rule=ByDistance(q=4, at=0.5, least=1, most=32767), scale='tensor')
    """
    _load_all()
    return Adaptive(rule=_registry.build(spec), scale=scale)


def names() -> list[str]:
    """The names of all rules."""
    _load_all()
    return _registry.names()


def check_range(least: object, most: object, *, of: str) -> None:
    """Raise unless these are levels, the least not above the most."""
    check_levels(least, of=of)
    check_levels(most, of=of)
    assert isinstance(least, int)
    assert isinstance(most, int)
    if least > most:
        raise InputError("least", of=of, allowed=f"at most {most}, which is `most`", got=least)


def check_positive(what: str, value: object, *, of: str) -> None:
    """Raise unless it is a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise InputError(what, of=of, allowed="a finite number > 0", got=value)
