"""Runs as columns of a table, for pandas or whatever takes lists by name."""

from typing import TYPE_CHECKING, Any

from lossyfl.results.task_facts import united

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lossyfl.api.outcomes import TrainedRun

Columns = dict[str, list[Any]]


def of_rounds(runs: "Sequence[TrainedRun]") -> Columns:
    """A row per round: who, when, metrics, losses, and bytes of the round and so far."""
    rows: list[dict[str, Any]] = []
    for run in runs:
        down = up = 0
        for record in run.rounds:
            down, up = down + record.handed.nbytes, up + record.up.nbytes
            rows.append(
                _who(run)
                | {"round": record.round + 1}
                | {name: record.metrics.get(name) for name in _metrics(runs)}
                | {"test_loss": record.test_loss, "train_loss": record.train_loss}
                | {"bytes_down": record.handed.nbytes, "bytes_up": record.up.nbytes}
                | {"bytes_so_far": down + up, "seconds": record.seconds.total}
            )
    return _columns(rows)


def of_runs(runs: "Sequence[TrainedRun]") -> Columns:
    """A row per run: who, the last evaluation, bytes and savings."""
    return _columns(
        [
            _who(run)
            | {"rounds": run.summary.rounds}
            | {name: run.summary.metrics.get(name) for name in _metrics(runs)}
            | {"bytes_down": run.summary.down, "bytes_up": run.summary.up}
            | {"saving_down": run.summary.saving_down, "saving_up": run.summary.saving_up}
            | {"seconds": run.summary.seconds}
            for run in runs
        ]
    )


def _who(run: "TrainedRun") -> dict[str, Any]:
    return {"task": run.task, "scheme": run.scheme, "seed": run.settings.seed}


def _metrics(runs: "Sequence[TrainedRun]") -> list[str]:
    return [metric.name for metric in united([run.run.about.task.metrics for run in runs])]


def _columns(rows: list[dict[str, Any]]) -> Columns:
    names = rows[0] if rows else {}
    return {name: [row[name] for row in rows] for name in names}
