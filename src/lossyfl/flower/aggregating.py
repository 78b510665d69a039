"""A round's replies -> the next model: which count, how much, and who takes their mean.

Where the inner strategy averages as FedAvg does, `lossyfl.protocol.server` adds up the replies itself:
in the order of device numbers, so the model is the same to the bit whoever answers first, and in memory
for one model. All other strategies get every reply as a model.
"""

import math
from collections.abc import Mapping, Sequence
from logging import WARNING
from typing import Any

import numpy as np
from flwr.app import ArrayRecord, Message, MetricRecord
from numpy.typing import NDArray

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.exact import bound_beside
from lossyfl.adapters.layout import Slot
from lossyfl.adapters.models import is_in_range, unflatten
from lossyfl.adapters.moves import check_moves
from lossyfl.adapters.numbers import converted, mean, to_vector, widened, widened_exact
from lossyfl.adapters.statistics import is_spread
from lossyfl.compressors.bounded import clipped, norm
from lossyfl.errors import InputError, Refused
from lossyfl.flower.framework import log
from lossyfl.flower.records import from_record, to_record
from lossyfl.flower.refusing import note, refuse_into, take
from lossyfl.flower.replies import NodeReply, leave_out_odd_metrics, loss_key, weight_key
from lossyfl.flower.training import STAND_IN, Training
from lossyfl.flower.weights import level_losses, weigh
from lossyfl.protocol.rules import is_within
from lossyfl.types import Vector

SILENT = ("overflow", "clipped", "warned")
"""What the server notes without refusing a reply, or when the round is over."""
ROUNDING = 1e-6
"""A norm that is no larger than a bound by more than this part of it is one that was bounded elsewhere."""


def near(
    training: Training, answers: Sequence[NodeReply], failed: list[Message]
) -> list[NodeReply]:
    """The replies whose arrays beside the vector are not far from what others say."""
    rule = training.settings.rule
    most = training.side.most_moves([answer.up for answer in answers])
    if not most:
        return list(answers)

    def check(own: NodeReply) -> None:
        try:
            check_moves(own.number, own.up.exact, training.exact, most if own.up.reply else {})
        except Refused as error:
            note(training, "warned" if rule.norm == "warn" else error.reason)(own, error.detail)
            if rule.norm != "warn":  # whole numbers are not scaled down, so "clip" refuses, too
                raise

    return take(training, answers, failed, check)


def weigh_all(
    training: Training, answers: Sequence[NodeReply], failed: list[Message], *, trained: bool
) -> tuple[list[NodeReply], dict[int, float]]:
    """The replies that count, and how much, by device."""
    key, loss = weight_key(training.inner), loss_key(training.inner)
    refuse, capped = refuse_into(training, failed), note(training, "capped")
    if loss is not None and trained:
        answers = level_losses(answers, loss, training.weights, refuse, capped)
    if key is None:
        return list(answers), dict.fromkeys((answer.number for answer in answers), 1)
    return weigh(answers, key, training.weights, refuse, capped)


def average(
    training: Training,
    number: int,
    answers: Sequence[NodeReply],
    failed: list[Message],
    weights: dict[int, int],
) -> tuple[ArrayRecord, MetricRecord | None]:
    """FedAvg's mean, by the server."""
    side = training.side
    side.begin_replies(weights, {answer.number: answer.up for answer in answers})

    def accept(own: NodeReply) -> None:
        _check_width(training, own)
        side.server.accept(own.number, own.up.reply)

    taken = take(training, answers, failed, accept)
    # The inner strategy reads metrics and logs; it needs some arrays to do so.
    for answer in taken:
        answer.message.content[training.key] = STAND_IN
    _, metrics = _aggregate_inside(training, number, taken, failed, weights)
    side.exact = mean([(weights[a.number], a.up.exact) for a in taken], side.exact)
    return to_record(side.model), metrics


def hand_on(
    training: Training,
    number: int,
    answers: Sequence[NodeReply],
    failed: list[Message],
    weights: Mapping[int, float],
) -> tuple[ArrayRecord, MetricRecord | None]:
    """Every reply as a model, for the inner strategy."""
    side, wide = training.side, widened(training.layout)
    ups = {answer.number: answer.up for answer in answers}
    side.begin_replies(dict.fromkeys(ups, 1), ups)

    def expand(own: NodeReply) -> None:
        _check_width(training, own)
        update = side.server.accept_and_decode(own.number, own.up.reply)
        trained = side.server.aggregation_base + _bounded(training, own, update)
        model = unflatten(trained, widened_exact(own.up.exact), wide)
        own.message.content[training.key] = to_record(model)

    taken = take(training, answers, failed, expand)
    arrays, metrics = _aggregate_inside(training, number, taken, failed, weights)
    if arrays is not None:
        _adopt(training, from_record(arrays))
    return to_record(side.model), metrics


def _aggregate_inside(
    training: Training,
    number: int,
    taken: Sequence[NodeReply],
    failed: list[Message],
    weights: Mapping[int, float],
) -> tuple[ArrayRecord | None, MetricRecord | None]:
    """What the inner strategy makes of the replies that were taken; the round is closed then."""
    leave_out_odd_metrics(taken, weights, weight_key(training.inner), note(training, "metric"))
    messages = [answer.message for answer in taken]
    try:
        return training.steps.aggregate_train(number, messages + failed)
    finally:
        training.server.close_round()
        _log_silent(training)


def _log_silent(training: Training) -> None:
    """Log what the server has noted of this round without raising."""
    for noted in training.server.ledger.refusals.recent:
        if noted.round == training.server.round and noted.reason in SILENT:
            reason, detail = noted.reason, noted.detail
            log(WARNING, "lossyfl: reply of device %d: %s: %s", noted.device, reason, detail)


def _adopt(training: Training, arrays: Mapping[str, Array]) -> None:
    """Go on from what the inner strategy made, if it can be gone on from."""
    missing = [slot.name for slot in training.layout.slots if slot.name not in arrays]
    if missing:
        allowed, got = "all of the model's", f"no {missing[0]}"
        raise InputError("arrays", of="the inner strategy", allowed=allowed, got=got)
    vector = to_vector(arrays, training.layout)
    others = {s.name: arrays[s.name].numpy() for s in training.layout.slots if not s.in_vector}
    is_sound = is_within(vector) and is_in_range(vector, training.layout)
    if not is_sound or not all(np.isfinite(own).all() for own in others.values()):
        detail = f"{type(training.inner).__name__} made NaN or infinity; the model stays"
        log(WARNING, "lossyfl: %s", detail)
        training.server.ledger.refusals.note(training.server.round, -1, "overflow", detail)
        return
    training.server.replace_theta(vector)
    training.side.exact = {
        slot.name: converted(_floored(others[slot.name], slot), slot)
        for slot in training.layout.slots
        if not slot.in_vector
    }


def _check_width(training: Training, own: NodeReply) -> None:
    """Raise if a reply makes a float16 of the model infinite: the server would not see it."""
    try:
        training.side.check_width(own.number, own.up)
    except Refused as error:
        note(training, error.reason)(own, error.detail)
        raise


def _bounded(training: Training, own: NodeReply, update: Vector) -> Vector:
    """A reply, clipped if its device has not done so: noise is made for no more."""
    try:
        bound = bound_beside(own.up.exact, training.exact, training.side.bound)
    except InputError as error:
        note(training, "unclipped")(own, str(error))
        raise Refused(own.number, "unclipped", str(error)) from error
    if bound == math.inf:
        return update
    length = norm(update)
    if length > bound * (1 + ROUNDING):
        detail = f"its norm of {length:.3g} is cut to the clipping norm of {bound:.3g}"
        note(training, "unclipped")(own, detail)
    return clipped(update, bound)


def _floored(values: NDArray[Any], slot: Slot) -> NDArray[Any]:
    """What a strategy made of an array: optimizers of servers step over zero, variances must not."""
    return np.maximum(values, 0) if slot.statistic and is_spread(slot.name) else values
