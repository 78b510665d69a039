"""Coverage-guided fuzzing of everything that reads bytes of others: nothing but our errors may come of it.

    make fuzz                                                    an hour, all targets
    python -m tests.fuzz.guided --seconds 60 --targets decode accept --json summary.json
    python -m tests.fuzz.guided --targets decode --only input.bin

Inputs that reach a branch that none has reached before are kept, and changed further; they lie in
`build/fuzz/<target>`, and the next run goes on from there. A finding is an exception that is not ours, a
warning, something that takes seconds or gigabytes, or a target's own objection; its input is written to
`build/fuzz/findings`, once for each place in the source.
"""

import argparse
import hashlib
import json
import math
import random
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tests.fuzz.instrument import Branches
from tests.fuzz.mutate import PLAIN, Mutator, mutated

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST = 1 << 16
"""Bytes of an input."""
SECONDS = 10
"""After which a single input gets a second try, and then is a finding."""
MORE = 12
"""Times as long for the second try: a kernel may have had to be compiled."""
MEMORY = 2 << 30
"""Bytes beyond what the process has at the start."""
TURN = 2.0
"""Seconds for one target before it is the turn of the next."""


class TooSlowError(BaseException):
    """An input took too long; not an Exception, so that nobody catches it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Something that reads bytes.

    run:   must return, or raise one of our errors
    seeds: inputs to begin with
    how:   the changes that suit the format
    mend:  makes checksums right again
    steps: inputs that `make test` tries
    """

    name: str
    run: Callable[[bytes], object]
    seeds: Callable[[], Sequence[bytes]]
    how: Sequence[Mutator] = PLAIN
    mend: Callable[[bytes], bytes] | None = None
    steps: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What went wrong, where, and the bytes that did it."""

    target: str
    error: str
    place: str
    traceback: str
    data: str


@dataclass(slots=True, kw_only=True)
class Campaign:
    """One target, and how far it got."""

    target: Target
    allowed: type[Exception]
    branches: Branches
    folder: Path | None = None
    executions: int = 0
    steps: int = 0
    refused: int = 0
    seconds: float = 0.0
    corpus: list[bytes] = field(default_factory=list[bytes])
    findings: dict[str, Finding] = field(default_factory=dict[str, Finding])
    seen: "NDArray[np.bool_]" = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def start(self) -> None:
        """Run the seeds, and what earlier runs have kept."""
        for data in self.target.seeds():
            self.execute(data, seconds=0)  # kernels may have to be compiled
            self.corpus.append(data)
        kept = sorted(self.folder.glob("*.bin")) if self.folder else []
        for path in kept:
            data = path.read_bytes()
            if self.execute(data):
                self.corpus.append(data)

    def step(self, rng: random.Random, words: Sequence[bytes]) -> None:
        """Change an input, run it, and keep it if it is worth it."""
        self.steps += 1
        newer = max(0, len(self.corpus) - 50) if rng.random() < 0.5 else 0
        parent = self.corpus[rng.randrange(newer, len(self.corpus))]
        data = mutated(parent, rng.choice(self.corpus), words, self.target.how, rng)[:LONGEST]
        if self.target.mend is not None and rng.random() < 0.95:
            data = self.target.mend(data)
        if self.execute(data):
            self.corpus.append(data)
            if self.folder is not None:
                self.folder.mkdir(parents=True, exist_ok=True)
                (self.folder / f"{hashlib.sha1(data).hexdigest()}.bin").write_bytes(data)

    def execute(self, data: bytes, *, seconds: int = SECONDS) -> bool:
        """Run one input, for so many seconds if not 0; whether it took a branch that none had taken."""
        self.executions += 1
        self.branches.taken()
        try:
            self._run(data, seconds)
        except self.allowed:
            self.refused += 1
        except (Exception, TooSlowError) as error:
            self._found(data, error)
        taken = self.branches.taken()
        if len(self.seen) < len(taken):  # a module was imported on the way
            self.seen = np.concatenate([self.seen, np.zeros(len(taken) - len(self.seen), np.bool_)])
        fresh = bool((taken & ~self.seen[: len(taken)]).any())
        if fresh:
            self.seen[: len(taken)] |= taken
        return fresh

    def _run(self, data: bytes, seconds: int) -> None:
        """Run one input; one that is slow gets more time."""
        try:
            _allow(seconds)
            self.target.run(data)
        except TooSlowError:
            _allow(MORE * seconds)
            self.target.run(data)
        finally:
            _allow(0)

    def _found(self, data: bytes, error: BaseException) -> None:
        """Keep the first input for each place in the source."""
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "lossyfl" in Path(frame.filename).parts] or frames
        place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        key = f"{type(error).__name__} at {place}"
        if key in self.findings:
            return
        lines = "".join(traceback.format_exception(error, limit=-6))
        self.findings[key] = Finding(
            target=self.target.name,
            error=f"{type(error).__name__}: {str(error)[:300]}",
            place=place,
            traceback=lines[-3000:],
            data=data.hex(),
        )
        print(f"{self.target.name}: {key}: {str(error)[:200]}", flush=True)
        if self.folder is not None:
            folder = self.folder.parent / "findings"
            folder.mkdir(parents=True, exist_ok=True)
            name = f"{self.target.name}-{hashlib.sha1(key.encode()).hexdigest()[:8]}"
            (folder / f"{name}.bin").write_bytes(data)
            (folder / f"{name}.txt").write_text(lines)

    def summary(self) -> dict[str, object]:
        """Counts."""
        return {
            "executions": self.executions,
            "refused": self.refused,
            "seconds": round(self.seconds, 1),
            "branches": int(self.seen.sum()),
            "corpus": len(self.corpus),
            "findings": len(self.findings),
        }


def fuzz(
    campaigns: Sequence[Campaign],
    *,
    seconds: float,
    seed: int,
    turn: float = TURN,
    steps: int | None = None,
) -> list[Finding]:
    """All targets in turn, for so many seconds in all, or until each was changed so often."""
    most = math.inf if steps is None else steps
    rng, start, shown = random.Random(seed), time.monotonic(), 0.0
    signal.signal(signal.SIGPROF, _too_slow)
    words = sorted(campaigns[0].branches.constants)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for campaign in campaigns:
            campaign.start()
        while time.monotonic() - start < seconds and any(c.steps < most for c in campaigns):
            for campaign in campaigns:
                began = time.monotonic()
                while time.monotonic() - began < turn and campaign.steps < most:
                    campaign.step(rng, words)
                campaign.seconds += time.monotonic() - began
            if time.monotonic() - shown > 60:
                shown = time.monotonic()
                _print(campaigns, shown - start)
    _print(campaigns, time.monotonic() - start)
    return [finding for campaign in campaigns for finding in campaign.findings.values()]


def _print(campaigns: Sequence[Campaign], seconds: float) -> None:
    total = sum(campaign.executions for campaign in campaigns)
    found = sum(len(campaign.findings) for campaign in campaigns)
    print(f"{seconds:.0f} s: {total:,} executions, {found} findings", flush=True)


def _allow(seconds: float) -> None:
    """Raise TooSlowError after so many seconds of processor time; a busy machine is no finding. 0: never."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _too_slow(number: int, frame: object) -> None:
    del number, frame
    raise TooSlowError(f"more than {SECONDS} s")


def limit_memory() -> None:
    """Let a bomb be a MemoryError."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--targets", nargs="*", help="by default all")
    parser.add_argument("--corpus", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--json", type=Path, help="where to write a summary")
    parser.add_argument("--only", type=Path, help="run this input alone, on the one target")
    arguments = parser.parse_args()
    branches = Branches()
    branches.watch("lossyfl")
    from tests.fuzz.targets import TARGETS  # only now, so that all that it imports is watched

    from lossyfl.errors import LossyflError

    chosen = [t for t in TARGETS if not arguments.targets or t.name in arguments.targets]
    if arguments.only:
        print(chosen[0].run(arguments.only.read_bytes()))
        return 0
    campaigns = [
        Campaign(
            target=target,
            allowed=LossyflError,
            branches=branches,
            folder=arguments.corpus / target.name,
        )
        for target in chosen
    ]
    limit_memory()
    findings = fuzz(campaigns, seconds=arguments.seconds, seed=arguments.seed)
    summary = {campaign.target.name: campaign.summary() for campaign in campaigns}
    for name, counts in summary.items():
        print(f"{name:14}", ", ".join(f"{value:,} {key}" for key, value in counts.items()))
    if arguments.json:
        facts = {
            "seconds": arguments.seconds,
            "executions": sum(campaign.executions for campaign in campaigns),
            "branches": int(sum(campaign.seen.sum() for campaign in campaigns)),
            "findings": [asdict(finding) for finding in findings],
            "targets": summary,
        }
        arguments.json.write_text(json.dumps(facts, indent=1) + "\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
