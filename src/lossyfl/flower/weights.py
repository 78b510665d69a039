"""What a reply counts: as many samples as its node says, within bounds, or what the server has fixed.

A node's number of samples is its own word. One that says 2^53 would own the mean, and zeros from all would
end the training. So by default none counts more than ten times the median, and where all are zero all count
the same (`lossyfl.protocol.rules.capped_weights`). Who knows better fixes them: `LossyStrategy(weights=...)`.

QFedAvg weighs by powers of the nodes' losses instead: a negative one makes NaN of the model, 0 lets it stand
still, and a huge one owns the mean. So they are held within a factor of ten of their median.
"""

import statistics
from collections.abc import Mapping, Sequence
from typing import Literal, cast

from lossyfl.adapters.logs import shown
from lossyfl.errors import InputError, Refused
from lossyfl.flower.replies import NodeReply, Note, Refuse, refusal_of
from lossyfl.protocol.rules import LARGEST, capped_weights
from lossyfl.protocol.states import MAX_SAMPLES

Weights = Literal["capped", "said", "equal"] | Mapping[int, int]
FRACTION = 1 << 20
"""Fractions are counted in parts of the median's millionth, about: the cap is one for whole numbers."""
SPREAD = 10
"""How far from the median, either way, a loss counts."""
SMALLEST = 1 / MAX_SAMPLES
"""Of a fraction that is not zero: parts of it are numbers still."""


def check_weights(weights: Weights) -> Weights:
    """The setting, if it is one."""
    if isinstance(weights, Mapping):
        for number, weight in weights.items():
            if type(weight) is not int or not 1 <= weight <= MAX_SAMPLES:
                of, allowed = f"device {shown(number)}", "an int in [1, 2^53]"
                raise InputError("weight", of=of, allowed=allowed, got=weight)
        return weights
    if weights not in ("capped", "said", "equal"):
        allowed = '"capped", "said", "equal" or a number for each device'
        raise InputError("weights", of="LossyStrategy", allowed=allowed, got=weights)
    return weights


def weigh(
    answers: Sequence[NodeReply], key: str, setting: Weights, refuse: Refuse, note: Note
) -> tuple[list[NodeReply], dict[int, float]]:
    """The replies that count, and what they count, which is written into their metrics, too."""
    heard: dict[int, float] = {}
    for answer in answers:
        try:
            heard[answer.number] = _said(answer, key, setting)
        except Exception as error:  # that answer's, logged by `refusal_of`
            refuse(answer, refusal_of(error, answer.node))
    weights = _capped(heard) if setting == "capped" else heard
    taken: list[NodeReply] = []
    for answer in answers:
        said, weight = heard.get(answer.number), weights.get(answer.number)
        if said is None:
            continue
        if not weight:
            refuse(answer, Refused(answer.number, "weightless", f"its {key} is 0"))
            continue
        if weight != said:
            note(answer, f"its {key} of {said:.6g} counts as {weight:.6g}")
        answer.metrics[key] = weight
        taken.append(answer)
    return taken, {answer.number: weights[answer.number] for answer in taken}


def level_losses(
    answers: Sequence[NodeReply], key: str, setting: Weights, refuse: Refuse, note: Note
) -> list[NodeReply]:
    """The replies whose losses have powers; unless all count as said, far ones count as nearer ones."""
    taken: list[NodeReply] = []
    for answer in answers:
        value = cast("object", answer.metrics.get(key))
        if isinstance(value, int | float) and 0 <= value <= LARGEST:
            taken.append(answer)
            continue
        allowed = "a number of 0 or more, since QFedAvg weighs by its powers"
        refuse(answer, InputError(key, of="a reply", allowed=allowed, got=shown(value)))
    losses = [float(cast("float", answer.metrics[key])) for answer in taken]
    if setting == "said" or not taken:
        return taken
    usual = statistics.median(losses)
    for answer, loss in zip(taken, losses, strict=True):
        level = min(max(loss, usual / SPREAD), usual * SPREAD)
        if level != loss:
            note(answer, f"its {key} of {loss:.6g} counts as {level:.6g}")
            answer.metrics[key] = level
    return taken


def _said(answer: NodeReply, key: str, setting: Weights) -> float:
    """What a reply says that it counts, or what the server says."""
    if setting == "equal":
        return 1
    if isinstance(setting, Mapping):
        if answer.number not in setting:
            raise Refused(answer.number, "weightless", "the server has no weight for it")
        return setting[answer.number]
    value = cast("object", answer.metrics.get(key))
    if not isinstance(value, int | float) or not (value == 0 or SMALLEST <= value <= MAX_SAMPLES):
        allowed = f"a {key} that is 0 or in [2^-53, 2^53]"
        raise InputError("metrics", of="a reply", allowed=allowed, got=shown(value))
    return value


def _capped(heard: Mapping[int, float]) -> dict[int, float]:
    """The weights with a cap: whole numbers, unless most are fractions."""
    broken = sum(weight != int(weight) for weight in heard.values())
    if 2 * broken <= len(heard):
        return dict(capped_weights({n: _whole(weight) for n, weight in heard.items()}))
    # Not the smallest: one node could make it so small that all others meet the cap.
    unit = statistics.median_low(weight for weight in heard.values() if weight) / FRACTION
    parts = {n: _whole(weight / unit) for n, weight in heard.items()}
    most = capped_weights(parts)
    return {n: heard[n] if most[n] == parts[n] else most[n] * unit for n in most}


def _whole(weight: float) -> int:
    """The nearest whole number, but not zero for something."""
    return max(1, round(weight)) if weight else 0


def whole_weights(weights: Mapping[int, float]) -> dict[int, int] | None:
    """The weights as whole numbers of 1 or more, as a server takes them; None if one is none."""
    if any(weight < 1 or weight != int(weight) for weight in weights.values()):
        return None
    return {number: int(weight) for number, weight in weights.items()}
