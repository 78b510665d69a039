"""The longest reply of every round: uplinks work in parallel, and the round waits for it."""

from collections.abc import Sequence
from pathlib import Path

from lossyfl.report.frames import frames
from lossyfl.results.records import Round


def longest_replies(path: Path, rounds: Sequence[Round]) -> tuple[float, ...]:
    """Bytes, for each round; without a ledger, the mean over the devices that answered."""
    if not path.is_file():
        return tuple(record.up.nbytes / max(record.replies, 1) for record in rounds)
    most: dict[int, int] = {}
    for frame in frames(path):
        if frame.direction == "up":
            most[frame.round] = max(most.get(frame.round, 0), frame.nbytes)
    return tuple(float(most.get(record.round, 0)) for record in rounds)
