"""The sign of every entry, with the mean magnitude: one bit per entry.

Bernstein et al., "signSGD", ICML 2018; with the scale that makes it a contraction, Karimireddy, Rebjock,
Stich, Jaggi, "Error feedback fixes SignSGD", ICML 2019: ||C(x) - x||^2 = (1 - ||x||_1^2 / (d ||x||_2^2))
||x||^2.
"""

from dataclasses import dataclass

import numpy as np

from lossyfl.kernels.checks import fits
from lossyfl.kernels.sign import signs
from lossyfl.quantizers import register
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Codebook, Quantized, Scale, Vector, check_scale
from lossyfl.wire.vectors import check_finite


@register("sign")
@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Plus or minus the mean magnitude of the block; zero counts as plus.

    >>> from lossyfl import decode, encode, stream
    >>> decode(encode(np.float32([1, -2, 3, -4] * 100), Sign(), rng=stream(0)))[:4]
    array([ 2.5, -2.5,  2.5, -2.5], dtype=float32)
    """

    scale: Scale = "model"

    unbiased = False
    errors_grow = False

    def __post_init__(self) -> None:
        check_scale(self.scale, of="Sign")

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The signs of `x`."""
        del rng, threads
        check_finite(x)
        symbols = np.empty(len(x), dtype=np.uint8)
        means = np.empty(len(bounds) - 1, dtype=np.float32)
        plus = fits(signs(x, bounds, symbols, means))
        table = Codebook(values=np.stack([-means, means], axis=1))
        counts = np.array([len(x) - plus, plus])
        return Quantized(symbols=symbols, bounds=bounds, table=table, counts=counts)

    def error_bound(self, entries: int) -> float:
        """1 - 1 / d, reached by a single spike."""
        return 1 - 1 / entries

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """A bit per entry, and a float for every block."""
        return 32 * blocks + entries
