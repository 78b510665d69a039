"""Even steps with a wider zone of zeros, and the mean of each cell as its value: biased, near the limit.

The entropy-coded scalar quantizer. Gish and Pierce, "Asymptotically efficient quantizing", IEEE
Transactions on Information Theory, 1968; with a dead zone, Sullivan, "Efficient scalar quantization of
exponential and Laplacian random variables", 1996. |x| < z s goes to zero; above, cells of width s begin at
z s, (z + 1) s, ...; every cell stands for the mean of what fell into it, which leaves the least error.

Step s and zone z are chosen anew for every vector, so that its symbols and tables take no more than the
target says with the least error, or leave no more error with the fewest bits. With one table for the whole
model the step is the same for all its tensors, which is how water fills: a tensor whose entries are below
the level gets nothing, the others by how far they stand out. With a scale per tensor or block each of them
is divided by its own root mean square first, and all are equally exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lossyfl.quantizers import binned, by_class, register
from lossyfl.quantizers.binned import UNUSED
from lossyfl.quantizers.cells import CellStatistics, Edges
from lossyfl.quantizers.magnitudes import Floats
from lossyfl.quantizers.targets import Target, check_error, check_unset, target
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Quantized, Scale, Shape, Vector, check_scale
from lossyfl.wire.shapes import matrices_of

ZONES = np.array([0.0, 0.2, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0, 1.2, 1.5])
"""The dead zones to try, in steps. Without any, and with steps that hold all, it is `sign`: the best there is
at one bit for entries that are all about equally large."""
MAX_LEVELS = 1 << 15
CANDIDATES = 3
"""Zones whose cells are filled to see whether they are better."""
USUAL = Target(rate=1)
"""The target where nothing else is said."""


@register("deadzone")
@dataclass(frozen=True, slots=True, kw_only=True)
class Deadzone:
    """As exact as `target` allows, or as small.

    >>> from lossyfl import decode, encode, stream
    >>> x = np.float32([0.1, -0.1, 4.0, -4.2] * 5000)
    >>> np.unique(decode(encode(x, Deadzone(target="1.55bit"), rng=stream(0))))
    array([-4.2,  0. ,  4. ], dtype=float32)
    """

    target: Target | str = USUAL
    scale: Scale = "model"

    unbiased = False
    errors_grow = False

    def __post_init__(self) -> None:
        check_scale(self.scale, of="Deadzone")
        object.__setattr__(self, "target", target(self.target, of="Deadzone"))
        check_error(self._wanted, self.scale, of="Deadzone")

    @property
    def _wanted(self) -> Target:
        """The target, of which `__post_init__` has read the text."""
        assert isinstance(self.target, Target)
        return self.target

    def with_target(self, target: Target) -> "Deadzone":
        """The same for another target."""
        check_unset(self._wanted, USUAL, of="Deadzone")
        return replace(self, target=target)

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`."""
        bits = self._wanted.bits_for(len(x))
        return binned.quantize(
            x, bounds, self._choose, bits=bits, levels=MAX_LEVELS, rng=rng, threads=threads
        )

    def quantize_shaped(
        self, x: Vector, bounds: Bounds, tensors: Sequence[Shape], *, rng: Stream, threads: int = 1
    ) -> Quantized:
        """The symbols of `x`, by what they cost in their row and column where that is better."""
        plain = self.quantize(x, bounds, rng=rng, threads=threads)
        shapes = matrices_of(tensors, len(x)) if self.scale == "model" else None
        if shapes is None:
            return plain
        return by_class.quantize(x, bounds, plain, shapes, self._wanted, threads)

    def _choose(self, statistics: CellStatistics) -> list[Edges]:
        """The best cells; for a size, also those of other zones that leave a part of it unused."""
        wanted, known = self._wanted, statistics.known
        edges = np.empty(MAX_LEVELS, dtype=np.int64)
        if known.energy == 0:
            return [edges[:0]]
        bits = wanted.bits_for(known.entries)
        limit = (wanted.nmse or 0.0) * known.energy if bits is None else bits - statistics.spent
        steps, taken, errors = statistics.best_steps(ZONES, bits is not None, limit, edges)
        left = taken if bits is None else errors
        best = int(np.argmin(left)) if np.isfinite(left).any() else len(ZONES) - 1
        places = [best] if bits is None else [best, *_loose(taken, errors, limit)]
        made = [statistics.even(float(ZONES[at]), float(steps[at]), edges) for at in places]
        statistics.check_error(made[0], wanted, of="Deadzone")
        return made

    def error_bound(self, entries: int) -> float:
        """1: never worse than sending nothing."""
        del entries
        return 1.0

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """What it was asked for; 32 bits per entry where it was asked for an error."""
        del blocks
        bits = self._wanted.bits_for(entries)
        return 32.0 * entries if bits is None else bits


def _loose(taken: Floats, errors: Floats, limit: float) -> list[int]:
    """Zones that leave a part of a size unused and may be better once it is filled, the likeliest first."""
    found: dict[tuple[float, float], int] = {}  # zones with the same cells need one search
    for at in np.argsort(errors, kind="stable").tolist():
        if taken[at] < (1 - UNUSED) * limit:
            found.setdefault((float(taken[at]), float(errors[at])), at)
    return list(found.values())[:CANDIDATES]
