"""The largest entries, as plus or minus their mean magnitude; the others zero.

Sattler, Wiedemann, Müller, Samek, "Robust and communication-efficient federated learning from non-iid
data", IEEE Transactions on Neural Networks and Learning Systems, 2019. Biased, for links that keep their
errors.
"""

import math
from dataclasses import dataclass

from lossyfl.quantizers import binned, register
from lossyfl.quantizers.largest import KEEP, check_keep, check_once, largest
from lossyfl.quantizers.targets import check_error, target
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Quantized, Scale, Vector, check_scale


@register("sparse_ternary")
@dataclass(frozen=True, slots=True, kw_only=True)
class SparseTernary:
    """At least the part `keep` of the entries, or as many as `target` allows.

    >>> import numpy as np
    >>> from lossyfl import decode, encode, stream
    >>> decode(encode(np.float32([1, -9, 3, 8] * 100), SparseTernary(keep=0.5), rng=stream(0)))[:4]
    array([ 0. , -8.5,  0. ,  8.5], dtype=float32)
    """

    keep: float = KEEP
    target: str | None = None
    scale: Scale = "model"

    unbiased = False

    def __post_init__(self) -> None:
        check_keep(self.keep, of="SparseTernary")
        check_once(self.keep, self.target, of="SparseTernary")
        check_scale(self.scale, of="SparseTernary")
        if self.target is not None:
            check_error(target(self.target, of="SparseTernary"), self.scale, of="SparseTernary")

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`."""
        wanted = None if self.target is None else target(self.target, of="SparseTernary")
        return binned.quantize(
            x,
            bounds,
            lambda survey: [largest(survey, self.keep, wanted, 1, of="SparseTernary")],
            bits=None if wanted is None else wanted.bits_for(len(x)),
            levels=1,
            rng=rng,
            threads=threads,
        )

    def error_bound(self, entries: int) -> float:
        """1: never worse than sending nothing."""
        del entries
        return 1.0

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """Golomb's code for the distances, as its paper counts: the entropy of positions, and signs."""
        p = self.keep
        rest = 0.0 if p == 1 else -(1 - p) * math.log2(1 - p)
        return 32 * blocks + entries * (p - p * math.log2(p) + rest)
