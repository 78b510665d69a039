"""What a device that is several rounds behind lacks, as one frame: theta_hat(t) - theta_hat(t-k), exactly.

Updates on a grid (`lossyfl.links.gridded`) add up without rounding, and their sum is shorter than they are
one after the other: what went up and down again is not in it. A sum is sent only if it is found to lead from
the one estimate to the other, to the bit, which their digests tell; where an addition was rounded it does
not. Frames are made when they are asked for, once per round and lag.
"""

from collections.abc import Sequence

import numpy as np

from lossyfl.protocol.digests import EstimateVersion, digest
from lossyfl.protocol.states import Broadcast
from lossyfl.types import Shape, Vector
from lossyfl.wire import frame as frames
from lossyfl.wire.adding import open_addend
from lossyfl.wire.grid import multiples
from lossyfl.wire.header import FrameMeta, Kind


class Merges:
    """The merged frames of one round.

    estimate: theta_hat of the round
    held:     its round and digest
    """

    def __init__(
        self,
        estimate: Vector,
        held: EstimateVersion,
        *,
        tensors: Sequence[Shape] | None,
        threads: int,
    ) -> None:
        self._estimate, self._held = estimate, held
        self._tensors, self._threads = tensors, threads
        self._made: dict[int, bytes] = {}

    def frame(self, missed: Sequence[Broadcast]) -> bytes:
        """One frame in the place of broadcasts, the last of which led here; empty if there is none."""
        since = missed[0].round - 1
        if since not in self._made:
            self._made[since] = self._merged(missed)
        return self._made[since]

    def _merged(self, missed: Sequence[Broadcast]) -> bytes:
        first = missed[0]
        total = self._sum(missed)
        base = self._estimate - total
        leads_here = (base + total).tobytes() == self._estimate.tobytes()
        if not leads_here or digest(base) != first.digest:
            return b""
        made = multiples(total, self._tensors)
        if made is None:
            return b""
        held = self._held
        meta = FrameMeta(
            kind=Kind.MERGED,
            round=held.round,
            digest=first.digest,
            since=first.round - 1,
            result=held.digest,
        )
        return frames.pack(made, meta, threads=self._threads)

    def _sum(self, missed: Sequence[Broadcast]) -> Vector:
        """What the broadcasts say together: from the longest lag that was merged already, if there is one."""
        total = np.zeros_like(self._estimate)
        since = missed[0].round - 1
        made = (at for at, frame in self._made.items() if frame and at >= since)
        known = min(made, default=self._held.round)
        parts = [each.frame for each in missed if each.round <= known]
        if known < self._held.round:
            parts.append(self._made[known])
        with np.errstate(over="ignore", invalid="ignore"):  # the digest tells
            for part in parts:
                terms = open_addend(part, max_entries=len(total), threads=self._threads).terms
                terms.add_to(total, 1)
        return total


def exact_model(
    estimate: Vector, meta: FrameMeta, tensors: Sequence[Shape] | None, threads: int
) -> bytes:
    """The estimate by the multiples of its grid, or by floats where those are shorter or it is on none."""
    made = multiples(estimate, tensors)
    return (
        frames.pack_raw(estimate, meta)
        if made is None
        else frames.pack(made, meta, threads=threads)
    )
