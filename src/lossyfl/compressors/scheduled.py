"""The quantizer of a round: the same throughout, or another one from some round on."""

from collections.abc import Sequence
from dataclasses import dataclass

from lossyfl.compressors.base import SendContext, packed, quantized
from lossyfl.errors import InputError
from lossyfl.types import Quantized, Quantizer, Shape, Steps, Vector


@dataclass(frozen=True, slots=True)
class Schedule:
    """Quantizers and the rounds from which they are used; the first from round 0.

    >>> from lossyfl import Stochastic
    >>> schedule = Schedule((0, 50), (Stochastic(levels=8), Stochastic(levels=2)))
    >>> schedule.at(49).levels, schedule.at(50).levels
    (8, 2)
    """

    rounds: tuple[int, ...]
    quantizers: tuple[Quantizer, ...]

    damped = False

    def __post_init__(self) -> None:
        if not self._steps.rise or len(self.rounds) != len(self.quantizers):
            allowed = "rounds that rise from 0, each with a quantizer"
            raise InputError("rounds", of="Schedule", allowed=allowed, got=self.rounds)

    @property
    def _steps(self) -> Steps[Quantizer]:
        return Steps(self.rounds, self.quantizers)

    @classmethod
    def constant(cls, quantizer: Quantizer) -> "Schedule":
        """The same quantizer in all rounds."""
        return cls((0,), (quantizer,))

    def at(self, round: int) -> Quantizer:
        """The quantizer of a round."""
        return self._steps.at(round)

    def check(self, tensors: Sequence[Shape], rounds: int | None = None) -> None:
        """Nothing to refuse: every quantizer takes vectors of any length."""
        del tensors, rounds

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """Symbols, table and frame of `x` by the quantizer of the context's round."""
        made = quantized(x, self.at(context.meta.round), context)
        return made, packed(made, context)
