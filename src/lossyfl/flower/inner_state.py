"""What a strategy carries from round to round, to be saved in a checkpoint and put back.

Strategies of Flower have no way to save themselves. What they carry are arrays and numbers in their
attributes (moments, momentum, the model of the round before, a clipping norm), also of a strategy inside;
these are saved and put back by name, so settings are those of the checkpoint.
"""

import inspect
from logging import WARNING
from typing import Any, cast

import numpy as np
from flwr.app import Array, ArrayRecord
from flwr.serverapp.strategy import Strategy
from numpy.typing import NDArray

from lossyfl.adapters.saved import Kept, array_of, keep
from lossyfl.errors import InputError
from lossyfl.flower.framework import log


def read_inner(inner: Strategy, path: str = "") -> tuple[Kept, ...]:
    """What a strategy, and one inside it, carries from round to round: arrays and numbers."""
    kept: list[Kept] = []
    for attribute, value in vars(inner).items():
        name = f"{path}{attribute}"
        if isinstance(value, Strategy):
            kept += read_inner(value, f"{name}.")
        elif isinstance(value, float):
            kept.append(keep(name, "number", "", np.asarray(value)))
        elif isinstance(value, ArrayRecord):
            kept += [keep(name, "record", key, own.numpy()) for key, own in value.items()]
        elif isinstance(value, dict | list):
            holder = "dict" if isinstance(value, dict) else "list"
            # Arithmetic with arrays without axes, such as counts of batches, gives NumPy's scalars.
            kept += [
                keep(name, holder, key, np.asarray(cast("NDArray[Any]", own)))
                for key, own in _items(cast("dict[str, object] | list[object]", value))
                if isinstance(own, np.ndarray | np.number)
            ]
    return tuple(kept)


def restore_inner(inner: Strategy, kept: tuple[Kept, ...]) -> None:
    """Put arrays and numbers back."""
    for path, holder in dict.fromkeys((own.attribute, own.holder) for own in kept):
        place, attribute = _place(inner, path)
        arrays = {own.name: array_of(own) for own in kept if own.attribute == path}
        before = getattr(place, attribute, None)
        value: object = arrays
        if holder == "number":
            value = _number(path, list(arrays.values()))
            if before != value and attribute in inspect.signature(type(place)).parameters:
                what = f"{attribute} of {type(place).__name__} is {value} as in the checkpoint"
                log(WARNING, "lossyfl: %s, not %s; another save_to begins anew", what, before)
        elif holder == "record":
            value = ArrayRecord({name: Array(own) for name, own in arrays.items()})
        elif holder == "list":
            value = list(arrays.values())
        elif isinstance(before, dict):
            value = cast("dict[str, object]", before) | arrays
        setattr(place, attribute, value)


def _place(inner: Strategy, path: str) -> tuple[Strategy, str]:
    """The strategy that has an attribute, which a file may call anything, and the attribute's name."""
    *inside, attribute = path.split(".")
    place: object = inner
    for name in inside:
        place = getattr(place, name, None)
    plain = attribute.isidentifier() and not attribute.startswith("__")  # those are Python's
    if not isinstance(place, Strategy) or not plain or callable(getattr(place, attribute, None)):
        allowed = f"one of {type(inner).__name__}, as it was saved"
        raise InputError("attribute", of="a checkpoint", allowed=allowed, got=path)
    return place, attribute


def _items(holder: dict[str, object] | list[object]) -> list[tuple[str, object]]:
    if isinstance(holder, dict):
        return list(holder.items())
    return [(str(number), own) for number, own in enumerate(holder)]


def _number(path: str, arrays: list[NDArray[Any]]) -> float:
    """The one number that an attribute was."""
    if len(arrays) != 1 or arrays[0].dtype.kind != "f" or arrays[0].ndim:
        raise InputError(
            path, of="a checkpoint", allowed="one number, as it was saved", got="others"
        )
    return float(arrays[0])
