"""A link's state as vectors by name, and back: how it is saved, and handed from one process to another.

A state is a frozen dataclass whose fields are vectors, all as long as the model, or states of a link inside.
Names say what is what in files, so a field keeps its name; no name occurs twice in a state.
"""

import dataclasses
from typing import Any, TypeVar, cast

import numpy as np

from lossyfl.errors import InputError
from lossyfl.links.base import Downlink, HasEstimate, nothing
from lossyfl.types import Vector

S = TypeVar("S")
Arrays = dict[str, Vector]
"""The vectors of a state, by name."""


def arrays_of(state: object) -> Arrays:
    """The vectors of a state.

    >>> from lossyfl.links.error_feedback import FeedbackState
    >>> arrays_of(FeedbackState(memory=np.zeros(2, dtype=np.float32)))
    {'memory': array([0., 0.], dtype=float32)}
    """
    found: Arrays = {}
    for field in dataclasses.fields(cast("Any", state)):
        value = getattr(state, field.name)
        is_vector = isinstance(value, np.ndarray)
        more = {field.name: cast("Vector", value)} if is_vector else arrays_of(value)
        twice = found.keys() & more.keys()
        if twice:
            owner = type(state).__name__
            raise InputError("fields", of=owner, allowed="of different names", got=min(twice))
        found |= more
    return found


def beside_estimate(state: HasEstimate) -> Arrays:
    """The vectors of a downlink's state but for the estimate, which is saved by itself."""
    return {name: vector for name, vector in arrays_of(state).items() if name != "estimate"}


def state_from(arrays: Arrays, like: S, entries: int) -> S | None:
    """The state of the same type as `like` with these vectors; None unless all are there, and so long.

    Empty vectors are passed over: older versions wrote them for what a link does not need.

    >>> from lossyfl.links.error_feedback import FeedbackState
    >>> like, memory = FeedbackState(memory=np.float32([])), np.float32([1, 2])
    >>> state_from({"memory": memory}, like, 2)
    FeedbackState(memory=array([1., 2.], dtype=float32))
    >>> state_from({"memory": memory}, like, 3), state_from({"trend": memory}, like, 2)
    (None, None)
    """
    left = {name: vector for name, vector in arrays.items() if vector.size}
    made = _filled(like, left, entries) if entries else like
    return None if left else made


def downlink_from(link: Downlink[Any], estimate: Vector, saved: Arrays) -> HasEstimate | None:
    """The state of a downlink with an estimate and the vectors besides; None if they are another link's.

    Older versions saved the estimate once more among those of incremental links, of no others.
    """
    copy = saved.get("estimate", nothing())
    if copy.size and not link.incremental:
        return None
    return state_from({**saved, "estimate": estimate}, link.init(nothing()), estimate.size)


def _filled(like: S, arrays: Arrays, entries: int) -> S | None:
    """The state, its vectors taken out of `arrays`; None where one is missing or of another length."""
    values: dict[str, object] = {}
    for field in dataclasses.fields(cast("Any", like)):
        inside = getattr(like, field.name)
        if isinstance(inside, np.ndarray):
            vector = arrays.pop(field.name, None)
            fits = vector is not None and vector.shape == (entries,)
            values[field.name] = vector if fits else None
        else:
            values[field.name] = _filled(inside, arrays, entries)
        if values[field.name] is None:
            return None
    return dataclasses.replace(cast("Any", like), **values)
