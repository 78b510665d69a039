"""The strategy's checkpoint: the server's state, the inner strategy's arrays, and how far it was.

Strategies of Flower have no way to save themselves. What they carry from round to round are arrays and
numbers in their attributes (moments, momentum, the model of the round before, a clipping norm), also of a
strategy inside; these are saved and put back by name, so settings are those of the checkpoint.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from flwr.app import Array, ArrayRecord
from flwr.serverapp.strategy import Strategy
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.files import snapshot
from lossyfl.flower.layout import Exact
from lossyfl.flower.nodes import Known
from lossyfl.states import ServerState


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One array: of which attribute, under which name, and what it was in."""

    attribute: str
    holder: str
    name: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """Everything that a strategy needs to go on.

    rounds:   that are done
    training: its name, by which devices know it
    nodes:    that have said who they are
    inner:    arrays and numbers of the inner strategy
    exact:    what of the model is not a float
    """

    rounds: int
    training: str
    scheme: str
    layout: str
    server: ServerState
    nodes: tuple[Known, ...]
    inner: tuple[Kept, ...]
    exact: tuple[Kept, ...] = ()

    def write(self, path: Path, exact: Exact) -> None:
        """Replace the checkpoint, all or nothing."""
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = tuple(_keep("exact", "dict", name, own.numpy()) for name, own in exact.items())
        snapshot.save(path, replace(self, exact=kept))

    @staticmethod
    def read(path: Path) -> "tuple[Saved, Exact]":
        """The checkpoint of a file."""
        saved = snapshot.load(path, Saved)
        return saved, {kept.name: Array(_array(kept)) for kept in saved.exact}

    def check(self, scheme: str, layout: str) -> None:
        """Raise if the checkpoint is of another training."""
        if scheme != self.scheme:
            allowed = f"{self.scheme}, as in the checkpoint (or another save_to)"
            raise InputError("scheme", of="LossyStrategy", allowed=allowed, got=scheme)
        if layout != self.layout:
            allowed = "as in the checkpoint (or another save_to)"
            raise InputError("the model's arrays", of="LossyStrategy", allowed=allowed, got=layout)


def read_inner(inner: Strategy, path: str = "") -> tuple[Kept, ...]:
    """What a strategy, and one inside it, carries from round to round: arrays and numbers."""
    kept: list[Kept] = []
    for attribute, value in vars(inner).items():
        name = f"{path}{attribute}"
        if isinstance(value, Strategy):
            kept += read_inner(value, f"{name}.")
        elif isinstance(value, float):
            kept.append(_keep(name, "number", "", np.asarray(value)))
        elif isinstance(value, ArrayRecord):
            kept += [_keep(name, "record", key, own.numpy()) for key, own in value.items()]
        elif isinstance(value, dict | list):
            holder = "dict" if isinstance(value, dict) else "list"
            kept += [
                _keep(name, holder, key, cast("NDArray[Any]", own))
                for key, own in _items(cast("dict[str, object] | list[object]", value))
                if isinstance(own, np.ndarray)
            ]
    return tuple(kept)


def restore_inner(inner: Strategy, kept: tuple[Kept, ...]) -> None:
    """Put arrays and numbers back."""
    for path, holder in dict.fromkeys((own.attribute, own.holder) for own in kept):
        *inside, attribute = path.split(".")
        place: object = inner
        for name in inside:
            place = getattr(place, name)
        arrays = {own.name: _array(own) for own in kept if own.attribute == path}
        before = getattr(place, attribute, None)
        value: object = arrays
        if holder == "number":
            value = float(arrays[""])
        elif holder == "record":
            value = ArrayRecord({name: Array(own) for name, own in arrays.items()})
        elif holder == "list":
            value = list(arrays.values())
        elif isinstance(before, dict):
            value = cast("dict[str, object]", before) | arrays
        setattr(place, attribute, value)


def _items(holder: dict[str, object] | list[object]) -> list[tuple[str, object]]:
    if isinstance(holder, dict):
        return list(holder.items())
    return [(str(number), own) for number, own in enumerate(holder)]


def _keep(attribute: str, holder: str, name: str, array: NDArray[Any]) -> Kept:
    return Kept(
        attribute=attribute,
        holder=holder,
        name=name,
        dtype=array.dtype.str,
        shape=tuple(array.shape),
        data=np.ascontiguousarray(array).tobytes(),
    )


def _array(kept: Kept) -> NDArray[Any]:
    return np.frombuffer(kept.data, dtype=np.dtype(kept.dtype)).reshape(kept.shape).copy()
