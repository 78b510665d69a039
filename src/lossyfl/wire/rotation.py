"""The randomized Walsh-Hadamard transform: it spreads every entry evenly over all of them.

Suresh, Yu, Kumar, McMahan, "Distributed mean estimation with limited communication", ICML 2017; the
linear transform of the paper's benchmark LTGM. For x padded with zeros to n = 2^k entries,

    rotate(x) = H D x / sqrt(n)        unrotate(z) = D H z / sqrt(n)

where D has random signs and H is the Walsh-Hadamard matrix, H H = n I. Without signs (D = I) the first entry
is the sum of all, which grows where weights move together: the reading of LTGM that fits the paper's words
best. H is never formed: with
H_2n = [[H, H], [H, -H]], a stage of stride h maps every pair (a, b) at distance h to (a + b, a - b),
and k stages make H. Their order is fixed, so the result is the same to the bit everywhere.
"""

import numpy as np

from lossyfl.kernels.checks import fits
from lossyfl.kernels.rotation import flip_signs, hadamard_stages
from lossyfl.streams import Stream
from lossyfl.types import Vector

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
        _flip(z, seed)
    hadamard(z)
    return z


def unrotate(z: Vector, seed: int | None, entries: int) -> Vector:
    """The first `entries` of D H z / sqrt(n): what was rotated."""
    x = z.copy()
    hadamard(x)
    if seed is not None:
        _flip(x, seed)
    return x[:entries].copy()


def hadamard(z: Vector) -> None:
    """Replace z by H z / sqrt(n); its length must be a power of two.

    >>> z = np.array([1, 0, 0, 0], dtype=np.float32)
    >>> hadamard(z); z
    array([0.5, 0.5, 0.5, 0.5], dtype=float32)
    """
    fits(hadamard_stages(z, 1 / np.sqrt(len(z))))


def _flip(z: Vector, seed: int) -> None:
    """Change signs at random, by one bit per entry."""
    words = Stream(seed, SIGNS).bits(0, -(-len(z) // 32))
    fits(flip_signs(z.view(np.uint32), words))
