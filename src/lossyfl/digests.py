"""The digest of an estimate: 64 bits that say whether two ends hold the same floats."""

from dataclasses import dataclass

import xxhash

from lossyfl.types import Vector


def digest(x: Vector) -> int:
    """XXH3-64 of the little-endian bytes of x."""
    return xxhash.xxh3_64_intdigest(x.astype("<f4", copy=False).data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Which estimate a device holds: the round it belongs to, and its digest."""

    round: int
    digest: int


NOTHING = Held(round=-1, digest=0)
"""What a new device holds."""
