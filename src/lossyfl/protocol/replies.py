"""Whether a reply is what the server asked for: every reason to refuse one, but who sent it and its norm.

Nothing is done with a reply before its length is checked, so what waits in a server is bounded by raw
floats for each device; and no sum is touched before all of it has been found right. Comparisons are written
so that NaN fails them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lossyfl.errors import FrameError, Refused
from lossyfl.protocol.digests import reply_digest
from lossyfl.protocol.rules import FINITE, LARGEST
from lossyfl.wire.adding import Addend, open_addend
from lossyfl.wire.frame import raw_nbytes
from lossyfl.wire.header import FrameMeta, Kind

LARGEST_SUM = FINITE / 4
"""What a sum of replies, each times its weight, may reach."""
MOST_COMPARED = 1000
"""Devices that are tried to say whose reply it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the replies of a round have in common.

    digest:   of the estimate that devices trained from
    training: its id
    weight:   the sum of all weights
    """

    entries: int
    round: int
    digest: int
    training: int
    weight: int = 0

    def digest_for(self, device: int) -> int:
        """The digest that a device's reply names."""
        return reply_digest(self.digest, device=device, training=self.training)


def open_reply(
    device: int, reply: bytes, expected: Expected, *, others: Sequence[int], threads: int
) -> Addend:
    """The reply, decoded as far as to be found whole and for this round; else Refused says why."""
    longest = raw_nbytes(expected.entries) + 1  # the longest header has one byte more
    if len(reply) > longest:
        detail = f"it has {len(reply)} bytes, and raw floats would have {longest}"
        raise Refused(device, "oversized", detail)
    try:
        addend = open_addend(reply, max_entries=expected.entries, threads=threads)
    except FrameError as error:
        raise Refused(device, "damaged", str(error)) from error
    header = addend.header
    if header.meta.kind != Kind.REPLY or header.entries != expected.entries:
        detail = f"a {header.meta.kind.name.lower()} of {header.entries} entries"
        raise Refused(device, "foreign", f"{detail}, not a reply of {expected.entries}")
    _check_meta(device, header.meta, expected, others)
    peak = addend.terms.peak
    if not (peak <= LARGEST and peak * expected.weight <= LARGEST_SUM):
        raise Refused(device, "huge", f"it has entries of {peak:.3g}")
    return addend


def _check_meta(device: int, meta: FrameMeta, expected: Expected, others: Sequence[int]) -> None:
    if meta.round != expected.round:
        detail = f"it is for round {meta.round}, not {expected.round}"
        raise Refused(device, "ahead" if meta.round > expected.round else "late", detail)
    if meta.digest == expected.digest_for(device):
        return
    if meta.digest == expected.digest:
        raise Refused(device, "foreign", "it names no device: an older version of lossyfl made it")
    for other in others[:MOST_COMPARED]:
        if meta.digest == expected.digest_for(other):
            raise Refused(device, "foreign", f"it is device {other}'s")
    detail = "it was trained from another estimate, or is another device's or another training's"
    raise Refused(device, "diverged", detail)
