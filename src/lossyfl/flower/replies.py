"""Replies as an inner strategy can take them: whatever differs from the others is refused, one by one.

Flower's strategies raise if one reply has other records than the rest; here such a reply is that node's
failure, and the round goes on; so is whatever else one reply causes (`refusal_of`). A metric that is no
number costs nobody the round: it is left out of the mean.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from logging import WARNING
from typing import cast

from flwr.app import Error, Message, MetricRecord
from flwr.serverapp.strategy import Strategy

from lossyfl.adapters.envelope import Up
from lossyfl.adapters.logs import LONGEST_LINE, shown
from lossyfl.adapters.records import Foreign
from lossyfl.errors import InputError, LossyflError
from lossyfl.flower.framework import FLOWER, log
from lossyfl.protocol.rules import LARGEST

Refuse = Callable[["NodeReply", LossyflError], None]
Note = Callable[["NodeReply", str], None]
Shape = tuple[str, int | None]
"""A metric: its name, and how many numbers it has if it is a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Which metrics a reply has, under which record's name."""

    record: str
    metrics: tuple[Shape, ...]

    def __str__(self) -> str:
        parts = (name if n is None else f"{name}[{n}]" for name, n in self.metrics)
        return shown(f"{self.record}: {', '.join(parts)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReply:
    """A reply that came through the mod."""

    node: int
    number: int
    message: Message
    up: Up

    @property
    def metrics(self) -> MetricRecord:
        """Its one record of metrics."""
        (record,) = self.message.content.metric_records.values()
        return record


def refusal_of(error: Exception, node: int) -> LossyflError:
    """The refusal of an answer that caused an error.

    One that is not ours shows a check that is missing here: the log says where.
    """
    if isinstance(error, LossyflError):
        return error
    log(WARNING, "lossyfl: node %d: no check has foreseen its answer:", node)
    FLOWER.log_traceback(error)
    return Foreign(f"it caused {type(error).__name__}: {shown(error)}")


def readable(reply: Message, hint: str = "") -> Message:
    """A node's error as one line that a log can show, with a hint at what to do about it."""
    reason = shown(reply.error.reason, LONGEST_LINE)
    return as_error(reply, reply.error.code, f"{reason} ({hint})" if hint else reason)


def as_error(reply: Message, code: int, reason: str) -> Message:
    """A node's answer as an error, for the inner strategy's count of failures."""
    made = Message(Error(code, reason), reply_to=reply)
    made.__dict__["_metadata"] = reply.metadata  # it is still that node's answer
    return made


def weight_key(inner: Strategy) -> str | None:
    """The metric by which a strategy weighs replies, if it does so as Flower's do."""
    return _setting(inner, "weighted_by_key")


def loss_key(inner: Strategy) -> str | None:
    """The metric whose powers a strategy weighs by, as QFedAvg does."""
    return _setting(inner, "train_loss_key")


def _setting(inner: Strategy, name: str) -> str | None:
    """A text among a strategy's attributes, or of the strategy inside it."""
    found = getattr(inner, name, None)
    inside = getattr(inner, "strategy", None)  # as wrappers of Flower's have it
    if found is None and isinstance(inside, Strategy):
        return _setting(inside, name)
    return found if isinstance(found, str) else None


def alike(answers: Sequence[NodeReply], refuse: Refuse, *, trained: bool) -> list[NodeReply]:
    """The replies whose metrics have the form that most have.

    trained: the model was taken out already, so that no arrays may be left; arrays in answers to an
             evaluation are the app's own
    """
    forms = {answer.number: _form(answer.message, trained=trained) for answer in answers}
    counts = Counter(form for form in forms.values() if form is not None)
    usual = counts.most_common(1)[0][0] if counts else None
    taken: list[NodeReply] = []
    for answer in answers:
        form = forms[answer.number]
        if form is not None and form == usual:
            taken.append(answer)
            continue
        allowed = f"one MetricRecord as of the others, {usual}"
        allowed += ", and no other arrays" if trained else ""
        got = str(form) if form else "another number of records"
        refuse(answer, InputError("records", of="a reply", allowed=allowed, got=got))
    return taken


def _form(message: Message, *, trained: bool) -> Form | None:
    """Names and lengths of the metrics; None without exactly one record of them, or with arrays left over."""
    content = message.content
    if len(content.metric_records) != 1 or (trained and content.array_records):
        return None
    ((name, metrics),) = content.metric_records.items()
    values = cast("Mapping[str, object]", metrics)
    return Form(record=name, metrics=tuple((key, _length(values[key])) for key in sorted(values)))


def _length(value: object) -> int | None:
    return len(cast("list[float]", value)) if isinstance(value, list) else None


def leave_out_odd_metrics(
    answers: Sequence[NodeReply], weights: Mapping[int, float], key: str | None, note: Note
) -> None:
    """Put the mean of the others where a metric is NaN, infinite or beyond all measure.

    So the mean over all is that of the others, and the update counts. A metric that nobody can say is gone.
    """
    names = [name for name in answers[0].metrics if name != key] if answers else []
    for name in names:
        rows = {answer.number: _numbers(answer.metrics[name]) for answer in answers}
        odd = [answer for answer in answers if not all(map(_is_sound, rows[answer.number]))]
        for answer in odd:
            note(answer, f"its metric {shown(name)} is {shown(answer.metrics[name])}")
        if not odd:
            continue
        columns = [
            [(weights[number], row[at]) for number, row in rows.items() if _is_sound(row[at])]
            for at in range(len(rows[odd[0].number]))
        ]
        for answer in odd if all(columns) else answers:
            if not all(columns):
                del answer.metrics[name]
                continue
            row = zip(rows[answer.number], map(_mean, columns), strict=True)
            whole = [own if _is_sound(own) else float(usual) for own, usual in row]
            is_list = isinstance(answer.metrics[name], list)
            answer.metrics[name] = [float(own) for own in whole] if is_list else whole[0]


def _numbers(value: object) -> list[float]:
    return cast("list[float]", value if isinstance(value, list) else [value])


def _is_sound(value: float) -> bool:
    """Whether a metric may count; NaN may not."""
    return -LARGEST <= value <= LARGEST


def _mean(pairs: Sequence[tuple[float, float]]) -> float:
    total = math.fsum(weight for weight, _ in pairs)
    return math.fsum(weight / total * value for weight, value in pairs)
