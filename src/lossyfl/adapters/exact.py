"""What of a model travels exactly, beside the vector: counts of batches, masks, statistics."""

import math
from collections.abc import Mapping

import numpy as np

from lossyfl.adapters.arrays import Array, Serialized, is_whole, kind_of, whole_values
from lossyfl.adapters.layout import Layout, Slot
from lossyfl.adapters.statistics import is_spread
from lossyfl.errors import InputError

Exact = Mapping[str, Array]
"""Arrays that are not in the vector, by name."""


def exact_of(model: Mapping[str, Serialized], layout: Layout) -> Exact:
    """The arrays of a model that are not in the vector."""
    return {slot.name: Array.like(model[slot.name]) for slot in layout.slots if not slot.in_vector}


def check_exact(others: Exact, layout: Layout, *, of: str) -> None:
    """Raise unless these are the arrays of a layout that are not in the vector, and can be read."""
    expected = {slot.name for slot in layout.slots if not slot.in_vector}
    for name in others:
        if name not in expected:
            allowed = "those that travel exactly"
            raise InputError("arrays", of=of, allowed=allowed, got=f"one more, {name[:80]}")
    for slot in layout.slots:
        array = others.get(slot.name)
        if slot.in_vector:
            continue
        if array is not None and slot.fits(array) and _is_sound(array):
            _check_spread(slot, array, of=of)
            continue
        allowed = f"{slot.dtype} of shape {slot.shape}, as at the start"
        got = "none" if array is None else f"{array.dtype} of shape {array.shape}, or damaged"
        raise InputError(f"array {slot.name}", of=of, allowed=allowed, got=got)


def bound_beside(others: Exact, before: Exact, bound: float) -> float:
    """What is left of a bound for the frame beside floats that travel exactly; raises if nothing is."""
    if bound == math.inf:
        return bound
    energy = 0.0
    for name, array in others.items():
        if kind_of(array.dtype) in "fc":
            change = whole_values(array) - whole_values(before[name])
            energy += float(np.sum(np.abs(change).astype(np.float64) ** 2))
    if not energy <= bound**2:
        allowed = f"within the clipping norm of {bound:g}"
        got = f"{math.sqrt(energy):g} for arrays that travel exactly"
        raise InputError("change", of="a reply", allowed=allowed, got=got)
    return math.sqrt(bound**2 - energy)


def nbytes(others: Exact) -> int:
    """The bytes of arrays that travel exactly."""
    return sum(len(array.data) for array in others.values())


def _check_spread(slot: Slot, array: Array, *, of: str) -> None:
    """Raise if a variance is below zero: it is nobody's honest statistic, and its root is NaN."""
    if slot.statistic and is_spread(slot.name):
        lowest = float(whole_values(array).astype(np.float64).min(initial=0.0))
        if lowest < 0:
            raise InputError(f"array {slot.name}", of=of, allowed="not below zero", got=lowest)


def _is_sound(array: Array) -> bool:
    """Whether an array can be read, and a mean with it is a number."""
    if not is_whole(array):
        return False
    values = whole_values(array)
    return values.dtype.kind not in "fc" or bool(np.isfinite(values).all())
