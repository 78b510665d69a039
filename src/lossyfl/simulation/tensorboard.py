"""A run's curves as TensorBoard events."""
# pyright: reportUnknownMemberType=false
# torch leaves parameters of some functions without types.

from pathlib import Path

from lossyfl.extras import require
from lossyfl.results.records import Round
from lossyfl.simulation.setup import Setup


class TensorBoard:
    """Writes every round as scalars; a resumed run replaces what it repeats."""

    def __init__(self, folder: Path) -> None:
        require("tensorboard", extra="tensorboard")
        from torch.utils.tensorboard import SummaryWriter

        self._folder, self._open = folder, SummaryWriter
        self._writer: SummaryWriter | None = None

    def preparing(self, what: str) -> None:
        """Nothing to write."""

    def started(self, setup: Setup, done: list[Round]) -> None:
        """Open the event file; of a run that goes on, behind the rounds that are done."""
        del setup
        self._writer = self._open(str(self._folder), purge_step=len(done))

    def round_done(self, record: Round) -> None:
        """One point of every curve."""
        if self._writer is None:
            return
        for name, value in _scalars(record):
            if value is not None:
                self._writer.add_scalar(name, value, record.round)
        self._writer.flush()

    def stopping(self) -> None:
        """Nothing to say."""

    def ended(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()


def _scalars(record: Round) -> list[tuple[str, float | None]]:
    return [
        ("accuracy/test", record.accuracy),
        ("loss/test", record.test_loss),
        ("loss/train", record.train_loss),
        ("bytes/down", record.down.nbytes),
        ("bytes/up", record.up.nbytes),
        ("broadcast/eps", record.eps),
        ("broadcast/distance", record.distance),
        ("seconds/round", record.seconds.total),
    ]
