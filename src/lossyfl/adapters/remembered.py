"""What a device remembers between two messages: its state, its model's layout, and what is exact of it."""

import re
from dataclasses import dataclass, field, replace

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.exact import Exact
from lossyfl.adapters.layout import read_layout
from lossyfl.errors import InputError
from lossyfl.protocol.states import DeviceState

SHAPE = re.compile("[0-9 ]{0,200}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A device's state, the layout of its model, and what of the model is not in its vector.

    scheme: that the state belongs to
    exact:  (name, dtype, serialization, shape, bytes) of every array that travels exactly, flat
    """

    scheme: str = ""
    layout: str = ""
    names: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    stypes: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    arrays: tuple[bytes, ...] = ()
    device: DeviceState = field(default_factory=DeviceState)

    def of_model(self, layout: str, exact: Exact) -> "Remembered":
        """The same with another model's layout and exact arrays."""
        arrays = list(exact.items())
        return replace(
            self,
            layout=layout,
            names=tuple(name for name, _ in arrays),
            dtypes=tuple(array.dtype for _, array in arrays),
            stypes=tuple(array.stype for _, array in arrays),
            shapes=tuple(" ".join(map(str, array.shape)) for _, array in arrays),
            arrays=tuple(array.data for _, array in arrays),
        )

    @property
    def exact(self) -> Exact:
        """The arrays that travel exactly."""
        columns = (self.dtypes, self.shapes, self.stypes, self.arrays)
        rows = zip(self.names, *columns, strict=True)
        return {
            name: Array(dtype, tuple(map(int, shape.split())), stype, data)
            for name, dtype, shape, stype, data in rows
        }


def check_remembered(found: Remembered) -> Remembered:
    """What a file holds, if every part of it can be used; its arrays belong to the protocol."""
    columns = (found.names, found.dtypes, found.stypes, found.shapes)
    texts: list[object] = [
        found.scheme,
        found.layout,
        *(text for column in columns for text in column),
    ]
    device = found.device
    numbers = (device.round, device.replied, device.accepted)
    problem = ""
    if not all(isinstance(text, str) for text in texts):
        problem = "a text that is none"
    elif any(len(column) != len(found.arrays) for column in columns):
        problem = "facts of some arrays only"
    elif not all(SHAPE.fullmatch(shape) for shape in found.shapes):
        problem = "a shape that is none"
    elif any(type(number) is not int or not -2 <= number < 1 << 32 for number in numbers):
        problem = f"the rounds {numbers}"
    elif device.round >= 0 and not found.layout:
        problem = "an estimate without a layout"
    if problem:
        raise InputError("content", of="a device's file", allowed="a whole state", got=problem)
    if found.layout:
        read_layout(found.layout)
    return found
