"""The server's end of the downlink: line 2 of Algorithm 1, and what a device needs to hold theta_hat.

Round t has the estimate theta_hat(t). An update frame names the round it makes and the digest of
the estimate it applies to; a model frame the round and the digest of the estimate it gives. A device
that holds an older estimate gets the updates that it has missed, one frame that they are merged to where the
downlink allows it, or the full model: what is shortest, and the model where the log no longer reaches back.
Where the downlink sends whole models, the newest is all that anybody needs.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lossyfl.compressors import Compressor, SendContext
from lossyfl.links import Downlink, Sent
from lossyfl.links.base import HasEstimate
from lossyfl.links.state import Arrays, beside_estimate, downlink_from
from lossyfl.protocol.broadcast_log import BroadcastLog
from lossyfl.protocol.digests import NOTHING, EstimateVersion, digest
from lossyfl.protocol.entries import EntryKind
from lossyfl.protocol.merging import Merges, exact_model
from lossyfl.protocol.states import Broadcast
from lossyfl.streams import stream
from lossyfl.types import Shape, Vector
from lossyfl.wire import frame as frames
from lossyfl.wire.codec import decode
from lossyfl.wire.facts import Facts, facts
from lossyfl.wire.header import FrameMeta, Kind, read_header

SURELY_SHORT = 1 / 4
"""Bytes per entry up to which no model is made to see whether it is shorter: two bits."""


class Broadcaster:
    """The estimate, which the downlink's state holds, and the frames that lead to it.

    round:     of the estimate; -1 before the first
    newest:    the newest broadcast frame, empty before the first
    log_bytes: how much of the recent broadcasts to keep; None for as much as the full model
    """

    def __init__(
        self,
        downlink: Downlink[Any],
        *,
        seed: int,
        tensors: Sequence[Shape] | None,
        threads: int,
        log_bytes: int | None,
    ) -> None:
        self._downlink, self._log_bytes = downlink, log_bytes
        self._seed, self._tensors, self._threads = seed, tensors, threads

    def start(self, theta: Vector, first: Compressor | None) -> Vector:
        """Begin with the initial model as devices will hold it: exact floats, or what `first` makes of it."""
        if first is None:
            self.restore(self._downlink.init(theta), -1, b"", ())
            return theta
        meta = FrameMeta(kind=Kind.MODEL, round=0)
        _, frame = first.make(theta, self._context(meta, "first"))
        start = decode(frame, max_entries=len(theta), threads=self._threads)
        frame = frames.with_digest(frame, digest(start))
        begin = Broadcast(round=0, digest=NOTHING.digest, frame=frame)
        self.restore(self._downlink.init(start), -1, b"", (begin,))
        return start

    def saved(self) -> Arrays:
        """What the downlink remembers besides the estimate, by name."""
        return beside_estimate(self._state)

    def downlink_state(self, estimate: Vector, saved: Arrays) -> HasEstimate | None:
        """The downlink's state with these vectors; None if they are another link's."""
        return downlink_from(self._downlink, estimate, saved)

    def restore(
        self, state: HasEstimate, round: int, newest: bytes, recent: tuple[Broadcast, ...]
    ) -> None:
        """Go on from a state of the downlink."""
        self._state: HasEstimate = state
        self.round, self.newest = round, newest
        self._digest = digest(self.estimate)
        exact = len(self.estimate) + len(self._downlink.trend(state))
        self._model_nbytes = frames.raw_nbytes(exact)
        self.log = BroadcastLog(4 * exact if self._log_bytes is None else self._log_bytes, recent)
        self._forget()

    def _forget(self) -> None:
        """Drop what was kept of this round's frames: the next has others."""
        self._exact: tuple[bytes, ...] = ()
        self._merges: Merges | None = None
        self._facts: dict[bytes, Facts] = {}

    @property
    def estimate(self) -> Vector:
        """theta_hat, what every device in sync holds."""
        return self._state.estimate

    @property
    def held(self) -> EstimateVersion:
        """What a device in sync holds."""
        return EstimateVersion(round=self.round, digest=self._digest)

    def open_round(self) -> None:
        """The next round has begun."""
        self.round += 1
        self._forget()

    def send(self, theta: Vector) -> Sent[Any]:
        """Line 2: encode the broadcast of the next round, and move the estimate by it."""
        link, number = self._downlink, self.round + 1
        kind = Kind.UPDATE if link.incremental else Kind.MODEL
        meta = FrameMeta(kind=kind, round=number, digest=self._digest)
        sent = link.send(theta, self._state, self._context(meta, "downlink"))
        self._state = sent.state
        before, self._digest, self.newest = self._digest, digest(self.estimate), sent.frame
        if read_header(sent.frame, len(theta), trusted=True).meta.kind == Kind.UPDATE:
            self.log.add(Broadcast(round=number, digest=before, frame=sent.frame))
        else:  # a whole model, which an incremental link may begin anew with
            self.log.clear()
            self.newest = frames.with_digest(sent.frame, self._digest)
        return sent

    def send_model(self, theta: Vector) -> None:
        """Begin anew in the next round with the exact model, for everybody."""
        self._state = self._downlink.init(theta)
        self._digest = digest(self.estimate)
        self.log.clear()
        meta = FrameMeta(kind=Kind.MODEL, round=self.round + 1, digest=self._digest)
        self.newest = frames.pack_raw(self.estimate, meta)

    def _context(self, meta: FrameMeta, purpose: str) -> SendContext:
        return SendContext(
            meta=meta,
            rng=stream(self._seed, purpose=purpose, round=meta.round),
            tensors=self._tensors,
            threads=self._threads,
        )

    def frames_for(self, known: EstimateVersion) -> tuple[tuple[bytes, ...], EntryKind]:
        """The frames for a device that holds `known`, and as what the ledger counts them.

        None for a device in sync. For others the newest frame where that is a whole model; else the shortest
        of the updates that they have missed, one that stands for them, and the exact model.
        """
        if known == self.held:
            return (), "update"
        incremental = self._downlink.incremental
        # All got the exact model, as `send_model` says: nobody has missed anything.
        is_anew = bool(self.newest) and incremental and not self.log.recent
        late: EntryKind = "initial" if known == NOTHING or is_anew else "catch-up"
        if not incremental and self.newest:
            in_time = known != NOTHING and known.round == self.round - 1
            return (self.newest,), "update" if in_time else late
        missed = self.log.since(known)
        kind: EntryKind = "update" if len(missed) == 1 and known != NOTHING else late
        return self._shortest(missed, is_new=known == NOTHING), kind

    def _shortest(self, missed: tuple[Broadcast, ...], *, is_new: bool) -> tuple[bytes, ...]:
        """What leads to the estimate in the fewest bytes, from where these broadcasts begin if there are any.

        is_new: the first of them is the initial model
        """
        one_by_one = tuple(each.frame for each in missed)
        if not self._downlink.mergeable:  # a model is floats
            short = 0 < _nbytes(one_by_one) < self._model_nbytes
            return one_by_one if short else self._model()
        ways = [one_by_one] if missed else []
        updates = missed[is_new:]
        if len(updates) > 1 and (merged := self._merged(updates)):
            ways.append((*one_by_one[:is_new], merged))
        if not ways or min(map(_nbytes, ways)) > len(self.estimate) * SURELY_SHORT:
            ways.append(self._model())
        return min(ways, key=_nbytes)

    def _merged(self, missed: tuple[Broadcast, ...]) -> bytes:
        """The frame that these updates are merged to, made once per round; empty if there is none."""
        if self._merges is None:
            self._merges = Merges(
                self.estimate, self.held, tensors=self._tensors, threads=self._threads
            )
        return self._merges.frame(missed)

    def _model(self) -> tuple[bytes, ...]:
        """The exact estimate, encoded once per round, and before it its trend, if it has one."""
        if not self._exact:
            meta = FrameMeta(kind=Kind.MODEL, round=self.round, digest=self._digest)
            self._exact = (self._whole(meta),)
            trend = self._downlink.trend(self._state)
            if len(trend) and self.round > 0:
                before = replace(meta, kind=Kind.TREND)
                self._exact = (frames.pack_raw(trend, before), *self._exact)
        return self._exact

    def _whole(self, meta: FrameMeta) -> bytes:
        """The estimate to the bit: as floats, or as multiples where it is on a grid."""
        if not self._downlink.mergeable:
            return frames.pack_raw(self.estimate, meta)
        return exact_model(self.estimate, meta, self._tensors, self._threads)

    def facts(self, frame: bytes) -> Facts:
        """The facts of a frame that many devices get, read once per round."""
        if frame not in self._facts:
            self._facts[frame] = facts(frame, trusted=True)
        return self._facts[frame]


def _nbytes(frames: tuple[bytes, ...]) -> int:
    return sum(map(len, frames))
