"""Randomness addressed by (seed, purpose, round, device); nothing else in lossyfl draws numbers.

A stream is a function from an index to 32 random bits: entry i of a vector always sees the same
bits, on any number of threads and in any order. Word j (64 bits) of a stream with the key (a, b) is

    z = a + j * 0x9E3779B97F4A7C15          (mod 2^64)
    z = (z ^ z >> 30 ^ b) * 0xBF58476D1CE4E5B9
    z = (z ^ z >> 27) * 0x94D049BB133111EB
    z ^ z >> 31

which is SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, with Stafford's mixing constants) plus a
second key word, so that two streams are different functions and not two windows of one sequence.
Entry 2j takes the lower half of word j, entry 2j + 1 the upper half. The key is a BLAKE2b hash of
the address.
docs/adr/0002-randomness.md says why.
"""

import hashlib
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.kernels.random_words import random_bits

STRIP = 1 << 16
"""Entries whose bits, and what is made of them, stay in the second-level cache."""

SERVER = -1
"""The device number under which the server draws."""


@dataclass(frozen=True, slots=True)
class Stream:
    """One addressed stream of random bits; `a` and `b` are its key."""

    a: int
    b: int

    def bits(self, start: int, stop: int) -> NDArray[np.uint32]:
        """The 32 random bits of every entry in [start, stop).

        >>> stream(0).bits(0, 4)[1:3] == stream(0).bits(1, 3)
        array([ True,  True])
        """
        bits = np.empty(stop - start, dtype=np.uint32)
        random_bits(self.a, self.b, start, bits)
        return bits


def stream(seed: int, *, purpose: str = "quantize", round: int = 0, device: int = SERVER) -> Stream:
    """The stream at one address.

    >>> stream(7, round=3, device=5) == stream(7, round=3, device=5)
    True
    >>> stream(7, round=3, device=5) == stream(7, round=3, device=6)
    False
    """
    try:
        address = struct.pack("<Qqq", seed, round, device) + purpose.encode()
    except struct.error:
        raise InputError(
            "address",
            of="stream",
            allowed="a seed in [0, 2^64) and 64-bit int round and device",
            got=(seed, round, device),
        ) from None
    digest = hashlib.blake2b(address, digest_size=16, person=b"lossyfl-stream").digest()
    return Stream(*struct.unpack("<QQ", digest))
