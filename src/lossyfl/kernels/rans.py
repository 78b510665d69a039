"""Interleaved rANS over letters: 32-bit states, 16-bit words, four states in turn. The reference of rans.c.

Duda, "Asymmetric numeral systems", arXiv 1311.2540; Giesen, "Interleaved entropy coders", arXiv
1402.3392. With f the frequency of a letter, c the sum of the frequencies before it and F = 2^bits,

    push   x -> (x // f) F + c + x % f          pop   x -> f (x // F) + x % F - c

are inverse to each other. Between steps 2^16 <= x < 2^32: before a push, if x >= f 2^(32 - bits),
the lower 16 bits of x go to the output; after a pop, if x < 2^16, the next 16 bits come back in.
Letters are pushed from the last to the first, so that they pop from the first to the last.

No division in the library's hot loop. With m = ceil(2^(32 + bits) / f) and f < F, x // f = x m >> (32 + bits)
for all x < f 2^(32 - bits): the error x (m f - 2^(32 + bits)) / (f 2^(32 + bits)) is below
x / 2^(32 + bits) < f / F / f <= 1 / f, and x m < 2^64 (tests/kernels/test_rans.py checks the edges).

A segment is the four final states (eight words) and the words. All states start at 2^16, so a
decoder that does not end there, or has words left, was given other bytes than were written.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.model import LETTER_BITS, Frequencies, letters_of
from lossyfl.kernels.native import native

STATE_WORDS = 8
LOWEST = 1 << 16
SLOTS = 1 << LETTER_BITS

Bytes = NDArray[np.uint8]
Edges = NDArray[np.int64]
Symbols = NDArray[np.uint8 | np.uint16]


def gather(symbols: Symbols, alphabet: int, group: int, filler: int) -> Bytes:
    """Letters of `group` symbols each, the first the highest digit; the last is filled up with `filler`.

    >>> gather(np.array([4, 0, 1, 3], dtype=np.uint8), 5, 3, 2).tolist()
    [101, 87]
    """
    padded = np.pad(symbols, (0, -len(symbols) % group), constant_values=filler)
    places = np.array([alphabet**place for place in range(group - 1, -1, -1)])
    return (padded.reshape(-1, group) @ places).astype(np.uint8)


def digit_table(alphabet: int, group: int) -> NDArray[np.int64]:
    """The symbols of every letter.

    >>> digit_table(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    letters = np.arange(alphabet**group, dtype=np.int64)
    places = np.array([alphabet**place for place in range(group - 1, -1, -1)], dtype=np.int64)
    return letters[:, None] // places % alphabet


def _fits(frequencies: Frequencies, alphabet: int, group: int) -> bool:
    letters = letters_of(alphabet, group) == len(frequencies)
    return letters and max(frequencies.tolist()) <= SLOTS and int(frequencies.sum()) == SLOTS


@native("u8[] i i i u64[] i i u8[]! i64[]! -> i")
def push_segments(
    symbols: Symbols,
    alphabet: int,
    group: int,
    filler: int,
    frequencies: Frequencies,
    share: int,
    threads: int,
    words: Bytes,
    first: Edges,
) -> int:
    """Code letters of `group` symbols, every `share` of them as one segment; -1 if sizes do not fit.

    Segment i ends at the end of row i of `words`, which has room for share + 9 of them, and begins at
    byte `first[i]` of it. The last letter may be filled up with `filler`. Letters that have no frequency are
    refused here, and become other letters in the library.
    """
    del threads
    segments, count = len(first), len(symbols)
    if (
        not _fits(frequencies, alphabet, group)
        or segments < 1
        or share < 1
        or not 0 <= filler < 256
    ):
        return -1
    width, own = words.size // segments, share * group
    if width // 2 < share + STATE_WORDS + 1 or not (segments - 1) * own < count <= segments * own:
        return -1
    f, rows = frequencies.tolist(), words.reshape(-1)
    starts = (np.cumsum(frequencies) - frequencies).tolist()
    for i in range(segments):
        letters = gather(symbols[i * own : (i + 1) * own], alphabet, group, filler)
        if not frequencies[letters].all():
            return -1
        data = _push(letters.tolist(), f, starts)
        first[i] = width - len(data)
        rows[i * width + first[i] : (i + 1) * width] = data
    return 0


def _push(letters: list[int], f: list[int], starts: list[int]) -> Bytes:
    """The states and words of one segment."""
    states, words = [LOWEST] * 4, list[int]()
    for i in range(len(letters) - 1, -1, -1):
        x, letter = states[i % 4], letters[i]
        if x >= f[letter] << (32 - LETTER_BITS):
            words.append(x & 0xFFFF)
            x >>= 16
        high, low = divmod(x, f[letter])
        states[i % 4] = (high << LETTER_BITS) + low + starts[letter]
    head = np.array(states, dtype="<u4").view(np.uint8)
    return np.concatenate([head, np.array(words[::-1], dtype="<u2").view(np.uint8)])


@native("u8[] i64[] u64[] b[] i i i i b[]! -> i")
def pop_segments(
    data: Bytes,
    edges: Edges,
    frequencies: Frequencies,
    values: NDArray[np.generic],
    alphabet: int,
    group: int,
    share: int,
    threads: int,
    out: NDArray[np.generic],
) -> int:
    """Fill `out` with `values[symbol]` for every symbol of the segments.

    Segment i is the words [edges[i], edges[i + 1]) of `data` and stands for `share` letters, the last one for
    what is left. Returns the number of the first segment that no encoder wrote, -1 if there is none, or -2 if
    sizes do not fit.
    """
    del threads
    segments, own = len(edges) - 1, share * group
    if not _fits(frequencies, alphabet, group) or len(values) != alphabet or segments < 1:
        return -2
    if edges[0] < 0 or (np.diff(edges) < 0).any() or edges[-1] > len(data) // 2 or share < 1:
        return -2
    if values.itemsize not in (1, 4) or values.itemsize != out.itemsize:
        return -2
    if not (segments - 1) * own < len(out) <= segments * own:
        return -2
    slots = np.repeat(np.arange(len(frequencies)), frequencies.astype(np.int64)).tolist()
    f, starts = frequencies.tolist(), (np.cumsum(frequencies) - frequencies).tolist()
    expanded = values[digit_table(alphabet, group)]
    for i in range(segments):
        target = out[i * own : (i + 1) * own]
        words = data[2 * edges[i] : 2 * edges[i + 1]].tobytes()
        letters = _pop(words, -(-len(target) // group), slots, f, starts)
        if letters is None:
            return i
        target[:] = expanded[letters].ravel()[: len(target)]
    return -1


def _pop(
    data: bytes, count: int, slots: list[int], f: list[int], starts: list[int]
) -> list[int] | None:
    """The letters of one segment; None if words run out, are left, or states begin or end elsewhere."""
    if len(data) < 2 * STATE_WORDS:
        return None
    states: list[int] = np.frombuffer(data, "<u4", 4).tolist()
    words: list[int] = np.frombuffer(data, "<u2", offset=16).tolist()[::-1]
    if min(states) < LOWEST:
        return None
    letters: list[int] = []
    for i in range(count):
        x = states[i % 4]
        letter = slots[x % SLOTS]
        x = f[letter] * (x >> LETTER_BITS) + x % SLOTS - starts[letter]
        if x < LOWEST:
            if not words:
                return None
            x = x << 16 | words.pop()
        states[i % 4] = x
        letters.append(letter)
    return letters if not words and states == [LOWEST] * 4 else None
