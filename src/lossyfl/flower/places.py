"""Where a strategy's results lie, and what the nodes of a simulation leave on this machine."""

from logging import INFO
from pathlib import Path

from flwr.serverapp import Grid

from lossyfl.adapters.folders import default_root, remove_training
from lossyfl.flower.framework import log
from lossyfl.flower.training import Training

RUN_ID = "{run_id}"
"""In the name of a results directory."""
SIMULATION = "InMemoryGrid"
"""The grid of Flower's simulation engine, whose class has moved between its modules."""


def results_folder(results: Path | None, grid: Grid) -> Path | None:
    """The results directory of a run."""
    if results is None or RUN_ID not in str(results):
        return results
    return Path(str(results).replace(RUN_ID, str(grid.run.run_id)))


def clean_up(training: Training, grid: Grid, *, saves: bool) -> None:
    """Remove what the nodes of a simulation keep on this machine, if nobody can go on from it."""
    if type(grid).__name__ != SIMULATION or saves:
        return
    removed = remove_training(default_root(), training.side.name)
    if not removed and training.side.peers.known():
        where = "lossyfl-dir or LossyMod(state_dir=...)"
        log(INFO, "lossyfl: nodes keep their state by %s: lossyfl flower clean FOLDER", where)
