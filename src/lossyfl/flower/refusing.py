"""What is refused of replies, or taken with a note: it is logged, and noted in the ledger.

The inner strategy gets an error for a reply that is refused, and counts it with the failures.
"""

from collections.abc import Callable, Sequence
from logging import WARNING

from flwr.app import Message

from lossyfl.adapters.logs import LONGEST_LINE, shown
from lossyfl.errors import LossyflError, Refused
from lossyfl.flower.framework import log
from lossyfl.flower.mod import REFUSED
from lossyfl.flower.replies import NodeReply, Note, Refuse, as_error, refusal_of
from lossyfl.flower.training import Training
from lossyfl.protocol.aggregation import ELSEWHERE

UNREADABLE = "unreadable"
"""Why a reply is refused whose records are not as they must be."""
NOBODY = -1
"""The number of no device."""


def take(
    training: Training,
    answers: Sequence[NodeReply],
    failed: list[Message],
    work: Callable[[NodeReply], None],
) -> list[NodeReply]:
    """Do something with every reply; those with which it could be done."""
    taken: list[NodeReply] = []
    for answer in answers:
        try:
            work(answer)
        except Refused as error:
            if error.reason in ELSEWHERE:
                training.side.peers.forget(answer.node)
            failed.append(refuse(training, answer.message, error, noted=True))
        except Exception as error:  # that answer's, logged by `refusal_of`
            failed.append(refuse(training, answer.message, refusal_of(error, answer.node)))
        else:
            taken.append(answer)
    return taken


def refuse(
    training: Training, reply: Message, error: LossyflError, *, noted: bool = False
) -> Message:
    """The reply as an error, for the inner strategy's count of failures.

    noted: in the ledger, by the server
    """
    node = reply.metadata.src_node_id
    log(WARNING, "lossyfl: node %d: %s", node, error)
    training.journal.refused()
    if not noted:
        device, reason, detail = -1, UNREADABLE, str(error)
        if isinstance(error, Refused):
            device, reason, detail = error.device, error.reason, error.detail
        noted_as = shown(f"node {node}: {detail}", LONGEST_LINE)
        training.server.ledger.refusals.note(training.server.round, device, reason, noted_as)
    reply.content.clear()  # it may be large, and nobody needs it any more
    return as_error(reply, REFUSED, shown(error, LONGEST_LINE))


def refuse_into(training: Training, failed: list[Message]) -> Refuse:
    """Refuse replies, and add them to those that failed."""

    def add(answer: NodeReply, error: LossyflError) -> None:
        failed.append(refuse(training, answer.message, error))

    return add


def note(training: Training, reason: str) -> Note:
    """Note something about a reply that is taken all the same; the log has it once for each device."""

    def note(answer: NodeReply, detail: str) -> None:
        if (answer.number, reason) not in training.warned:
            log(WARNING, "lossyfl: node %d, device %d: %s", answer.node, answer.number, detail)
        training.warned.add((answer.number, reason))
        training.server.ledger.refusals.note(training.server.round, answer.number, reason, detail)

    return note


def say_once(training: Training, reason: str, sentence: str) -> None:
    """Log something that is no single device's, the first time."""
    if (NOBODY, reason) not in training.warned:
        log(WARNING, "lossyfl: %s", sentence)
    training.warned.add((NOBODY, reason))
