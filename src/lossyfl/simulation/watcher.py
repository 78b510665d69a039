"""Who is told how a run goes."""

from typing import TYPE_CHECKING, Protocol

from lossyfl.results.records import Round

if TYPE_CHECKING:
    from lossyfl.simulation.setup import Setup  # torch comes with it, and displays begin before


class Watcher(Protocol):
    """Someone who is told how a run goes."""

    def preparing(self, what: str) -> None:
        """What is done before the first round, and may take a while."""
        ...

    def started(self, setup: "Setup", done: list[Round]) -> None:
        """Everything is ready; these rounds were done before."""
        ...

    def round_done(self, record: Round) -> None:
        """One more round is done, and written down."""
        ...

    def stopping(self) -> None:
        """The run was asked to stop, and will after this round."""
        ...

    def ended(self) -> None:
        """It is over, one way or the other."""
        ...


class Silent:
    """A watcher that says nothing, for runs that nobody watches."""

    def preparing(self, what: str) -> None:
        """Say nothing."""

    def started(self, setup: "Setup", done: list[Round]) -> None:
        """Say nothing."""

    def round_done(self, record: Round) -> None:
        """Say nothing."""

    def stopping(self) -> None:
        """Say nothing."""

    def ended(self) -> None:
        """Say nothing."""
