"""What is measured of a model on the test set: a name, which way is better, a unit, and how it is reckoned.

A metric is made of a score that is summed over samples and divided by their number: the mean of hits is the
accuracy, the mean of squared errors the MSE. `final` makes the metric of that mean where it is another
number: the root for an RMSE, the exponential of the loss for a perplexity.

Nothing here needs torch: functions are handed tensors, and reports read names, directions and units.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from lossyfl.errors import InputError, one_of

if TYPE_CHECKING:
    from torch import Tensor

Better: TypeAlias = Literal["higher", "lower"]
LONGEST = 40
"""Characters of a name or a unit: they head columns and name axes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A number that says how good a model is.

    better: whether "higher" or "lower" values are
    unit:   behind the value; with "%" the value is a fraction, and shown times 100
    score:  of outputs and targets of a batch, summed over its samples; None for the task's loss
    final:  the metric of the mean score; None where it is that mean

    >>> Metric(name="MAE", better="lower", unit="m").text(1.25)
    '1.25 m'
    """

    name: str
    better: Better = "higher"
    unit: str = ""
    score: "Callable[[Tensor, Tensor], Tensor] | None" = None
    final: Callable[[float], float] | None = None

    def __post_init__(self) -> None:
        for what, text in (("name", self.name), ("unit", self.unit)):
            good = isinstance(text, str) and text.isprintable() and len(text) <= LONGEST  # pyright: ignore[reportUnnecessaryIsInstance]
            if not good or (what == "name" and not text.strip()):
                allowed = f"a printable text of at most {LONGEST} characters"
                raise InputError(what, of="a metric", allowed=allowed, got=text)
        if self.better not in get_args(Better):
            allowed = '"higher" or "lower"'
            raise InputError(
                "better", of=f"the metric {self.name}", allowed=allowed, got=self.better
            )

    @property
    def is_fraction(self) -> bool:
        """Whether values are fractions of one, which are shown in percent."""
        return self.unit == "%"

    @property
    def apart(self) -> str:
        """The unit of differences."""
        return "points" if self.is_fraction else self.unit

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return 1 if self.better == "higher" else -1

    def is_better(self, one: float, other: float) -> bool:
        """Whether one value is better than another."""
        return self.sign * one > self.sign * other

    def best(self, values: Sequence[float]) -> float | None:
        """The best of some values; None of none."""
        return max(values, key=lambda value: self.sign * value, default=None)

    def number(self, value: float) -> str:
        """A value without its unit.

        >>> ACCURACY.number(0.9722), KNOWN["MSE"].number(0.012345)
        ('97.22', '0.01235')
        """
        return f"{100 * value:.2f}" if self.is_fraction else f"{value:.4g}"

    def text(self, value: float | None) -> str:
        """A value for people; "-" for none.

        >>> ACCURACY.text(0.9722), KNOWN["perplexity"].text(12.3456), ACCURACY.text(None)
        ('97.22 %', '12.35', '-')
        """
        return "-" if value is None else " ".join(filter(None, (self.number(value), self.unit)))

    def of_mean(self, mean: float) -> float:
        """The metric of a mean score; infinity where that is beyond all floats."""
        if self.final is None:
            return mean
        try:
            return self.final(mean)
        except OverflowError:
            return math.inf


def hits(outputs: "Tensor", targets: "Tensor") -> "Tensor":
    """How many samples have their largest output at the target's class.

    Of a sample with several targets, as the next characters of a text, it is the fraction that is right.
    """
    right = (outputs.argmax(dim=1) == targets).sum()
    return right if targets.dim() == 1 else right.double() / targets[0].numel()


def squares(outputs: "Tensor", targets: "Tensor") -> "Tensor":
    """Squared errors, the mean over what a sample has of them."""
    return _errors(outputs, targets).square().mean(dim=1).sum()


def magnitudes(outputs: "Tensor", targets: "Tensor") -> "Tensor":
    """Absolute errors, the mean over what a sample has of them."""
    return _errors(outputs, targets).abs().mean(dim=1).sum()


def _errors(outputs: "Tensor", targets: "Tensor") -> "Tensor":
    """A row for each sample; raises where one would be subtracted from all."""
    if outputs.numel() != targets.numel():
        allowed = f"as many numbers as targets, {tuple(targets.shape)}"
        raise InputError("outputs", of="the model", allowed=allowed, got=str(tuple(outputs.shape)))
    return outputs.double().reshape(len(outputs), -1) - targets.double().reshape(len(targets), -1)


ACCURACY = Metric(name="accuracy", unit="%", score=hits)
KNOWN = {
    metric.name: metric
    for metric in (
        ACCURACY,
        Metric(name="loss", better="lower"),
        Metric(name="perplexity", better="lower", final=math.exp),
        Metric(name="MSE", better="lower", score=squares),
        Metric(name="RMSE", better="lower", score=squares, final=math.sqrt),
        Metric(name="MAE", better="lower", score=magnitudes),
    )
}
"""Those that a task may name without more words."""


def metric(
    name: str,
    better: Better | None = None,
    unit: str | None = None,
    score: "Callable[[Tensor, Tensor], Tensor] | None" = None,
) -> Metric:
    """The metric of this name; what is said of a known one is said otherwise, all others need a direction.

    >>> metric("MSE").better, metric("MSE", unit="m^2").unit
    ('lower', 'm^2')
    """
    known = KNOWN.get(name)
    if known is None and better is None:
        allowed = f'"higher" or "lower" (left out only with {", ".join(KNOWN)})'
        raise InputError("better", of=f"the metric {name}", allowed=allowed, got=better)
    if known is None:
        return Metric(name=name, better=better or "higher", unit=unit or "", score=score)
    return Metric(
        name=name,
        better=better or known.better,
        unit=known.unit if unit is None else unit,
        score=score or known.score,
        final=known.final,
    )


def check_names(metrics: Sequence[Metric], *, of: str) -> None:
    """Raise unless there is at least one, and each has a name of its own."""
    names = [each.name for each in metrics]
    if not names or len(set(names)) != len(names):
        got = ", ".join(names) or "none"
        raise InputError("metrics", of=of, allowed="at least one, each once", got=got)


def named(name: str, metrics: Sequence[Metric]) -> Metric:
    """The metric of this name among some; raises if it is none of them."""
    for each in metrics:
        if each.name == name:
            return each
    allowed = one_of([each.name for each in metrics], name)
    raise InputError("metric", of="a run", allowed=allowed, got=name)
