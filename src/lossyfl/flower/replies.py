"""Replies as an inner strategy can take them: whatever differs from the others is refused, one by one.

Flower's strategies raise if one reply has other records than the rest; here such a reply is that node's
failure, and the round goes on.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from flwr.app import Message
from flwr.serverapp.strategy import Strategy

from lossyfl.errors import InputError, LossyflError
from lossyfl.flower.envelope import Up
from lossyfl.server import MAX_SAMPLES

Refuse = Callable[["Answer", LossyflError], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply that came through the mod."""

    node: int
    number: int
    message: Message
    up: Up


def alike(
    answers: Sequence[Answer], inner: Strategy, refuse: Refuse, *, trained: bool
) -> list[Answer]:
    """The replies whose metrics have the form that most have, with a weight that is a number.

    trained: the model was taken out already, so that no arrays may be left; arrays in answers to an
             evaluation are the app's own
    """
    forms = {answer.number: _form(answer.message, trained=trained) for answer in answers}
    counts = Counter(form for form in forms.values() if form is not None)
    usual = counts.most_common(1)[0][0] if counts else None
    key = getattr(inner, "weighted_by_key", None)
    taken: list[Answer] = []
    for answer in answers:
        try:
            if forms[answer.number] is None or forms[answer.number] != usual:
                allowed = f"one MetricRecord as of the others, {usual}"
                allowed += ", and no other arrays" if trained else ""
                got = str(forms[answer.number] or "another number of records")
                raise InputError("records", of="a reply", allowed=allowed, got=got)
            if isinstance(key, str):
                weight_of(answer, key)
        except InputError as error:
            refuse(answer, error)
        else:
            taken.append(answer)
    return taken


def weight_of(answer: Answer, key: str) -> float:
    """The weight that a reply says."""
    (metrics,) = answer.message.content.metric_records.values()
    value = metrics.get(key)
    if not isinstance(value, int | float) or not 0 <= value <= MAX_SAMPLES:
        allowed = f"a {key} in [0, 2^53]"
        raise InputError("metrics", of="a reply", allowed=allowed, got=value)
    return value


def whole_weights(answers: Sequence[Answer], key: str) -> dict[int, int] | None:
    """The weights by device; None if one is not a whole number of 1 or more."""
    weights = {answer.number: weight_of(answer, key) for answer in answers}
    if any(weight < 1 or weight != int(weight) for weight in weights.values()):
        return None
    return {number: int(weight) for number, weight in weights.items()}


def _form(message: Message, *, trained: bool) -> str | None:
    """Names and types of the metrics; None without exactly one record of them, or with arrays left over."""
    content = message.content
    if len(content.metric_records) != 1 or (trained and content.array_records):
        return None
    ((name, metrics),) = content.metric_records.items()
    parts: list[str] = []
    for key in sorted(metrics):
        value = cast("int | float | list[float]", metrics[key])
        numbers = value if isinstance(value, list) else [value]
        if not all(math.isfinite(number) for number in numbers):
            return None
        parts.append(f"{key}[{len(value)}]" if isinstance(value, list) else key)
    return f"{name}: {', '.join(parts)}"
