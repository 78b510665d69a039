"""What schemes are put together from: compressors and links, by the options that several schemes have."""

import numpy as np

from lossyfl.compressors import (
    Compressor,
    Damped,
    Rounded,
    Schedule,
    Snapped,
    VarianceGuard,
)
from lossyfl.compressors.budgeted import budgeted, budgeted_once
from lossyfl.compressors.levels import Levels, leveled
from lossyfl.compressors.snapped import snapped
from lossyfl.errors import InputError
from lossyfl.links import ErrorFeedback, Gridded, Lossless, Tracked
from lossyfl.quantizers import quantizer
from lossyfl.quantizers.deadzone import Deadzone
from lossyfl.streams import stream
from lossyfl.types import Scale
from lossyfl.wire.vectors import block_bounds


def first(limit: str | None, scale: Scale = "model", grid: bool = False) -> Compressor | None:
    """What makes the frame of the initial model; nothing for exact floats."""
    if limit is None:
        return Rounded() if grid else None
    made = budgeted_once(limit, Deadzone(scale=scale), of="the initial model")
    return Snapped(inner=made) if grid else made


def tracked(compressor: Compressor, grid: bool) -> Tracked | Gridded:
    """The downlink that tells what changed."""
    return Gridded(compressor=compressor) if grid else Tracked(compressor=compressor)


def check_grid(grid: bool, name: str, other: object) -> None:
    """Raise unless it is said whether there is a grid, and nothing else is asked for that leaves it."""
    if not isinstance(grid, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("grid", of="scheme", allowed="true or false", got=grid)
    if grid and other:
        allowed = f"false with {name}, which leaves the grid"
        raise InputError("grid", of="scheme", allowed=allowed, got="true")


def check_snaps(spec: str) -> None:
    """Raise unless the values of a quantizer's tables can be put on a grid: one that rotates has none."""
    chosen = quantizer(str(spec))
    probe = ((stream(0).bits(0, 512) / 2.0**31 - 1) ** 3).astype(np.float32)
    bounds = block_bounds("model" if chosen.scale == "model" else 256, len(probe), None)
    snapped(chosen.quantize(probe, bounds, rng=stream(0)))


def compressor(spec: str, limit: str | None, of: str, first: int = 0) -> Compressor:
    """A quantizer, within a budget if there is one, from the first round with a frame on."""
    chosen = quantizer(str(spec))
    if limit is None:
        return Schedule.constant(chosen)
    return budgeted(limit, chosen, of=of, first=first)


def uplink(q2: Levels, scale: Scale, damping: bool) -> Lossless | ErrorFeedback:
    """Updates quantized with error compensation, or exact."""
    if q2 == "exact":
        return Lossless()
    return ErrorFeedback(compressor=kept(leveled(q2, scale), damping))


def kept(compressor: Compressor, damping: bool) -> Compressor:
    """The compressor of a link of the paper's that keeps errors: as it is, or damped."""
    return guarded(compressor, damping) if damping is not False else compressor


def guarded(compressor: Compressor, damping: bool) -> Compressor:
    """The compressor of a link of ours that keeps errors: damped, or refused where they would grow."""
    if not isinstance(damping, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("damping", of="scheme", allowed="true or false", got=damping)
    return Damped(inner=compressor) if damping else VarianceGuard(inner=compressor)
