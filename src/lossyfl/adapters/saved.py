"""The strategy's checkpoint: the server's state, the inner strategy's arrays, and how far it was.

Strategies of Flower have no way to save themselves. What they carry from round to round are arrays and
numbers in their attributes (moments, momentum, the model of the round before, a clipping norm), also of a
strategy inside; these are saved and put back by name, so settings are those of the checkpoint.
"""

import inspect
from dataclasses import dataclass, replace
from logging import WARNING
from pathlib import Path
from typing import Any, cast

import numpy as np
from flwr.app import Array, ArrayRecord
from flwr.serverapp.strategy import Strategy
from numpy.typing import NDArray

from lossyfl.adapters.folders import TRAINING
from lossyfl.adapters.layout import DTYPE, Exact, Layout, read_layout
from lossyfl.adapters.logs import log
from lossyfl.adapters.peers import Known
from lossyfl.errors import InputError
from lossyfl.files import snapshot
from lossyfl.files.atomic import STATE
from lossyfl.protocol.rules import is_within
from lossyfl.protocol.states import ServerState

BRAIN = "bfloat16"
"""NumPy has none: two bytes without a meaning."""


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
    exact:    what of the model is not in the vector
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
        """Replace the checkpoint, all or nothing; one with NaN or infinity is never written."""
        self._check_finite(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = tuple(_keep_exact(name, own) for name, own in exact.items())
        snapshot.save(path, replace(self, exact=kept), mode=STATE)

    @staticmethod
    def read(path: Path) -> "tuple[Saved, Exact]":
        """The checkpoint of a file; raises InputError unless all of it can be gone on from."""
        saved = snapshot.load(path, Saved)
        saved._check_types(path)
        saved._check_finite(path)
        return saved, {kept.name: _exact_array(kept) for kept in saved.exact}

    def _check_types(self, path: Path) -> None:
        """Raise if the file holds other things than fields of their types."""
        facts: list[object] = [self.training, self.scheme, self.layout]
        numbers: list[object] = [self.rounds]
        for node in self.nodes:
            numbers += [node.node, node.number]
        texts = all(isinstance(fact, str) for fact in facts) and TRAINING.fullmatch(self.training)
        if not texts or not all(type(n) is int and n >= 0 for n in numbers):
            raise InputError("content", of=path.name, allowed="a whole Saved", got="another")
        read_layout(self.layout)

    def _check_finite(self, path: Path) -> None:
        """Raise if the model is not of finite floats: every round that goes on from it would fail."""
        for name, vector in (("theta", self.server.theta), ("estimate", self.server.estimate)):
            if not is_within(vector):
                allowed = "finite; the training must begin anew, or from an older checkpoint"
                got = f"NaN, infinity or beyond after round {self.rounds}"
                raise InputError(name, of=f"the checkpoint {path.name}", allowed=allowed, got=got)

    def check(self, scheme: str, layout: Layout) -> None:
        """Raise if the checkpoint is of another training."""
        if scheme != self.scheme:
            allowed = f"{self.scheme}, as in the checkpoint (or another save_to)"
            raise InputError("scheme", of="LossyStrategy", allowed=allowed, got=scheme)
        if not layout.is_of(read_layout(self.layout)):
            allowed = "as in the checkpoint (or another save_to)"
            got = layout.text()
            raise InputError("the model's arrays", of="LossyStrategy", allowed=allowed, got=got)


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
            # Arithmetic with arrays without axes, such as counts of batches, gives NumPy's scalars.
            kept += [
                _keep(name, holder, key, np.asarray(cast("NDArray[Any]", own)))
                for key, own in _items(cast("dict[str, object] | list[object]", value))
                if isinstance(own, np.ndarray | np.number)
            ]
    return tuple(kept)


def restore_inner(inner: Strategy, kept: tuple[Kept, ...]) -> None:
    """Put arrays and numbers back."""
    for path, holder in dict.fromkeys((own.attribute, own.holder) for own in kept):
        place, attribute = _place(inner, path)
        arrays = {own.name: _array(own) for own in kept if own.attribute == path}
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


def _keep(attribute: str, holder: str, name: str, array: NDArray[Any]) -> Kept:
    return Kept(
        attribute=attribute,
        holder=holder,
        name=name,
        dtype=array.dtype.str,
        shape=tuple(array.shape),
        data=np.ascontiguousarray(array).tobytes(),
    )


def _keep_exact(name: str, array: Array) -> Kept:
    kept = _keep("exact", "dict", name, array.numpy())
    return replace(kept, dtype=BRAIN) if array.dtype == BRAIN else kept


def _exact_array(kept: Kept) -> Array:
    if kept.dtype != BRAIN:
        return Array(_array(kept))
    raw = Array(_array(replace(kept, dtype="|V2")))
    return Array(dtype=BRAIN, shape=raw.shape, stype=raw.stype, data=raw.data)


def _array(kept: Kept) -> NDArray[Any]:
    try:
        if not DTYPE.fullmatch(kept.dtype):
            raise ValueError(kept.dtype)
        return np.frombuffer(kept.data, dtype=np.dtype(kept.dtype)).reshape(kept.shape).copy()
    except (ValueError, TypeError) as error:
        allowed = "as it was saved"
        raise InputError(
            f"array {kept.name}", of="a checkpoint", allowed=allowed, got=str(error)
        ) from error
