"""Numbers between the server's vector and arrays of any dtype: widened, averaged, rounded, checked.

A framework's own aggregation calculates with NumPy, which has no bfloat16; whole numbers have a mean that is
none; and a float16 overflows where the vector, float32 throughout, does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lossyfl.adapters.arrays import Array, Shaped, to_array, whole_values
from lossyfl.adapters.exact import Exact
from lossyfl.adapters.layout import Layout
from lossyfl.errors import FrameError, Refused
from lossyfl.types import Vector
from lossyfl.wire.codec import decode
from lossyfl.wire.frame import raw_nbytes


def mean(replies: Sequence[tuple[int, Exact]], before: Exact) -> Exact:
    """The weighted mean of arrays that travel exactly; whole numbers are rounded, what all agree on stays."""
    total = sum(weight for weight, _ in replies)
    made: dict[str, Array] = {}
    for name, array in before.items():
        values = [whole_values(own[name]) for _, own in replies]
        made[name] = array
        if values and all(np.array_equal(own, values[0]) for own in values):
            made[name] = converted(values[0].copy(), array)
        elif values:
            wide = np.result_type(values[0].dtype, np.float64)
            parts = zip((weight for weight, _ in replies), values, strict=True)
            average = np.sum([weight / total * own.astype(wide) for weight, own in parts], axis=0)
            made[name] = converted(average >= 0.5 if array.dtype == "bool" else average, array)
    return made


def widened(layout: Layout) -> Layout:
    """The layout with float32 for bfloat16, which NumPy cannot calculate with, and float16.

    A float16 rounds by a thousandth, which would make clipped updates longer than they may be.
    """
    narrow = ("bfloat16", "float16")
    slots = [replace(s, dtype="float32") if s.dtype in narrow else s for s in layout.slots]
    return Layout(slots=tuple(slots))


def widened_exact(others: Exact) -> Exact:
    """Arrays that travel exactly, as NumPy can calculate with them."""
    return {name: Array.of(whole_values(array)) for name, array in others.items()}


def to_vector(model: Mapping[str, Array], layout: Layout) -> Vector:
    """The floats that somebody else's aggregation made, at the width at which it made them."""
    parts = [model[slot.name].numpy().reshape(-1) for slot in layout.floats]
    return np.concatenate([part.astype(np.float32) for part in parts])


def converted(values: NDArray[Any], like: Shaped) -> Array:
    """Numbers as an array of another's dtype; whole numbers are rounded to."""
    if like.dtype == "bfloat16":
        return to_array(values.astype(np.float32), like)
    if values.dtype.name != like.dtype:
        whole = np.dtype(like.dtype).kind in "iu"
        values = (np.rint(values) if whole else values).astype(like.dtype)
    return Array.of(np.asarray(values).reshape(like.shape))


def check_width(number: int, reply: bytes, base: Vector, layout: Layout) -> None:
    """Raise if a device's reply, added to `base`, makes a float16 of the model infinite.

    One of another length passes here: the server refuses it, and says why.
    """
    if not any(slot.dtype == "float16" for slot in layout.floats):
        return
    if len(reply) > raw_nbytes(len(base)) + 1:  # as the server has it; not worth decoding
        return
    update = decode_reply(number, reply, len(base))
    if len(update) != len(base):
        return
    at = 0
    for slot in layout.floats:
        part = slice(at, at + slot.entries)
        at += slot.entries
        if slot.dtype == "float16" and slot.entries:
            peak = float(np.abs(base[part] + update[part]).max())
            with np.errstate(over="ignore"):  # infinity is what is looked for
                fits = np.isfinite(np.float16(peak))
            if not fits:
                detail = f"it makes {slot.name} as large as {peak:.3g}, beyond float16"
                raise Refused(number, "huge", detail)


def decode_reply(number: int, reply: bytes, entries: int) -> Vector:
    """The update of a reply, checked before it is taken."""
    try:
        return decode(reply, max_entries=entries)
    except FrameError as error:
        raise Refused(number, "damaged", str(error)) from error
