"""The paper's q as a text: one number, numbers that change with the round, or a rule that chooses them."""

from lossyfl.compressors.adaptive import adaptive
from lossyfl.compressors.base import Compressor
from lossyfl.compressors.scheduled import Schedule
from lossyfl.errors import InputError
from lossyfl.quantizers.dyadic import Dyadic
from lossyfl.quantizers.stochastic import Stochastic
from lossyfl.types import Scale, parse_steps

Levels = int | str
Kind = type[Stochastic] | type[Dyadic]


def leveled(q: Levels, scale: Scale) -> Compressor:
    """The paper's quantizer with q levels, whatever says how many.

    >>> leveled("eps(variance=0.5)", "model").rule
    ByEps(variance=0.5, least=1, most=32767)
    """
    if is_rule(q):
        return adaptive(str(q), scale)
    return levels(q, scale)


def is_rule(q: Levels) -> bool:
    """Whether a rule chooses the number of levels."""
    return isinstance(q, str) and q[:1].isalpha()


def levels(q: Levels, scale: Scale, kind: Kind = Stochastic) -> Schedule:
    """The paper's quantizer with q levels, or with levels that change with the round.

    >>> levels("8@0/2@50", "model").at(60)
    Stochastic(levels=2, scale='model')
    """
    if isinstance(q, int):
        return Schedule.constant(kind(levels=q, scale=scale))
    allowed = 'a number, or levels and the rounds they begin, as "8@0/4@50"'
    wrong = InputError("q", of="scheme", allowed=allowed, got=q)
    steps = parse_steps(str(q), int, wrong=wrong)
    return Schedule(steps.rounds, tuple(kind(levels=n, scale=scale) for n in steps.values))
