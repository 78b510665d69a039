"""The update frames of recent rounds, for devices that have missed some."""

from collections.abc import Iterable

from lossyfl.protocol.digests import EstimateVersion
from lossyfl.protocol.states import Broadcast


class BroadcastLog:
    """Broadcasts of successive rounds, oldest first: as many as fit, and the newest in any case.

    limit: the bytes of frames to keep
    """

    def __init__(self, limit: int, recent: Iterable[Broadcast] = ()) -> None:
        self._limit = limit
        self.recent = tuple(recent)

    def add(self, broadcast: Broadcast) -> None:
        """Keep the newest, and of the others as many as fit beside it."""
        everything, size = (*self.recent, broadcast), 0
        for kept, each in enumerate(reversed(everything)):
            size += len(each.frame)
            if size > self._limit and kept > 0:
                everything = everything[len(everything) - kept :]
                break
        self.recent = everything

    def clear(self) -> None:
        """Nothing leads to the estimate but the model itself."""
        self.recent = ()

    def since(self, known: EstimateVersion) -> tuple[Broadcast, ...]:
        """What leads from `known` to the newest estimate; nothing if the log does not reach back."""
        missing = [broadcast for broadcast in self.recent if broadcast.round > known.round]
        joins = missing and missing[0].round == known.round + 1
        if not joins or missing[0].digest != known.digest:
            return ()
        return tuple(missing)
