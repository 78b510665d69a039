"""What schemes came to on short runs, each over some seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from lossyfl.experiments.outcome import outcome
from lossyfl.tasks.metrics import ACCURACY, Metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a scheme came to: how well it learned, and bytes per round after the initial model.

    values:   how well, by seed: the mean of the last evaluations of each run
    down, up, catch_up: bytes of a round, as those of `RunOutcome`
    failed:   why it came to nothing, empty if it did not
    given_up: whether it was hopeless after its first seed, so that others were not run
    folders:  of its runs
    metric:   what the values are of
    """

    scheme: str
    values: tuple[float, ...]
    down: float
    up: float
    catch_up: float = 0.0
    failed: str = ""
    given_up: bool = False
    folders: tuple[Path, ...] = ()
    metric: Metric = ACCURACY

    @property
    def value(self) -> float:
        """The mean over seeds; 0 without any."""
        return fmean(self.values) if self.values else 0.0


def failure(spec: str, why: str, folders: Sequence[Path] = ()) -> Trial:
    """The trial of a scheme that cannot be used."""
    return Trial(scheme=spec, values=(), down=0.0, up=0.0, failed=why, folders=tuple(folders))


def trial(spec: str, folders: Sequence[Path], *, given_up: bool = False) -> Trial:
    """The trial that some results directories hold, one for each seed."""
    found = [each for each in map(outcome, folders) if each is not None]
    values = [each.value for each in found if each.value is not None]
    if not found or not values:
        return failure(spec, "never evaluated", folders)
    return Trial(
        scheme=spec,
        values=tuple(values),
        down=fmean(each.down for each in found),
        up=fmean(each.up for each in found),
        catch_up=fmean(each.catch_up for each in found),
        given_up=given_up,
        folders=tuple(folders),
        metric=found[0].metric,
    )


def frontier(tried: Sequence[Trial]) -> list[Trial]:
    """Those that came to something, and to which no other is at least as good in all and better in one.

    >>> a = Trial(scheme="a", values=(0.9,), down=10, up=10)
    >>> b = Trial(scheme="b", values=(0.9,), down=10, up=20)
    >>> [each.scheme for each in frontier([a, b])]
    ['a']
    """

    def beats(one: Trial, other: Trial) -> bool:
        sign = one.metric.sign
        ones = (sign * one.value, -one.down, -one.up)
        others = (sign * other.value, -other.down, -other.up)
        return ones != others and all(a >= b for a, b in zip(ones, others, strict=True))

    some = [each for each in tried if not each.failed]
    return [each for each in some if not any(beats(other, each) for other in some)]
