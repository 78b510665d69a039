"""Which floats of a model are no weights: statistics that training counts, instead of following a gradient.

A batch norm's variance is no place for unbiased noise. Quantized coarsely it is below zero sooner or later,
and its root is NaN; and it is on a scale of its own, so that one range for all makes every weight coarse. So
statistics travel exactly, as counts of batches do: they are few. The server decides by their names, and
the layout tells devices.

Names cannot say everything: what else must not be quantized is named by whoever knows the model (`also`).
Copies of weights that follow them slowly are not here: they bear noise as weights do, and are as many.

A model without names, as `ArrayRecord([array, ...])` makes it, shows its batch norms by their form only:
weight, bias, mean and variance of one length, one after the other. Taking weights for statistics costs some
bytes and no accuracy, so the last two vectors of every such row count as statistics, unless that would be a
good part of the model.
"""

import re
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from itertools import groupby
from typing import Protocol

from lossyfl.errors import InputError

NAMES = frozenset(
    {
        *("running_mean", "running_var", "running_std", "num_batches_tracked"),  # torch, MXNet
        *("moving_mean", "moving_var", "moving_variance", "moving_std"),  # Keras, MindSpore
        *("moving_stddev", "renorm_mean", "renorm_stddev"),  # Keras' batch renormalization
        *("_mean", "_variance"),  # Paddle
        *("_u", "_v"),  # torch: the power iteration of a spectral norm
        *("vector_u", "sn_u"),  # Keras' spectral norm
        *("min_val", "max_val", "running_min", "running_max"),  # observers
        *("cluster_size", "ema_count", "n_averaged"),  # code books, averaged models
    }
)
"""Of the last part of an array's name."""
PLACES = frozenset(
    {
        *("batch_stats", "mean_ema", "var_ema"),  # Flax, Haiku
        *("activation_post_process", "weight_fake_quant"),  # torch: quantization-aware training
    }
)
"""Of any part of the name."""
SPREADS = frozenset(
    {
        *("running_var", "running_std", "moving_var", "moving_variance", "moving_std"),
        *("moving_stddev", "renorm_stddev", "_variance", "var", "std"),
    }
)
"""Of the last part of the name of a statistic that is never negative."""
MOST_GUESSED = 0.25
"""A larger part of a model without names is never taken for statistics."""
_PARTS = re.compile(r"[./\\]+|::|:\d+$")
_UNNAMED = re.compile(r"\d+|arr_\d+", re.ASCII)


class Described(Protocol):
    """An array, as far as it matters here."""

    @property
    def name(self) -> str:
        """Its name in the model."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """How many entries each axis has."""
        ...

    @property
    def entries(self) -> int:
        """How many numbers it has."""
        ...


def statistics(floats: Sequence[Described], also: Sequence[str] = ()) -> frozenset[str]:
    """The names of those arrays of floats that are statistics, and of those that somebody has named.

    also: names, with * for anything
    """
    named = _named([array.name for array in floats], also)
    if all(_UNNAMED.fullmatch(array.name) for array in floats):
        return named | _guessed(floats)
    names = {array.name for array in floats}
    found = {name for name in names if is_statistic(name, names)}
    # A model of nothing else is one of weights with odd names.
    has_weights = any(array.entries for array in floats if array.name not in found)
    return named | found if has_weights else named


def _named(names: Sequence[str], also: Sequence[str]) -> frozenset[str]:
    found: set[str] = set()
    for pattern in also:
        matches = [name for name in names if fnmatchcase(name, pattern)]
        if not matches:
            allowed = "names of arrays of floats, with * for anything"
            raise InputError("exact", of="a model", allowed=allowed, got=pattern)
        found.update(matches)
    return frozenset(found)


def is_statistic(name: str, names: Collection[str] = ()) -> bool:
    """Whether an array of this name is one of statistics.

    names: of all arrays of the model

    >>> is_statistic("layer1.0.bn1.running_var"), is_statistic("batch_normalization/moving_mean:0")
    (True, True)
    >>> is_statistic("layer1.0.bn1.weight"), is_statistic("mean")
    (False, False)
    """
    parts = _parts(name)
    if not parts:
        return False
    # A spectral norm's are weight_u and weight_v beside weight_orig; a weight norm's weight_v is a weight.
    is_power = name[-2:] in ("_u", "_v") and f"{name[:-2]}_orig" in names
    return is_power or parts[-1] in NAMES or not PLACES.isdisjoint(parts)


def is_spread(name: str) -> bool:
    """Whether an array of this name is one of variances, which are never negative.

    >>> is_spread("bn.running_var"), is_spread("bn/moving_variance:0"), is_spread("variants.weight")
    (True, True, False)
    """
    return is_statistic(name) and _parts(name)[-1] in SPREADS


def _parts(name: str) -> list[str]:
    return [part for part in _PARTS.split(name) if part]


def _guessed(floats: Sequence[Described]) -> frozenset[str]:
    """The last two of every row of vectors of one length."""
    found: list[Described] = []
    for shape, row in groupby(floats, key=lambda array: array.shape):
        arrays = list(row)
        if len(shape) == 1 and len(arrays) > 1:
            found += arrays[-2:]
    entries = sum(array.entries for array in floats)
    if sum(array.entries for array in found) > MOST_GUESSED * entries:
        return frozenset()
    return frozenset(array.name for array in found)
