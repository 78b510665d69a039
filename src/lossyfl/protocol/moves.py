"""What an update does to the estimate that a device holds: all checks, then one move."""

from typing import Any

import numpy as np

from lossyfl.errors import FrameError, OutOfSync
from lossyfl.links import Downlink
from lossyfl.links.base import HasEstimate
from lossyfl.links.state import arrays_of
from lossyfl.protocol.digests import EstimateVersion, digest
from lossyfl.protocol.rules import FINITE, is_within
from lossyfl.wire.header import HEADER, LEAP, Header, Kind

RESULT = HEADER.size + 1 + LEAP.size - 8
"""Where a merged update says to which estimate it leads."""


def moved_by(
    frame: bytes,
    header: Header,
    link: Downlink[Any],
    down: HasEstimate,
    held: EstimateVersion,
    *,
    device: int,
) -> HasEstimate:
    """The downlink's state after an update, of one round or merged; raises if it applies to another estimate.

    held: the round and digest of the estimate
    """
    meta, is_merged = header.meta, header.meta.kind == Kind.MERGED
    since = meta.since if is_merged else meta.round - 1
    needs = EstimateVersion(round=since, digest=meta.digest)
    if held != needs:
        raise OutOfSync(device, str(held), str(needs))
    if header.entries != len(down.estimate):
        raise FrameError(8, f"{len(down.estimate)} entries", header.entries)
    if is_merged and not link.mergeable:
        raise FrameError(4, "no merged update: this link's are not sums", meta.kind.name.lower())
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        _, after = link.receive(frame, down)
    if not all(is_within(vector, FINITE) for vector in arrays_of(after).values()):
        raise FrameError(0, "an update that leaves the model finite", "one that does not")
    if is_merged and (found := digest(after.estimate)) != meta.result:
        raise FrameError(RESULT, f"an update that leads to {meta.result:016x}", f"{found:016x}")
    return after
