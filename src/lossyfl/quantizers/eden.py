"""A random rotation, then the best few values for normal entries, and one scale that undoes their bias.

Vargaftik, Ben Basat, Portnoy, Mendelson, Ben-Itzhak, Mitzenmacher, "EDEN", ICML 2022. After a rotation
entries look normal, with ||x|| / sqrt(n) as their deviation; each goes to the nearest of 2^b values that
Lloyd and Max found for the normal distribution. With z the rotated vector and c what its entries went to,
the scale is

    unbiased      ||z||^2 / <z, c>       of the mean, over rotations; exactly so for uniformly random ones
    least error   <z, c> / ||c||^2       biased, for links that keep their errors

The rotation is the randomized Hadamard transform, as in EDEN's own code.
"""

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.quantizers import register
from lossyfl.streams import Stream
from lossyfl.types import (
    Bounds,
    Codebook,
    Quantized,
    Rotation,
    Scale,
    Vector,
    check_scale,
)
from lossyfl.wire.rotation import padded_length, rotate
from lossyfl.wire.vectors import block_bounds, check_finite

Aim = Literal["unbiased", "least-error"]
Floats = NDArray[np.float64]


@register("eden")
@dataclass(frozen=True, slots=True, kw_only=True)
class Eden:
    """`bits` per entry, before entropy coding; scales per model or per block of the rotated vector."""

    bits: int = 1
    aim: Aim = "unbiased"
    scale: Scale = "model"

    def __post_init__(self) -> None:
        b = self.bits
        if not isinstance(b, int) or isinstance(b, bool) or not 1 <= b <= 8:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError("bits", of="Eden", allowed="an int in [1, 8]", got=b)
        if self.aim not in get_args(Aim):
            raise InputError("aim", of="Eden", allowed='"unbiased" or "least-error"', got=self.aim)
        check_scale(self.scale, of="Eden")
        if self.scale == "tensor":
            allowed = '"model" or a block length: a rotated vector has no tensors'
            raise InputError("scale", of="Eden", allowed=allowed, got="tensor")

    @property
    def unbiased(self) -> bool:
        """As it was asked for."""
        return self.aim == "unbiased"

    errors_grow = False

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of the rotated vector."""
        del bounds, threads  # of the vector as it is; what matters is the rotated one
        check_finite(x)
        z = rotate(x, rng.a)
        if not np.isfinite(z).all():
            raise InputError("entries", of="Eden", allowed="small enough to be rotated", got="1e38")
        blocks = block_bounds(self.scale, len(z), None)
        starts, lengths = blocks[:-1], np.diff(blocks)
        energy = np.add.reduceat(np.square(z, dtype=np.float64), starts)
        deviation = np.sqrt(energy / lengths)
        values = lloyd_max(self.bits)
        between = (values[1:] + values[:-1]) / 2
        edges = np.repeat(deviation, lengths).astype(np.float32)
        symbols = np.zeros(len(z), dtype=np.uint8)
        for edge in between.astype(np.float32):
            symbols += z > edge * edges
        chosen = values[symbols]
        both = np.add.reduceat(z * chosen, starts)
        own = np.add.reduceat(np.square(chosen), starts)
        top, bottom = (energy, both) if self.unbiased else (both, own)
        factor = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
        table = Codebook(values=(factor[:, None] * values).astype(np.float32))
        rotation = Rotation(seed=rng.a, entries=len(x))
        return Quantized(symbols=symbols, bounds=blocks, table=table, rotation=rotation)

    def error_bound(self, entries: int) -> None:
        """None for all. Of long vectors it tends to D / (1 - D), or D if biased, D = `lloyd_max_error`."""
        del entries

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """`bits` for every entry of the padded vector, and a float a block."""
        return 32 * blocks + self.bits * padded_length(entries)


@cache
def lloyd_max(bits: int) -> Floats:
    """The 2^bits values with the least error for the standard normal distribution, upwards.

    Lloyd, 1957, and Max, 1960: values are the means of their cells, edges lie half way between. Rounded to
    20 bits after the point, so that every machine has the same.

    >>> lloyd_max(1).round(4)
    array([-0.7979,  0.7979])
    """
    half = 1 << (bits - 1)
    # Panter and Dite's density of values for many of them; a few hundred rounds do the rest.
    places = [0.5 + (i + 0.5) / (2 * half) for i in range(half)]
    values = math.sqrt(3) * np.array([NormalDist().inv_cdf(place) for place in places])
    for _ in range(2000):
        values = _means(values)
    values = np.round(values * 2**20) / 2**20
    return np.concatenate([-values[::-1], values])


def _means(values: Floats) -> Floats:
    """The means of the cells of the upper half, edges half way between the values."""
    edges = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [40.0]])
    density = np.exp(-edges * edges / 2) / math.sqrt(2 * math.pi)
    return (density[:-1] - density[1:]) / _chances(edges)


def _chances(edges: Floats) -> Floats:
    """How likely each cell is."""
    return np.diff([math.erf(edge / math.sqrt(2)) / 2 for edge in edges])


@cache
def lloyd_max_error(bits: int) -> float:
    """Their mean squared error.

    >>> [float(f"{lloyd_max_error(b):.3g}") for b in (1, 2, 3, 8)]
    [0.363, 0.117, 0.0345, 4.12e-05]
    """
    values = lloyd_max(bits)[1 << (bits - 1) :]
    edges = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [40.0]])
    chances = 2 * _chances(edges)
    return float(1 - chances @ (2 * values * _means(values) - values**2))
