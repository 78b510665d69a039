"""A model as named arrays <-> one vector of its weights, and what is no weight."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lossyfl.adapters.arrays import Array, Serialized, floats, to_array
from lossyfl.adapters.exact import Exact
from lossyfl.adapters.layout import Layout
from lossyfl.errors import InputError
from lossyfl.types import Vector

Model = Mapping[str, Serialized]
"""A model by the names of its arrays: a framework's, or ours."""
UNNAMED = " (a list of arrays has no names: make it a dict, or a state_dict)"


def flatten(model: Model, layout: Layout, *, of: str) -> Vector:
    """The floats of a model as one vector."""
    check(model, layout, of=of)
    return np.concatenate([floats(model[slot.name]) for slot in layout.floats])


def check_range(vector: Vector, layout: Layout, *, of: str) -> None:
    """Raise if an array of a vector would be infinite in its own dtype, which is narrower."""
    at = 0
    for slot in layout.floats:
        part = vector[at : at + slot.entries]
        at += slot.entries
        if slot.dtype not in ("float16", "bfloat16") or not slot.entries:
            continue
        peak = np.abs(part).max().reshape(1)
        with np.errstate(over="ignore"):  # infinity is what is looked for
            narrow = floats(to_array(peak, replace(slot, shape=(1,))))
        if not np.isfinite(narrow).all():
            allowed, got = f"not beyond {slot.dtype}", f"{float(peak[0]):.6g}"
            raise InputError(f"array {slot.name}", of=of, allowed=allowed, got=got)


def is_in_range(vector: Vector, layout: Layout) -> bool:
    """Whether every array of a vector is finite in its own dtype."""
    try:
        check_range(vector, layout, of="a model")
    except InputError:
        return False
    return True


def unflatten(vector: Vector, others: Exact, layout: Layout) -> dict[str, Array]:
    """The model of a vector, every array in its own dtype."""
    arrays: dict[str, Array] = {}
    at = 0
    for slot in layout.slots:
        if slot.in_vector:
            arrays[slot.name] = to_array(vector[at : at + slot.entries], slot)
            at += slot.entries
        else:
            arrays[slot.name] = others[slot.name]
    return arrays


def filled(trained: Model, start: Model, *, of: str) -> dict[str, Serialized]:
    """A trained model with the arrays that it left out, taken from where it started."""
    for name in trained:
        if name not in start:
            allowed = "those of the model that was sent"
            got = f"one more, {name}{UNNAMED if name.isdecimal() else ''}"
            raise InputError("arrays", of=of, allowed=allowed, got=got)
    return {name: trained.get(name, array) for name, array in start.items()}


def check(model: Model, layout: Layout, *, of: str) -> None:
    """Raise if a model has other arrays than the layout."""
    expected = {slot.name: slot for slot in layout.slots}
    for name in [*expected, *model]:
        slot, array = expected.get(name), model.get(name)
        if slot is not None and array is not None and slot.fits(array):
            continue
        allowed = "left out" if slot is None else f"{slot.dtype} of shape {slot.shape}"
        got = "none" if array is None else f"{array.dtype} of shape {tuple(array.shape)}"
        raise InputError(f"array {name}", of=of, allowed=f"{allowed}, as at the start", got=got)
