"""A training written to a file after every round, and gone on from."""

from dataclasses import replace
from logging import INFO, WARNING
from pathlib import Path

from flwr.app import ArrayRecord

from lossyfl.adapters.layout import layout_of, read_layout
from lossyfl.adapters.saved import Saved
from lossyfl.errors import DiskError
from lossyfl.flower.defaults import FORMER
from lossyfl.flower.framework import FLOWER, log
from lossyfl.flower.inner_state import read_inner, restore_inner
from lossyfl.flower.records import to_record
from lossyfl.flower.training import Training
from lossyfl.protocol.schemes import scheme


def save(training: Training, path: Path, number: int) -> None:
    """Write down the state after a round."""
    saved = training.side.saved(number, read_inner(training.inner))
    try:
        saved.write(path, training.exact)
    except DiskError as error:
        to_do = f"make room, and start it again: it goes on after round {number - 1}"
        raise DiskError(f"{error}; {to_do}") from error


def resume(training: Training, path: Path, initial: ArrayRecord, *, is_named: bool) -> ArrayRecord:
    """Go on from the checkpoint; the model that it holds."""
    saved, exact = Saved.read(path)
    side = training.side
    if not is_named and saved.scheme == FORMER:
        side.settings = replace(side.settings, spec=FORMER, scheme=scheme(FORMER))
    wanted, layout = layout_of(initial, side.settings.exact), read_layout(saved.layout)
    saved.check(side.settings.spec, wanted, FLOWER)
    if layout != wanted:
        log(
            WARNING,
            "lossyfl: the same arrays travel exactly as before the checkpoint, no others",
        )
    side.resume(saved, exact, initial, layout)
    restore_inner(training.inner, saved.inner)
    log(INFO, "lossyfl: going on after round %d from %s", saved.rounds, path)
    training.given = to_record(side.model)
    return training.given
