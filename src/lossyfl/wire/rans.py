"""Interleaved rANS over letters: 32-bit states, 16-bit words, four states in turn.

Duda, "Asymmetric numeral systems", arXiv 1311.2540; Giesen, "Interleaved entropy coders", arXiv
1402.3392. With f the frequency of a letter, c the sum of the frequencies before it and F = 2^bits,

    push   x -> (x // f) F + c + x % f          pop   x -> f (x // F) + x % F - c

are inverse to each other. Between steps 2^16 <= x < 2^32: before a push, if x >= f 2^(32 - bits),
the lower 16 bits of x go to the output; after a pop, if x < 2^16, the next 16 bits come back in.
Letters are pushed from the last to the first, so that they pop from the first to the last.

No division in the hot loop. With m = ceil(2^(32 + bits) / f) and f < F, x // f = x m >> (32 + bits)
for all x < f 2^(32 - bits): the error x (m f - 2^(32 + bits)) / (f 2^(32 + bits)) is below
x / 2^(32 + bits) < f / F / f <= 1 / f, and x m < 2^64 (tests/wire/test_rans.py checks the edges).

A segment is the four final states (eight words) and the words. All states start at 2^16, so a
decoder that does not end there, or has words left, was given other bytes than were written.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lossyfl.jit import kernel
from lossyfl.wire.model import Model

STATE_WORDS = 8
LOWEST = 1 << 16

Letters = NDArray[np.uint8]
Words = NDArray[np.uint16]
U = np.uint64


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """Per letter: reciprocal m, limit f 2^(32 - bits), start c, complement F - f."""

    bits: int
    rows: NDArray[np.uint64]

    word: ClassVar[np.dtype[np.uint16]] = np.dtype("<u2")

    @classmethod
    def of(cls, model: Model) -> "Encoder":
        """The table that pushes letters of the model."""
        f = model.frequencies
        one = U(1)
        some = np.maximum(f, one)
        rows = np.empty((len(f), 4), dtype=np.uint64)
        rows[:, 0] = ((one << U(32 + model.bits)) + some - one) // some
        rows[:, 1] = f << U(32 - model.bits)
        rows[:, 2] = np.cumsum(f) - f
        rows[:, 3] = (one << U(model.bits)) - f
        return cls(bits=model.bits, rows=rows)

    def segments(
        self, letters: Letters, share: int, words: Words, first: NDArray[np.int64]
    ) -> None:
        """Code every `share` letters as one segment.

        Segment i ends at the end of row i of `words`, which has room for share + 9 of them, and
        begins at `first[i]` within the row.
        """
        _push_segments(letters, share, self.rows, self.bits, words, first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoder:
    """The letter of every slot of 2^bits; per letter, frequency and start in one 32-bit word."""

    bits: int
    slots: Letters
    steps: NDArray[np.uint32]

    word: ClassVar[np.dtype[np.uint16]] = np.dtype("<u2")

    @classmethod
    def of(cls, model: Model) -> "Decoder":
        """The table that pops letters of the model."""
        f = model.frequencies.astype(np.uint32)
        slots = np.repeat(np.arange(len(f), dtype=np.uint8), f)
        start = np.cumsum(f, dtype=np.uint32) - f
        return cls(bits=model.bits, slots=slots, steps=(f << np.uint32(16)) | start)

    def segments(self, words: Words, edges: NDArray[np.int64], share: int, letters: Letters) -> int:
        """Fill `letters` from segments; segment i is words[edges[i] : edges[i + 1]].

        Returns the number of the first segment that no encoder wrote, or -1.
        """
        return _pop_segments(words, edges, self.slots, self.steps, self.bits, share, letters)


@kernel
def _push(
    x: np.uint64,
    at: np.uint64,
    words: Words,
    rows: NDArray[np.uint64],
    letter: np.uint8,
    shift: np.uint64,
) -> tuple[np.uint64, np.uint64]:
    """One letter onto one state. The word is always stored, and kept only where it is due."""
    words[at - U(1)] = np.uint16(x & U(0xFFFF))
    if x >= rows[letter, 1]:
        x = x >> U(16)
        at = at - U(1)
    quotient = (x * rows[letter, 0]) >> shift
    return x + rows[letter, 2] + quotient * rows[letter, 3], at


@kernel
def _push_all(
    letters: Letters, rows: NDArray[np.uint64], bits: int, words: Words, states: NDArray[np.uint64]
) -> np.uint64:
    """All letters, last to first; returns the index of the first word in use."""
    shift = U(32 + bits)
    at = U(len(words))
    whole = len(letters) // 4 * 4
    for i in range(len(letters) - 1, whole - 1, -1):
        states[i % 4], at = _push(states[i % 4], at, words, rows, letters[i], shift)
    a, b, c, d = states[0], states[1], states[2], states[3]
    for group in range(whole // 4 - 1, -1, -1):
        i = U(4 * group)
        d, at = _push(d, at, words, rows, letters[i + U(3)], shift)
        c, at = _push(c, at, words, rows, letters[i + U(2)], shift)
        b, at = _push(b, at, words, rows, letters[i + U(1)], shift)
        a, at = _push(a, at, words, rows, letters[i], shift)
    states[0], states[1], states[2], states[3] = a, b, c, d
    return at


@kernel
def _push_segments(
    letters: Letters,
    share: int,
    rows: NDArray[np.uint64],
    bits: int,
    words: Words,
    first: NDArray[np.int64],
) -> None:
    """One segment a row of `words`, its states just before its words."""
    states = np.empty(4, dtype=np.uint64)
    for segment in range(len(first)):
        states[:] = U(LOWEST)
        own = letters[segment * share : (segment + 1) * share]
        at = np.int64(_push_all(own, rows, bits, words[segment], states)) - STATE_WORDS
        for i in range(4):
            words[segment, at + 2 * i] = np.uint16(states[i] & U(0xFFFF))
            words[segment, at + 2 * i + 1] = np.uint16(states[i] >> U(16))
        first[segment] = at


@kernel
def _pop(
    x: np.uint64,
    at: np.uint64,
    words: Words,
    step: Any,  # noqa: ANN401
    bits: np.uint64,
    mask: np.uint64,
) -> tuple[np.uint64, np.uint64]:
    """One letter off one state. The word is always read, and used only where it is due."""
    x = (U(step) >> U(16)) * (x >> bits) + (x & mask) - (U(step) & U(0xFFFF))
    refilled = (x << U(16)) | U(words[at])
    if x < U(LOWEST):
        x = refilled
        at = at + U(1)
    return x, at


@kernel
def _pop_all(
    words: Words,
    states: NDArray[np.uint64],
    slots: Letters,
    steps: NDArray[np.uint32],
    bits: int,
    letters: Letters,
) -> bool:
    """All letters, first to last; False if words run out, are left, or states end elsewhere."""
    mask = U((1 << bits) - 1)
    shift = U(bits)
    at = U(0)
    end = U(len(words))
    i = U(0)
    whole = U(len(letters) // 4 * 4)
    a, b, c, d = states[0], states[1], states[2], states[3]
    while i < whole and at + U(4) <= end:  # a group reads four words at the most
        p, q, r, s = slots[a & mask], slots[b & mask], slots[c & mask], slots[d & mask]
        letters[i], letters[i + U(1)], letters[i + U(2)], letters[i + U(3)] = p, q, r, s
        a, at = _pop(a, at, words, steps[p], shift, mask)
        b, at = _pop(b, at, words, steps[q], shift, mask)
        c, at = _pop(c, at, words, steps[r], shift, mask)
        d, at = _pop(d, at, words, steps[s], shift, mask)
        i += U(4)
    states[0], states[1], states[2], states[3] = a, b, c, d
    for j in range(np.int64(i), len(letters)):
        x = states[j % 4]
        letters[j] = slots[x & mask]
        step = U(steps[letters[j]])
        x = (step >> U(16)) * (x >> shift) + (x & mask) - (step & U(0xFFFF))
        if x < U(LOWEST):
            if at == end:
                return False
            x = (x << U(16)) | U(words[at])
            at += U(1)
        states[j % 4] = x
    for state in states:
        if state != U(LOWEST):
            return False
    return at == end


@kernel
def _pop_segments(
    words: Words,
    edges: NDArray[np.int64],
    slots: Letters,
    steps: NDArray[np.uint32],
    bits: int,
    share: int,
    letters: Letters,
) -> int:
    """All segments of `edges`; returns the first that is not what an encoder wrote, or -1."""
    states = np.empty(4, dtype=np.uint64)
    for segment in range(len(edges) - 1):
        own = words[edges[segment] : edges[segment + 1]]
        if len(own) < STATE_WORDS:
            return segment
        for i in range(4):
            states[i] = U(own[2 * i]) | U(own[2 * i + 1]) << U(16)
            if states[i] < U(LOWEST):
                return segment
        target = letters[segment * share : (segment + 1) * share]
        if not _pop_all(own[STATE_WORDS:], states, slots, steps, bits, target):
            return segment
    return -1
