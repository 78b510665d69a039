"""A grid that counts."""

from collections.abc import Iterable

from flwr.app import Message
from tests.flower.grid import LocalGrid


class CountingGrid(LocalGrid):
    """It adds up the bytes of all messages, both ways."""

    nbytes = 0

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> Iterable[Message]:
        sent = list(messages)
        replies = list(super().send_and_receive(sent, timeout=timeout))
        for message in [*sent, *replies]:
            assert message.has_content(), message.error
            self.nbytes += sum(own.count_bytes() for own in message.content.values() if len(own))
        return replies
