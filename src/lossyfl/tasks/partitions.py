"""Which device has which samples.

paper      every class cut into M / classes parts, one part, so one class, for a device
iid        all samples shuffled and cut into M parts
dirichlet  shares of every class drawn from Dirichlet(alpha) (Hsu et al., 2019, arXiv 1909.06335)
shards     samples sorted by class, cut into k M shards, k for a device (McMahan et al., 2017)
natural    as the data says: a device for every speaker or writer; those with few samples may be left out
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.extras import require
from lossyfl.registry import Registry
from lossyfl.streams import Stream

Labels: TypeAlias = NDArray[Any]
Indices: TypeAlias = NDArray[np.int64]


class Partition(Protocol):
    """A way of dividing samples among devices."""

    def split(self, labels: Labels, devices: int, rng: Stream) -> list[Indices]:
        """The samples of every device."""
        ...


_registry: "Registry[Partition]" = Registry(
    "partition", makes="a partition (lossyfl.tasks.partitions.Partition)", methods=("split",)
)
register = _registry.register


def partition(spec: str) -> Partition:
    """The partition that `name:key=value` describes.

    >>> partition("dirichlet:alpha=0.5")
    Dirichlet(alpha=0.5)
    """
    return _registry.build(spec)


def names() -> list[str]:
    """The names of all partitions."""
    return _registry.names()


def divide(spec: str, labels: Labels, devices: int, rng: Stream) -> list[Indices]:
    """The samples of every device, sorted; every device has some."""
    if devices < 1 or devices > len(labels):
        allowed = f"in [1, {len(labels)}], the number of samples"
        raise InputError("devices", of="a partition", allowed=allowed, got=devices)
    parts = [np.sort(part) for part in partition(spec).split(labels, devices, rng)]
    for device, part in enumerate(parts):
        if not len(part):
            allowed = "at least one (fewer devices, another seed, or a larger alpha may help)"
            what = f"samples of device {device}"
            raise InputError(what, of=f"the partition {spec}", allowed=allowed, got=0)
    return parts


@register("paper")
@dataclass(frozen=True, slots=True)
class OneClass:
    """Each device has samples of one class only, as in the paper's Figure 1a."""

    def split(self, labels: Labels, devices: int, rng: Stream) -> list[Indices]:
        """M / classes devices for every class."""
        groups = list(_by_class(labels, rng))
        if devices % len(groups):
            allowed = f"a multiple of the {len(groups)} classes"
            raise InputError("devices", of="the partition paper", allowed=allowed, got=devices)
        return [part for group in groups for part in np.array_split(group, devices // len(groups))]


@register("iid")
@dataclass(frozen=True, slots=True)
class Iid:
    """Each device has a random part of everything."""

    def split(self, labels: Labels, devices: int, rng: Stream) -> list[Indices]:
        """M random parts, equal up to one sample."""
        return list(np.array_split(shuffled(len(labels), rng), devices))


@register("dirichlet")
@dataclass(frozen=True, slots=True, kw_only=True)
class Dirichlet:
    """Each class is shared among devices by Dirichlet(alpha): small alpha, few classes a device."""

    alpha: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.alpha < float("inf"):
            raise InputError("alpha", of="dirichlet", allowed="> 0", got=self.alpha)

    def split(self, labels: Labels, devices: int, rng: Stream) -> list[Indices]:
        """Every class cut at the cumulated shares."""
        special = require("scipy.special", extra="sim")
        groups = list(_by_class(labels, rng))
        # Shares are Gamma(alpha) draws, normalised. Gamma(alpha) = Gamma(alpha + 1) U^(1 / alpha), in
        # logarithms because draws for a small alpha are smaller than any float.
        start = len(labels)
        bits = rng.bits(start, start + 2 * len(groups) * devices).reshape(2, len(groups), devices)
        uniform = (bits + 0.5) / 2**32
        logs = (
            np.log(special.gammaincinv(self.alpha + 1, uniform[0]))
            + np.log(uniform[1]) / self.alpha
        )
        shares: NDArray[np.float64] = special.softmax(logs, axis=1)
        cuts = np.cumsum(shares, axis=1)[:, :-1]
        pieces = [
            np.split(group, [round(share * len(group)) for share in at])
            for group, at in zip(groups, cuts.tolist(), strict=True)
        ]
        return [np.concatenate([piece[m] for piece in pieces]) for m in range(devices)]


@register("shards")
@dataclass(frozen=True, slots=True, kw_only=True)
class Shards:
    """Each device has k shards of samples that are sorted by class."""

    k: int = 2

    def __post_init__(self) -> None:
        if type(self.k) is not int or self.k < 1:
            raise InputError("k", of="shards", allowed="an int >= 1", got=self.k)

    def split(self, labels: Labels, devices: int, rng: Stream) -> list[Indices]:
        """K random shards of k M."""
        shards = np.array_split(np.concatenate(list(_by_class(labels, rng))), self.k * devices)
        order = np.argsort(rng.bits(len(labels), len(labels) + len(shards)), kind="stable")
        hands = order.reshape(devices, self.k).tolist()
        return [np.concatenate([shards[i] for i in hand]) for hand in hands]


@register("natural")
@dataclass(frozen=True, slots=True, kw_only=True)
class NaturalDevices:
    """Each device has what the data says; a device with fewer samples than `least` is left out."""

    least: int = 1

    def __post_init__(self) -> None:
        if type(self.least) is not int or self.least < 1:
            raise InputError("least", of="natural", allowed="an int >= 1", got=self.least)

    def keep(self, parts: Sequence[Indices]) -> list[Indices]:
        """The devices that have enough, in the same order."""
        kept = [part for part in parts if len(part) >= self.least]
        if not kept:
            most = max((len(part) for part in parts), default=0)
            allowed = f"at most {most}, the samples of the largest device"
            raise InputError("least", of="natural", allowed=allowed, got=self.least)
        return kept

    def split(self, labels: Labels, devices: int, rng: Stream) -> list[Indices]:
        """Nothing: samples alone do not say whose they are."""
        del labels, devices, rng
        allowed = "another one: the data of this task does not say which device has which samples"
        raise InputError("partition", of="a run", allowed=allowed, got="natural")


def natural(spec: str | None) -> NaturalDevices | None:
    """The natural partition that a spec describes; None if it is another one."""
    chosen = partition(spec or "natural")
    return chosen if isinstance(chosen, NaturalDevices) else None


def grouped(owners: NDArray[np.integer[Any]]) -> list[Indices]:
    """The samples of every owner, in the order of the owners' numbers."""
    order = np.argsort(owners, kind="stable").astype(np.int64)
    return np.split(order, np.flatnonzero(np.diff(owners[order])) + 1)


def shuffled(count: int, rng: Stream) -> Indices:
    """The numbers below `count` in a random order."""
    return np.argsort(rng.bits(0, count), kind="stable").astype(np.int64)


def _by_class(labels: Labels, rng: Stream) -> Iterator[Indices]:
    """The samples of every class in a random order, class by class."""
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        allowed = "one whole number a sample (else use iid, or give the task its parts)"
        got = f"{labels.dtype} of shape {labels.shape}"
        raise InputError("labels", of="a partition by class", allowed=allowed, got=got)
    order = shuffled(len(labels), rng)
    for name in np.unique(labels):
        yield order[labels[order] == name]


def sizes(parts: Sequence[Indices]) -> dict[int, int]:
    """B_m of every device."""
    return {device: len(part) for device, part in enumerate(parts)}
