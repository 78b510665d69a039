"""What a frame costs, and what the paper would have counted for it."""

from dataclasses import dataclass

from lossyfl.types import Vector, paper_bits
from lossyfl.wire import frame
from lossyfl.wire.frame import Opened
from lossyfl.wire.header import HARD_LIMIT, Bytes, read_header

PAPER_FLOAT_BITS = 33
"""What the paper charges for an exact entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Length, entries, R_Q (33 bits per entry for exact floats), and the symbols' entropy in bits.

    The entropy is that of the counts which the frame carries, rounded to a few significant bits; of symbols
    coded by class it is that of all classes, summed.
    """

    nbytes: int
    entries: int
    paper_bits: float
    entropy_bits: float


def facts(data: Bytes, *, trusted: bool = False) -> Facts:
    """The facts of a frame; its symbols are not decoded.

    trusted: whether this process has made it, so that its checksum need not be computed again
    """
    opened = frame.open_body(data, read_header(data, HARD_LIMIT, trusted=trusted))
    return facts_of(opened, memoryview(data).nbytes)


def facts_of(opened: Opened | Vector, nbytes: int) -> Facts:
    """The facts of an opened frame of so many bytes."""
    if not isinstance(opened, Opened):
        entries = len(opened)
        bits = float(PAPER_FLOAT_BITS * entries)
        return Facts(nbytes=nbytes, entries=entries, paper_bits=bits, entropy_bits=32.0 * entries)
    header = opened.header
    symbols = opened.symbols.entropy()
    paper = frame_paper_bits(opened)
    return Facts(nbytes=nbytes, entries=header.entries, paper_bits=paper, entropy_bits=symbols)


def frame_paper_bits(opened: Opened) -> float:
    """R_Q of a quantizer with as many symbols; of the padded vector where it is rotated."""
    levels = (opened.table.alphabet - 1) // 2
    return paper_bits(opened.header.symbols, opened.table.blocks, levels)
