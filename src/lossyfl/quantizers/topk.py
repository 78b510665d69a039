"""The largest entries, the others zero.

Aji and Heafield, "Sparse communication for distributed gradient descent", EMNLP 2017; Stich, Cordonnier,
Jaggi, "Sparsified SGD with memory", NeurIPS 2018. Biased; with exact values ||C(x) - x||^2 <= (1 - k / d)
||x||^2. Kept entries travel as one of a few magnitudes, the means of even steps between the smallest and
the largest kept, not as 32-bit floats: their error is small beside that of what is left out, and positions
and values share one coder.
"""

import math
from dataclasses import dataclass

from lossyfl.errors import InputError
from lossyfl.quantizers import register
from lossyfl.quantizers.largest import AbstractLargest


@register("topk")
@dataclass(frozen=True, slots=True, kw_only=True)
class TopK(AbstractLargest):
    """At least the part `keep` of the entries, or as many as `target` allows, in `levels` magnitudes.

    >>> import numpy as np
    >>> from lossyfl import decode, encode, stream
    >>> decode(encode(np.float32([1, -9, 3, 8] * 100), TopK(keep=0.5), rng=stream(0)))[:4]
    array([ 0., -9.,  0.,  8.], dtype=float32)
    """

    levels: int = 16

    def __post_init__(self) -> None:
        if not isinstance(self.levels, int) or not 1 <= self.levels <= 127:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError("levels", of="TopK", allowed="an int in [1, 127]", got=self.levels)
        AbstractLargest.__post_init__(self)  # a class with slots knows no super()

    @property
    def magnitudes(self) -> int:
        """One for each level."""
        return self.levels

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """A position and a float for every kept entry."""
        del blocks
        return math.ceil(self.keep * entries) * (32 + math.ceil(math.log2(max(entries, 2))))
