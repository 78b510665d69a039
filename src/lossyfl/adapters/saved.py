"""A training's checkpoint: the server's state, its peers, what is exact, and how far it was.

Beside them the arrays and numbers that a framework's own aggregation carries from round to round (`inner`).
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.exact import Exact
from lossyfl.adapters.folders import TRAINING
from lossyfl.adapters.framework import OWN, Framework
from lossyfl.adapters.layout import DTYPE, Layout, read_layout
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
    """Everything that a training needs to go on.

    rounds:   that are done
    training: its name, by which devices know it
    nodes:    peers that have said who they are
    inner:    arrays and numbers of the framework's own aggregation
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

    def check(self, scheme: str, layout: Layout, framework: Framework = OWN) -> None:
        """Raise if the checkpoint is of another training."""
        of = framework.settings
        if scheme != self.scheme:
            allowed = f"{self.scheme}, as in the checkpoint (or another file to begin anew)"
            raise InputError("scheme", of=of, allowed=allowed, got=scheme)
        if not layout.is_of(read_layout(self.layout)):
            allowed = "as in the checkpoint (or another file to begin anew)"
            got = layout.text()
            raise InputError("the model's arrays", of=of, allowed=allowed, got=got)


def keep(attribute: str, holder: str, name: str, array: NDArray[Any]) -> Kept:
    """An array to be saved."""
    return Kept(
        attribute=attribute,
        holder=holder,
        name=name,
        dtype=array.dtype.str,
        shape=tuple(array.shape),
        data=np.ascontiguousarray(array).tobytes(),
    )


def _keep_exact(name: str, array: Array) -> Kept:
    kept = keep("exact", "dict", name, array.numpy())
    return replace(kept, dtype=BRAIN) if array.dtype == BRAIN else kept


def _exact_array(kept: Kept) -> Array:
    if kept.dtype != BRAIN:
        return Array.of(array_of(kept))
    raw = Array.of(array_of(replace(kept, dtype="|V2")))
    return replace(raw, dtype=BRAIN)


def array_of(kept: Kept) -> NDArray[Any]:
    """The array that was saved; raises InputError if it is none."""
    try:
        if not DTYPE.fullmatch(kept.dtype):
            raise ValueError(kept.dtype)
        return np.frombuffer(kept.data, dtype=np.dtype(kept.dtype)).reshape(kept.shape).copy()
    except (ValueError, TypeError) as error:
        allowed = "as it was saved"
        raise InputError(
            f"array {kept.name}", of="a checkpoint", allowed=allowed, got=str(error)
        ) from error
