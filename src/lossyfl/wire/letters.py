"""Symbols to letters and back: k symbols are the digits of one letter, the first the highest."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lossyfl.jit import kernel


@kernel
def gather(
    symbols: NDArray[Any], alphabet: int, group: int, filler: int, letters: NDArray[Any]
) -> None:
    """Fill `letters` from the symbols; a last, partial letter is filled up with `filler`.

    Two and three symbols per letter, the common cases, are written out for the compiler.
    """
    whole = len(symbols) // group
    n = np.uint32(alphabet)
    if group == 3:
        for i in range(whole):
            high = np.uint32(symbols[3 * i]) * n + np.uint32(symbols[3 * i + 1])
            letters[i] = np.uint8(high * n + np.uint32(symbols[3 * i + 2]))
    elif group == 2:
        for i in range(whole):
            letters[i] = np.uint8(np.uint32(symbols[2 * i]) * n + np.uint32(symbols[2 * i + 1]))
    else:
        for i in range(whole):
            letter = np.uint32(0)
            for j in range(group):
                letter = np.uint32(letter * n + np.uint32(symbols[i * group + j]))
            letters[i] = np.uint8(letter)
    if whole < len(letters):
        letter = np.uint32(0)
        for j in range(whole * group, (whole + 1) * group):
            digit = np.uint32(symbols[j]) if j < len(symbols) else np.uint32(filler)
            letter = np.uint32(letter * n + digit)
        letters[whole] = np.uint8(letter)


@kernel
def scatter(letters: NDArray[Any], digits: NDArray[Any], out: NDArray[Any]) -> None:
    """Fill `out` with `digits[letter]`: the letters' symbols, or at once their float values."""
    group = digits.shape[1]
    whole = len(out) // group
    if group == 1:
        for i in range(whole):
            out[i] = digits[letters[i], 0]
    elif group == 3:
        for i in range(whole):
            at = np.uint64(3 * i)
            letter = letters[i]
            out[at] = digits[letter, 0]
            out[at + np.uint64(1)] = digits[letter, 1]
            out[at + np.uint64(2)] = digits[letter, 2]
    elif group == 2:
        for i in range(whole):
            at = np.uint64(2 * i)
            letter = letters[i]
            out[at] = digits[letter, 0]
            out[at + np.uint64(1)] = digits[letter, 1]
    else:
        for i in range(whole):
            at = np.uint64(i * group)
            letter = letters[i]
            for j in range(group):
                out[at + np.uint64(j)] = digits[letter, j]
    for j in range(whole * group, len(out)):
        out[j] = digits[letters[whole], j - whole * group]


@kernel
def scatter_add(letters: NDArray[Any], digits: NDArray[Any], out: NDArray[Any]) -> None:
    """Add `digits[letter]` to `out`: what `scatter` would write, one float addition an entry."""
    group = digits.shape[1]
    whole = len(out) // group
    if group == 3:
        for i in range(whole):
            at = np.uint64(3 * i)
            letter = letters[i]
            out[at] += digits[letter, 0]
            out[at + np.uint64(1)] += digits[letter, 1]
            out[at + np.uint64(2)] += digits[letter, 2]
    else:
        for i in range(whole):
            at = np.uint64(i * group)
            letter = letters[i]
            for j in range(group):
                out[at + np.uint64(j)] += digits[letter, j]
    for j in range(whole * group, len(out)):
        out[j] += digits[letters[whole], j - whole * group]


def digit_table(alphabet: int, group: int) -> NDArray[np.uint16]:
    """The symbols of every letter.

    >>> digit_table(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    letters = np.arange(alphabet**group, dtype=np.int64)
    places = np.array([alphabet**place for place in range(group - 1, -1, -1)], dtype=np.int64)
    return (letters[:, None] // places % alphabet).astype(np.uint16)
