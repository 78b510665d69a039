"""The largest entries, as plus or minus their mean magnitude; the others zero.

Sattler, Wiedemann, Müller, Samek, "Robust and communication-efficient federated learning from non-iid
data", IEEE Transactions on Neural Networks and Learning Systems, 2019. Biased, for links that keep their
errors.
"""

import math
from dataclasses import dataclass

from lossyfl.quantizers import register
from lossyfl.quantizers.largest import AbstractLargest


@register("sparse_ternary")
@dataclass(frozen=True, slots=True, kw_only=True)
class SparseTernary(AbstractLargest):
    """At least the part `keep` of the entries, or as many as `target` allows.

    >>> import numpy as np
    >>> from lossyfl import decode, encode, stream
    >>> decode(encode(np.float32([1, -9, 3, 8] * 100), SparseTernary(keep=0.5), rng=stream(0)))[:4]
    array([ 0. , -8.5,  0. ,  8.5], dtype=float32)
    """

    @property
    def magnitudes(self) -> int:
        """One: all entries that are sent have their mean magnitude."""
        return 1

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """Golomb's code for the distances, as its paper counts: the entropy of positions, and signs."""
        p = self.keep
        rest = 0.0 if p == 1 else -(1 - p) * math.log2(1 - p)
        return 32 * blocks + entries * (p - p * math.log2(p) + rest)
