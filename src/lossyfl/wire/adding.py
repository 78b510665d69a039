"""Adding a frame to a sum without making its vector.

A reply is decoded to letters, which shows whether it is whole; only then is it added, one pass over
the sum, `weight * value` looked up and added an entry. Sums are float32, in the order of the calls.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lossyfl.jit import kernel
from lossyfl.types import Symbols, Vector
from lossyfl.wire import body, frame
from lossyfl.wire.facts import Facts, facts_of
from lossyfl.wire.frame import MAX_ENTRIES, Bytes, Header, Opened
from lossyfl.wire.letters import digit_table, scatter_add


@dataclass(frozen=True, slots=True, kw_only=True)
class Addend:
    """A frame that has been decoded as far as to be found whole.

    header: of the frame
    facts:  what it costs
    terms:  its letters, or its vector if it has no letters or several tables
    values: what each letter stands for, a row each; None with a vector
    """

    header: Header
    facts: Facts
    terms: Symbols | Vector
    values: NDArray[np.float32] | None

    def add_to(self, total: Vector, weight: float) -> None:
        """Total += weight * vector, entry by entry in float32."""
        factor = np.float32(weight)
        if self.values is None:
            _add(self.terms, factor, total)
        else:
            scatter_add(self.terms, self.values * factor, total)


def open_addend(data: Bytes, *, max_entries: int = MAX_ENTRIES, threads: int = 1) -> Addend:
    """Decode a frame's letters; raises FrameError, and touches no sum."""
    header = frame.read_header(data, max_entries)
    opened = frame.open_body(data, header)
    known = facts_of(opened, memoryview(data).nbytes)
    if not isinstance(opened, Opened):
        return Addend(header=header, facts=known, terms=opened, values=None)
    coded = opened.symbols
    if opened.table.blocks > 1 or header.rotated or not isinstance(coded, body.Coded):
        vector = frame.reconstruct(opened, threads)
        return Addend(header=header, facts=known, terms=vector, values=None)
    values = opened.table.rows(0, 1)[0][digit_table(header.alphabet, coded.group)]
    return Addend(header=header, facts=known, terms=coded.letters(threads), values=values)


@kernel
def _add(x: NDArray[Any], weight: np.float32, total: NDArray[np.float32]) -> None:
    for i in range(len(total)):
        total[i] += weight * x[i]
