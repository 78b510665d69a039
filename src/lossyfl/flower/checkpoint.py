"""A training written to a file after every round, and gone on from."""

from logging import INFO, WARNING
from pathlib import Path

from flwr.app import ArrayRecord

from lossyfl.adapters import layout as layouts
from lossyfl.adapters.logs import log
from lossyfl.adapters.saved import Saved, read_inner, restore_inner
from lossyfl.errors import DiskError
from lossyfl.flower.defaults import FORMER
from lossyfl.flower.training import Training
from lossyfl.protocol.schemes import scheme


def save(training: Training, path: Path, number: int) -> None:
    """Write down the state after a round."""
    saved = Saved(
        rounds=number,
        training=training.name,
        scheme=training.spec,
        layout=training.layout.text(),
        server=training.server.state(),
        nodes=training.nodes.known(),
        inner=read_inner(training.inner),
    )
    try:
        saved.write(path, training.exact)
    except DiskError as error:
        to_do = f"make room, and start it again: it goes on after round {number - 1}"
        raise DiskError(f"{error}; {to_do}") from error


def resume(training: Training, path: Path, initial: ArrayRecord, *, is_named: bool) -> ArrayRecord:
    """Go on from the checkpoint; the model that it holds."""
    saved, exact = Saved.read(path)
    if not is_named and saved.scheme == FORMER:
        training.spec, training.scheme = FORMER, scheme(FORMER)
    wanted, layout = layouts.layout_of(initial, training.named), layouts.read_layout(saved.layout)
    saved.check(training.spec, wanted)
    if layout != wanted:
        log(
            WARNING,
            "lossyfl: the same arrays travel exactly as before the checkpoint, no others",
        )
    training.name, training.rounds_before = saved.training, saved.rounds
    training.begin(initial, layout)
    layouts.check_exact(exact, training.layout, of="the checkpoint")
    training.exact = exact
    training.server.restore(saved.server)
    training.nodes.restore(saved.nodes)
    restore_inner(training.inner, saved.inner)
    log(INFO, "lossyfl: going on after round %d from %s", saved.rounds, path)
    training.given = layouts.unflatten(training.server.theta, training.exact, training.layout)
    return training.given
