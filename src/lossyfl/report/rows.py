"""The results of a group: one row of every table."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from lossyfl.report.groups import Group
from lossyfl.report.runs import Run
from lossyfl.results.records import Round, Traffic, is_number
from lossyfl.tasks.metrics import Metric

EVALUATIONS = 10
"""How many evaluations at the end of a run are averaged."""
ROUNDS = 10
"""How many rounds at the end are averaged: the same span for all, however often a run is evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """The same number of the downlink and of the uplink; None if nothing was sent."""

    down: float | None
    up: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """A group in numbers; None where there is nothing to say.

    seeds:   of the runs that came that far, which all numbers are of
    others:  how many runs of the group did not yet
    rounds:  of the longest run
    metric:  what `last` to `best` are of: the first one of the task
    last:    of the last evaluation, the mean over seeds
    more:    the same of the task's other metrics
    tail:    the mean of the last ten evaluations of all seeds
    spread:  their standard deviation
    end:     the mean of evaluations of the last ten rounds of all seeds
    best:    of all evaluations of all seeds
    nbytes:  of a run, the mean over seeds; a broadcast counts once, where there is one
    catch_up: of those down, what devices were sent that had missed more than the newest update
    saving:  times fewer bytes than 32-bit floats
    paper:   the same by the paper's count, 33 bits per entry over R_Q
    bits:    per entry, in frames as they were sent
    seconds: of a run, the mean over seeds
    later:   the saving of the downlink without the initial model, real and by the paper's count
    eps:     of the broadcasts, their median and the largest
    error:   of quantizing over what was quantized, the median over rounds
    peaks:   over the root mean square, of the model, the broadcast and replies, the medians over rounds
    norm:    of what the broadcast's quantizer was given, the median over rounds
    distance: ||theta - theta_hat||, the median over rounds with a broadcast
    memory:  ||delta_m|| over the norm of a reply, the median over rounds
    """

    label: str
    seeds: tuple[int, ...]
    others: int
    rounds: int
    metric: Metric
    last: float | None
    more: tuple[tuple[Metric, float | None], ...]
    tail: float | None
    spread: float | None
    end: float | None
    best: float | None
    nbytes: Both
    catch_up: float
    saving: Both
    paper: Both
    bits: Both
    seconds: float
    later: tuple[float | None, float | None]
    eps: tuple[float | None, float | None]
    error: Both
    peaks: tuple[float | None, float | None, float | None]
    norm: float | None
    distance: float | None
    memory: float | None


def row(group: Group) -> GroupRow:
    """The row of a group."""
    whole = _longest(group)
    rounds = len(whole[0].rounds)
    metric, *more = group.metrics
    evaluations = [_evaluations(run, metric) for run in whole]
    closing = ends(group)
    tail = [value for seen in evaluations for value in seen[-EVALUATIONS:]]
    records = [record for run in whole for record in run.rounds]
    later = [record.handed for record in records if record.round > 0]
    eps = [record.eps for record in records if is_number(record.eps)]
    runs = len(whole)
    return GroupRow(
        label=group.label,
        seeds=tuple(run.settings.seed for run in whole),
        others=len(group.runs) - runs,
        rounds=rounds,
        metric=metric,
        last=_last(whole, metric),
        more=tuple((each, _last(whole, each)) for each in more),
        tail=fmean(tail) if tail else None,
        spread=stdev(tail) if len(tail) > 1 else None,
        end=fmean(closing) if closing else None,
        best=metric.best([value for seen in evaluations for value in seen]),
        nbytes=Both(
            down=sum(record.handed.nbytes for record in records) / runs,
            up=sum(record.up.nbytes for record in records) / runs,
        ),
        catch_up=sum(record.handed.catch_up for record in records) / runs,
        saving=_both(records, lambda t: t.raw, lambda t: t.nbytes),
        paper=_both(records, lambda t: t.raw * 33 / 32, lambda t: t.paper),
        bits=_both(records, lambda t: 8 * t.nbytes, lambda t: t.entries),
        seconds=sum(record.seconds.total for record in records) / runs,
        later=(
            _ratio(later, lambda t: t.raw, lambda t: t.nbytes),
            _ratio(later, lambda t: t.raw * 33 / 32, lambda t: t.paper),
        ),
        eps=(median(eps), max(eps)) if eps else (None, None),
        error=_errors(records),
        peaks=_peaks(records),
        norm=_median(r.broadcast.norm for r in records if r.broadcast),
        distance=_median(r.distance for r in records if r.broadcast),
        memory=_median(
            r.memory / r.reply.norm
            for r in records
            if r.reply and r.reply.norm and r.memory is not None
        ),
    )


def _errors(records: list[Round]) -> Both:
    """The relative error of quantizing, each way."""
    return Both(
        down=_median(r.broadcast.error for r in records if r.broadcast),
        up=_median(r.reply.error for r in records if r.reply),
    )


def _peaks(records: list[Round]) -> tuple[float | None, float | None, float | None]:
    """The peaks of the model, the broadcast and replies."""
    return (
        _median(r.model_peak for r in records),
        _median(r.broadcast.peak for r in records if r.broadcast),
        _median(r.reply.peak for r in records if r.reply),
    )


def _median(values: Iterable[float | None]) -> float | None:
    found = list(filter(is_number, values))
    return median(found) if found else None


def ends(group: Group) -> list[float]:
    """The mean over evaluations of the last ten rounds, of every run that came as far as the longest."""
    metric = group.metric
    evaluations = [_evaluations(run, metric, len(run.rounds) - ROUNDS) for run in _longest(group)]
    return [fmean(seen) for seen in evaluations if seen]


def _last(runs: Sequence[Run], metric: Metric) -> float | None:
    """A metric at the last evaluation, the mean over seeds."""
    evaluations = [_evaluations(run, metric) for run in runs]
    last = [seen[-1] for seen in evaluations if seen]
    return fmean(last) if last else None


def _longest(group: Group) -> list[Run]:
    """The runs that came as far as any."""
    rounds = max(len(run.rounds) for run in group.runs)
    return [run for run in group.runs if len(run.rounds) == rounds]


def _evaluations(run: Run, metric: Metric, start: int = 0) -> list[float]:
    """A metric at all evaluations from round `start` on."""
    values = [record.metrics.get(metric.name) for record in run.rounds[max(start, 0) :]]
    return list(filter(is_number, values))


def _both(
    records: list[Round], over: Callable[[Traffic], float], under: Callable[[Traffic], float]
) -> Both:
    """The ratio of two sums, each way."""
    down, up = [record.handed for record in records], [record.up for record in records]
    return Both(down=_ratio(down, over, under), up=_ratio(up, over, under))


def _ratio(
    sent: list[Traffic], over: Callable[[Traffic], float], under: Callable[[Traffic], float]
) -> float | None:
    whole = sum(map(under, sent))
    ratio = sum(map(over, sent)) / whole if whole else None
    return ratio if is_number(ratio) else None
