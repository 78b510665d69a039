"""What a search found, in words: what was chosen, why, and how much of it is more than noise.

Two things make two schemes differ that are none the better for it. Seeds: the start, batches and dither of a
run. They are in the paired differences of runs with the same seed (`significance`). And the test set: another
one of as many samples would have other hard ones. That is in no difference of these runs, as all of them
share one, so its binomial noise is added: the margin is the root of the sum of both squares.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lossyfl.experiments.significance import (
    Moderation,
    margin_of_test_set,
    moderation,
    paired,
)
from lossyfl.experiments.trials import Trial
from lossyfl.experiments.tune import ROUNDING, Question, SearchResult
from lossyfl.report.text import size
from lossyfl.tasks.metrics import ACCURACY, Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """How far a scheme is from what it is compared with.

    apart:   the difference of the means, seed by seed; None for what others are compared with
    seeds:   its margin over seeds; None where one seed says nothing of that
    samples: its margin over test sets of as many samples; None where nobody knows
    words:   the verdict
    """

    scheme: str
    apart: float | None
    seeds: float | None
    samples: float | None
    words: str

    @property
    def margin(self) -> float | None:
        """Of both; None where nothing is known of seeds."""
        if self.seeds is None:
            return None
        return math.hypot(self.seeds, self.samples or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """All that is said of a search.

    reference: the scheme that others are compared with; empty for a number
    samples:   of the test set; 0 if unknown
    metric:    what values are of
    """

    judged: tuple[Judgement, ...]
    reference: str
    samples: int
    sentences: tuple[str, ...]
    metric: Metric = ACCURACY

    def of(self, spec: str) -> Judgement:
        """That of a scheme."""
        return next(each for each in self.judged if each.scheme == spec)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """What schemes are measured by.

    reference: the trial that others are compared with; None for a number
    value:     what it came to, or the number
    tolerance: how far below that is as good
    level:     one minus the error that each single verdict may have, so that all hold at once
    samples:   of the test set; 0 if unknown
    metric:    what values are of
    common:    what differences say of each other's variance
    """

    reference: Trial | None
    value: float
    tolerance: float
    level: float
    samples: int
    metric: Metric
    common: Moderation | None

    def apart(self, each: Trial) -> list[float]:
        """Differences, one for each seed that both have."""
        if self.reference is None:
            return [value - self.value for value in each.values]
        return [a - b for a, b in zip(each.values, self.reference.values, strict=False)]


def choice(
    question: Question, found: SearchResult, *, confidence: float, samples: int, budgets: bool
) -> Choice:
    """What is to be said of a search.

    samples: of the test set, of which parts are measured; 0 if unknown
    budgets: whether the best within budgets was asked for, not the fewest bytes
    """
    standard = _standard(question, found, confidence, samples, budgets=budgets)
    judged = tuple(_judge(each, standard) for each in found.tried.values())
    return Choice(
        judged=judged,
        reference=standard.reference.scheme if standard.reference else "",
        samples=samples,
        sentences=tuple(_sentences(judged, standard, found, confidence)),
        metric=question.metric,
    )


def _standard(
    question: Question, found: SearchResult, confidence: float, samples: int, *, budgets: bool
) -> Standard:
    lossless = found.tried.get(question.spec("lossless"))
    reference = found.best if budgets else (lossless if question.keep is None else None)
    compared = [each for each in found.tried.values() if not each.failed and each != reference]
    value = reference.value if reference else (question.keep or 0.0)
    plain = Standard(
        reference=reference,
        value=value,
        tolerance=0.0 if budgets or question.keep is not None else question.margin(value),
        level=1 - (1 - confidence) / max(len(compared), 1),
        samples=samples,
        metric=question.metric,
        common=None,
    )
    whole = [plain.apart(each) for each in compared if not each.given_up]
    return replace(plain, common=moderation([each for each in whole if each]))


def _judge(each: Trial, standard: Standard) -> Judgement:
    if each.failed or each == standard.reference:
        words = f"failed: {each.failed}" if each.failed else "the reference"
        return Judgement(scheme=each.scheme, apart=None, seeds=None, samples=None, words=words)
    found = paired(standard.apart(each), standard.level, 1, standard.common)
    samples = None
    if standard.samples and standard.metric.is_fraction:
        other = standard.value if standard.reference else 0.0  # a number has no noise
        samples = margin_of_test_set(each.value, other, standard.samples, standard.level)
    judged = Judgement(
        scheme=each.scheme,
        apart=found.interval.mean,
        seeds=found.interval.margin,
        samples=samples,
        words="",
    )
    return replace(judged, words=_verdict(each, judged, standard))


def _verdict(each: Trial, judged: Judgement, standard: Standard) -> str:
    """Whether it is as good, and whether that is more than noise."""
    if each.given_up:
        return "given up after one seed"
    over = standard.metric.sign * (judged.apart or 0.0) + standard.tolerance
    word = "as good" if over >= -ROUNDING else "worse"
    if judged.margin is None:
        return f"{word}, by one seed"
    return word if abs(over) > judged.margin else f"{word}, within the noise"


def _sentences(
    judged: Sequence[Judgement], standard: Standard, found: SearchResult, confidence: float
) -> list[str]:
    """The choice, its difference and the noise, and what noise hides."""
    if found.best is None:
        return [f"{found.words}: none of {len(judged)} schemes."]
    best = found.best
    cost = f"{size(best.down)} per broadcast and {size(best.up)} per reply"
    words = f"{best.scheme} is the choice of {len(judged)} schemes ({found.words}): "
    said = [f"{words}{standard.metric.text(best.value)}, {cost}."]
    own = next(each for each in judged if each.scheme == best.scheme)
    if own.apart is not None:
        said.append(_difference(own, standard, confidence))
    if standard.samples and standard.metric.is_fraction and standard.tolerance:
        images = standard.tolerance * standard.samples
        said.append(
            f"The tolerance of {standard.metric.number(standard.tolerance)} {standard.metric.apart} is "
            f"{images:.1f} of {standard.samples:,} test samples."
        )
    close = [e.scheme for e in judged if e.words.endswith("noise") and e.scheme != best.scheme]
    if close:
        said.append(f"Whether these are as good cannot be told: {'; '.join(close)}.")
    up = sum(each.given_up for each in found.tried.values())
    if up:
        said.append(
            f"{up} given up after one seed; the rate of false alarms of the whole search is at most "
            f"{100 * (1 - confidence):.3g} %, if seeds are independent and normal and schemes that "
            "learn well enough vary alike."
        )
    return said


def _difference(own: Judgement, standard: Standard, confidence: float) -> str:
    """How far it is from the reference, and what of that is noise."""
    name = standard.reference.scheme if standard.reference else standard.metric.text(standard.value)
    apart, unit = own.apart or 0.0, standard.metric.apart
    begin = f"It is {standard.metric.number(apart)} {unit} from {name}"
    if own.seeds is None or own.margin is None:
        return f"{begin}; one seed says nothing of how much seeds differ."
    parts = [f"{standard.metric.number(own.seeds)} of seeds"]
    if own.samples is not None:
        parts.append(f"{standard.metric.number(own.samples)} of {standard.samples:,} test samples")
    noise = f"± {standard.metric.number(own.margin)} {unit} ({' and '.join(parts)})"
    inside = "below" if abs(apart) <= own.margin else "above"
    return f"{begin}, which is {inside} the noise of {noise} at {100 * confidence:g} %."
