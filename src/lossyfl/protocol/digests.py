"""The digest of an estimate: 64 bits that say whether two ends hold the same floats.

A reply names a digest of three things: the estimate it was trained from, the device that made it, and the
training it belongs to. So one that was mixed up on the way, or kept from a training of another seed or name,
is refused; trainings of the same seed and name, as two of the same seed without a name, are told apart by
their estimates only. This finds accidents, and those who replay what they cannot compute; it is no signature,
since whoever knows the estimate can compute it. That a reply comes from whom it says is for the transport to
show: TLS, node authentication.
"""

import struct
from dataclasses import dataclass

import xxhash

from lossyfl.types import Vector


def digest(x: Vector) -> int:
    """XXH3-64 of the little-endian bytes of x."""
    return xxhash.xxh3_64_intdigest(x.astype("<f4", copy=False).data)


_BOUND = struct.Struct("<QQQ")


def training_id(seed: int, name: str = "") -> int:
    """64 bits for a training, from its seed and a name if it has one."""
    return xxhash.xxh3_64_intdigest(f"{seed} {name}".encode())


def reply_digest(estimate: int, *, device: int, training: int) -> int:
    """What a device's reply names: the digest of the estimate, bound to the device and the training."""
    return xxhash.xxh3_64_intdigest(_BOUND.pack(estimate, device, training))


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateVersion:
    """Which estimate a device holds: the round it belongs to, and its digest."""

    round: int
    digest: int


NOTHING = EstimateVersion(round=-1, digest=0)
"""What a new device holds."""
