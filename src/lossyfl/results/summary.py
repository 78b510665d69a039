"""The results of a run in a few numbers."""

from collections.abc import Mapping
from dataclasses import dataclass

from lossyfl.results.records import Round
from lossyfl.tasks.metrics import ACCURACY


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The sums over all rounds of a run, and its last evaluation.

    metrics:  of the last evaluation, by their names; empty if there was none
    down, up: bytes; a broadcast counts once, where there is one, else every device's copy
    catch_up: of those down, what devices were sent that had missed more than the newest update
    saving_*: against 32-bit floats over the same links to the same devices: a model per round for all, or for
              each device that was sent any frame
    paper_*:  the saving by the paper's count
    """

    rounds: int
    metrics: Mapping[str, float]
    down: int
    up: int
    catch_up: int
    saving_down: float
    saving_up: float
    paper_down: float
    paper_up: float
    seconds: float

    @property
    def accuracy(self) -> float | None:
        """Of a task that measures it, where the run was evaluated."""
        return self.metrics.get(ACCURACY.name)


def summarize(rounds: list[Round]) -> RunSummary:
    """The summary of these rounds."""
    seen = [record.metrics for record in rounds if record.metrics]
    down, up = sum(r.handed.nbytes for r in rounds), sum(r.up.nbytes for r in rounds)
    paper_down, paper_up = sum(r.handed.paper for r in rounds), sum(r.up.paper for r in rounds)
    raw_down, raw_up = sum(r.handed.raw for r in rounds), sum(r.up.raw for r in rounds)
    return RunSummary(
        rounds=len(rounds),
        metrics=dict(seen[-1]) if seen else {},
        down=down,
        up=up,
        catch_up=sum(r.handed.catch_up for r in rounds),
        saving_down=raw_down / down if down else 1.0,
        saving_up=raw_up / up if up else 1.0,
        paper_down=raw_down * 33 / 32 / paper_down if paper_down else 1.0,
        paper_up=raw_up * 33 / 32 / paper_up if paper_up else 1.0,
        seconds=sum(r.seconds.total for r in rounds),
    )
