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
from lossyfl.quantizers.largest import KEEP, Largest
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Quantized, Scale, Vector


@register("topk")
@dataclass(frozen=True, slots=True, kw_only=True)
class TopK:
    """At least the part `keep` of the entries, or as many as `target` allows, in `levels` magnitudes.

    >>> import numpy as np
    >>> from lossyfl import decode, encode, stream
    >>> decode(encode(np.float32([1, -9, 3, 8] * 100), TopK(keep=0.5), rng=stream(0)))[:4]
    array([ 0., -9.,  0.,  8.], dtype=float32)
    """

    keep: float = KEEP
    target: str | None = None
    levels: int = 16
    scale: Scale = "model"

    unbiased = False

    def __post_init__(self) -> None:
        if not isinstance(self.levels, int) or not 1 <= self.levels <= 127:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError("levels", of="TopK", allowed="an int in [1, 127]", got=self.levels)
        self._largest().check(self.scale)

    def _largest(self) -> Largest:
        return Largest(keep=self.keep, target=self.target, levels=self.levels, of="TopK")

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`."""
        return self._largest().quantize(x, bounds, rng=rng, threads=threads)

    def error_bound(self, entries: int) -> float:
        """1: never worse than sending nothing. Exact values would have 1 - k / d."""
        del entries
        return 1.0

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """A position and a float for every kept entry."""
        del blocks
        return math.ceil(self.keep * entries) * (32 + math.ceil(math.log2(max(entries, 2))))
