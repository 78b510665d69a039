"""What both ends know without being told: what it would save of frames that are coded by class.

    python -m scripts.both_ends digits --devices 10 --partition paper
    LOSSYFL_DATA=folder python -m scripts.both_ends mnist --devices 40 --tau 4 --batch 20 --partition paper

The frames of a run's last two rounds, real bytes of order 0 and by class; and, as parts of those by class,
what ideal codes of the same symbols would save on top if they knew: a, the model that devices hold; b, its
last move (of a reply: that of the same round); c, the decayed mean of sizes of moves; d, the device's last
reply. Of each: classes cut further, tables paid; the same with tables for nothing, which is a bound; and
instead of levels. Levels: chosen anew as differences from those of the last frame of the same sender, with
contexts and without; and from nothing, which is what choosing them otherwise saves without any history.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scripts.contexts import ClassFrame, levels_nbytes, priced_frame
from scripts.relative_levels import flat, nearer
from scripts.shapes import arguments

from lossyfl.compressors.base import AbstractWrapper, SendContext, packed
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import Round
from lossyfl.simulation.run_loop import RunLoop
from lossyfl.simulation.setup import prepare
from lossyfl.simulation.watcher import Silent
from lossyfl.types import Quantized, Vector
from lossyfl.wire.class_side import Levels
from lossyfl.wire.codec import decode

SCHEMES = ("lfl:q1=2,q2=2", "lean:down_budget=0.3bit,up_budget=0.3bit")
DEVICES, LAST = 3, 2
DECAY = 0.8
WAYS = ("paid", "free", "alone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Noting(AbstractWrapper):
    """Notes every frame, and how long it is without shapes."""

    frames: list[tuple[bytes, int]]

    @property
    def damped(self) -> bool:
        """As the inner compressor."""
        return self.inner.damped

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """What the inner compressor makes."""
        made, frame = self.inner.make(x, context)
        self.frames.append((frame, len(packed(replace(made, tensors=None), context))))
        return made, frame


@dataclass(slots=True)
class Seen:
    """A frame, its length by order 0, and what both ends knew."""

    direction: str
    sender: int
    round: int
    frame: bytes
    plain: int
    known: dict[str, Vector]


@dataclass(slots=True)
class Recorder(Silent):
    """Follows a run and keeps what its last rounds sent."""

    broadcasts: list[tuple[bytes, int]] = field(default_factory=list[tuple[bytes, int]])
    replies: list[tuple[bytes, int]] = field(default_factory=list[tuple[bytes, int]])
    seen: list[Seen] = field(default_factory=list[Seen])
    loop: RunLoop | None = None
    known: dict[str, Vector] = field(default_factory=dict[str, Vector])
    own: dict[int, Vector] = field(default_factory=dict[int, Vector])

    def round_done(self, record: Round) -> None:
        """Note the frames of a round, with what was known before each."""
        assert self.loop is not None
        server, last = self.loop.simulation.server, record.round >= self.loop.setup.rounds - LAST
        sent = [each for each in self.broadcasts if each[0] == server.broadcast]
        if sent and last:
            self.seen.append(Seen("down", -1, record.round, *sent[0], dict(self.known)))
        self._move(server.estimate.copy())
        for each in range(min(DEVICES, len(self.replies))):
            device = round(each * len(self.replies) / DEVICES)
            frame, plain = self.replies[device]
            if last:
                own = {"d": self.own[device]} if device in self.own else {}
                self.seen.append(Seen("up", device, record.round, frame, plain, self.known | own))
            self.own[device] = decode(frame)
        self.broadcasts.clear()
        self.replies.clear()

    def _move(self, estimate: Vector) -> None:
        before = self.known.get("a")
        if before is not None:
            move = estimate - before
            mean = self.known.get("c", np.abs(move))
            mean = mean * np.float32(DECAY) + np.abs(move) * np.float32(1 - DECAY)
            self.known |= {"b": move, "c": mean}
        self.known["a"] = estimate


def record(asked: Experiment) -> list[Seen]:
    """The frames of a run's last rounds."""
    setup, recorder = prepare(asked), Recorder()
    chosen = setup.scheme
    down, up = (
        replace(link, compressor=Noting(inner=link.compressor, frames=frames))
        for link, frames in (
            (_any(chosen.downlink), recorder.broadcasts),
            (_any(chosen.uplink), recorder.replies),
        )
    )
    setup = replace(setup, scheme=replace(chosen, downlink=down, uplink=up))
    with tempfile.TemporaryDirectory() as folder:
        results = Results(Path(folder))
        results.create(setup.experiment)
        recorder.loop = RunLoop(setup, results, 1, None, frozenset())
        recorder.loop.go(recorder, 1e9, None)
    return recorder.seen


def _any(link: Any) -> Any:  # noqa: ANN401
    return link


def rows(seen: list[Seen]) -> Iterator[str]:
    """What every direction took, and would save."""
    for direction in ("down", "up"):
        own = [each for each in seen if each.direction == direction]
        frames = [ClassFrame.of(each.frame) for each in own]
        pairs = [(a, b) for a, b in zip(own, frames, strict=True) if b is not None]
        yield f"  {direction:4} {len(pairs)} of {len(own)} frames by class"
        if not pairs:
            continue
        nbytes = sum(frame.nbytes for _, frame in pairs)
        plain = sum(each.plain for each, _ in pairs)
        levels = sum(levels_nbytes(frame.levels) for _, frame in pairs)
        said = f"order 0 {plain:,} B, by class {nbytes:,} B ({nbytes / plain:.3f})"
        yield f"       {said}, levels {100 * levels / nbytes:.1f} %"
        sums: defaultdict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(WAYS, 0.0))
        for each, frame in pairs:
            for name, known in each.known.items():
                for way, saved in frame.saved(known).items():
                    sums[name][way] += saved
        for name, found in sorted(sums.items()):
            said = ", ".join(f"{way} {100 * found[way] / nbytes:+.1f} %" for way in WAYS)
            yield f"       {name}: {said}"
        yield from _levels(pairs)
        yield from _again(own)


def _again(seen: list[Seen]) -> Iterator[str]:
    """How much of what devices sent last they send again, and with which sign."""
    pairs = [(decode(each.frame), each.known["d"]) for each in seen if "d" in each.known]
    if pairs:
        now, last = (np.concatenate(each) for each in zip(*pairs, strict=True))
        again = now[(last != 0) & (now != 0)] * last[(last != 0) & (now != 0)]
        part, other = 100 * len(again) / np.count_nonzero(last), 100 * np.mean(again < 0)
        yield f"       sent again: {part:.1f} % of the last, {other:.1f} % of it with the other sign"


def _levels(pairs: list[tuple[Seen, ClassFrame]]) -> Iterator[str]:
    """What levels would save as differences from those of the round before, with contexts and without."""
    of = {(each.sender, each.round): (each, frame) for each, frame in pairs}
    sums: defaultdict[str, float] = defaultdict(float)
    nbytes = 0
    for (sender, number), (each, frame) in of.items():
        if (sender, number - 1) not in of:
            continue
        own, saved = _saved(frame, of[sender, number - 1][1].levels)
        nbytes += frame.nbytes
        sums["levels"] += max(saved, 0.0)  # or they travel as they do today
        sums["levels from nothing"] += max(_saved(frame, flat(frame.levels))[1], 0.0)
        for name, known in each.known.items():
            both = saved + own.saved(known)["paid"]
            sums[f"levels and {name}"] += max(both, frame.saved(known)["paid"])
    if nbytes:
        said = [f"{name} {100 * saved / nbytes:+.1f} %" for name, saved in sorted(sums.items())]
        yield f"       {', '.join(said)}"


def _saved(frame: ClassFrame, before: Levels) -> tuple[ClassFrame, float]:
    """The frame with levels chosen anew as differences from others, and bytes that this saves."""
    own = nearer(frame, before)
    bits = priced_frame(frame) - priced_frame(own)
    return own, bits / 8 + levels_nbytes(frame.levels) - levels_nbytes(own.levels, before)


def main() -> None:
    """Measure every scheme."""
    given = vars(arguments(SCHEMES).parse_args())
    for spec in given.pop("schemes"):
        asked = Experiment(scheme=spec, evaluate_every=given["rounds"], **given)
        print(f"{asked.task}, {asked.scheme}, round {asked.rounds}")
        print("\n".join(rows(record(asked))), flush=True)


if __name__ == "__main__":
    main()
