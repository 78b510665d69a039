"""Side information as numbers: written all at once, read family by family."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import FrameError, InputError
from lossyfl.kernels.numbers import (
    BIT_LOWEST,
    CHANCES,
    FAMILIES,
    FIRST_CHANCE,
    STATE,
    pop_numbers,
    push_numbers,
)

Numbers = NDArray[np.int64]

STATE_BYTES = 3


class Writer:
    """Collects numbers.

    >>> writer = Writer()
    >>> writer.add(0, [1, 2, 3])
    >>> reader = Reader(memoryview(writer.data()), offset=0)
    >>> reader.take(0, 3).tolist()
    [1, 2, 3]
    >>> reader.finish()
    """

    def __init__(self) -> None:
        self._values: list[Numbers] = []
        self._families: list[int] = []

    def add(self, family: int, values: Sequence[int] | Numbers) -> None:
        """More numbers of a family."""
        self._values.append(np.asarray(values, dtype=np.int64))
        self._families.append(family)

    def data(self) -> bytes:
        """The bytes of all of them."""
        values = np.concatenate(self._values)
        families = np.repeat(
            np.array(self._families, np.uint8), [len(each) for each in self._values]
        )
        longest = int(np.abs(values).max(initial=0)).bit_length()
        bits = np.empty((3 + 2 * longest) * len(values) + 1, np.uint32)
        out = np.empty(2 * len(bits) + STATE_BYTES, np.uint8)
        size = push_numbers(values, families, bits, out)
        if size < 0:
            raise InputError(
                "side information", of="a frame", allowed="numbers below 2^40", got=longest
            )
        return out[len(out) - size :].tobytes()


class Reader:
    """Takes numbers as they were added; raises FrameError where there are none.

    offset: where they stand in their frame
    """

    def __init__(self, data: memoryview, *, offset: int) -> None:
        self.offset = offset
        self._data = np.frombuffer(data, dtype=np.uint8)
        self._state = np.zeros(STATE, np.int64)
        self._chances = np.full(FAMILIES * CHANCES, FIRST_CHANCE, np.uint32)
        x = int.from_bytes(data[:STATE_BYTES], "little")
        if len(data) < STATE_BYTES or x < BIT_LOWEST:
            raise FrameError(
                offset, "the state of a coder of side information", f"{len(data)} bytes"
            )
        self._state[:2] = x, STATE_BYTES

    def take(self, family: int, count: int) -> Numbers:
        """The next numbers of a family."""
        values = np.empty(count, np.int64)
        if pop_numbers(self._data, self._state, self._chances, family, values) < 0:
            raise FrameError(self.offset, f"{count} numbers of side information", "fewer")
        return values

    def finish(self) -> None:
        """Raise unless all is read, and was written by such a coder."""
        if self._state[0] != BIT_LOWEST or self._state[1] != len(self._data):
            left = f"{len(self._data) - int(self._state[1])} bytes"
            raise FrameError(self.offset, "side information that ends where it does", left)
