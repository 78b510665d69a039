"""The randomized Walsh-Hadamard transform: it spreads every entry evenly over all of them.

Suresh, Yu, Kumar, McMahan, "Distributed mean estimation with limited communication", ICML 2017; the
linear transform of the paper's benchmark LTGM. For x padded with zeros to n = 2^k entries,

    rotate(x) = H D x / sqrt(n)        unrotate(z) = D H z / sqrt(n)

where D has random signs and H is the Walsh-Hadamard matrix, H H = n I. Without signs (D = I) the first entry
is the sum of all, which grows where weights drift together: the reading of LTGM that fits the paper's words
best. H is never formed: with
H_2n = [[H, H], [H, -H]], a stage of stride h maps every pair (a, b) at distance h to (a + b, a - b),
and k stages make H. Their order is fixed, so the result is the same to the bit everywhere.

Stages of short stride run inside pieces that fit the first-level cache; of all stages, two run in one
pass over the memory.
"""

import numpy as np

from lossyfl.jit import kernel
from lossyfl.streams import Stream
from lossyfl.types import Vector

PIECE = 1 << 13
SIGNS = 0x726F746174696F6E  # the second key word of every stream of signs


def padded_length(entries: int) -> int:
    """The power of two that holds so many entries.

    >>> padded_length(5), padded_length(8)
    (8, 8)
    """
    return 1 << (entries - 1).bit_length()


def rotate(x: Vector, seed: int | None) -> Vector:
    """H D x / sqrt(n) of the padded vector; a seed of None leaves all signs as they are."""
    z = np.zeros(padded_length(len(x)), dtype=np.float32)
    z[: len(x)] = x
    if seed is not None:
        _flip(z, _sign_words(seed, len(z)))
    hadamard(z)
    return z


def unrotate(z: Vector, seed: int | None, entries: int) -> Vector:
    """The first `entries` of D H z / sqrt(n): what was rotated."""
    x = z.copy()
    hadamard(x)
    if seed is not None:
        _flip(x, _sign_words(seed, len(x)))
    return x[:entries].copy()


def hadamard(z: Vector) -> None:
    """Replace z by H z / sqrt(n); its length must be a power of two.

    >>> z = np.array([1, 0, 0, 0], dtype=np.float32)
    >>> hadamard(z); z
    array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """
    _stages(z, np.float32(1 / np.sqrt(len(z))))


def _sign_words(seed: int, entries: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """Random bits, one for each entry, 32 to a word."""
    return Stream(seed, SIGNS).bits(0, -(-entries // 32))


@kernel
def _flip(z: Vector, words: np.ndarray[tuple[int], np.dtype[np.uint32]]) -> None:
    """Change the sign of entry i where bit i mod 32 of word i // 32 is set."""
    for i in range(len(z)):
        if (words[i >> 5] >> np.uint32(i & 31)) & np.uint32(1):
            z[i] = -z[i]


@kernel
def _stage(z: Vector, stride: int) -> None:
    """One stage."""
    for start in range(0, len(z), 2 * stride):
        low = z[start : start + stride]
        high = z[start + stride : start + 2 * stride]
        for i in range(stride):
            a, b = low[i], high[i]
            low[i] = a + b
            high[i] = a - b


@kernel
def _two_stages(z: Vector, stride: int) -> None:
    """The stages of `stride` and 2 * `stride` in one pass."""
    for start in range(0, len(z), 4 * stride):
        first = z[start : start + stride]
        second = z[start + stride : start + 2 * stride]
        third = z[start + 2 * stride : start + 3 * stride]
        fourth = z[start + 3 * stride : start + 4 * stride]
        for i in range(stride):
            a, b = first[i] + second[i], first[i] - second[i]
            c, d = third[i] + fourth[i], third[i] - fourth[i]
            first[i], second[i], third[i], fourth[i] = a + c, b + d, a - c, b - d


@kernel
def _stages(z: Vector, scale: np.float32) -> None:
    """The scale, which keeps large entries from overflowing, and all stages, the shortest first."""
    for i in range(len(z)):
        z[i] *= scale
    for start in range(0, len(z), PIECE):
        piece = z[start : start + PIECE]
        stride = 1
        while 4 * stride <= len(piece):
            _two_stages(piece, stride)
            stride *= 4
        if stride < len(piece):
            _stage(piece, stride)
    stride = PIECE
    while 4 * stride <= len(z):
        _two_stages(z, stride)
        stride *= 4
    if stride < len(z):
        _stage(z, stride)
