"""Messages from nodes: replies that came through the mod, by device, and errors."""

from flwr.app import Message

from lossyfl.adapters.envelope import unpack_up
from lossyfl.adapters.records import Foreign
from lossyfl.errors import Refused
from lossyfl.flower import privacy
from lossyfl.flower.records import size_of, take_records
from lossyfl.flower.refusing import refuse, say_once
from lossyfl.flower.replies import NodeReply, readable, refusal_of
from lossyfl.flower.training import Training

RAISED = 2
"""Flower's code for an app that raised an exception."""
WITHOUT_MOD = "is lossy_mod in the ClientApp? ClientApp(mods=[lossy_mod])"


def unwrap(training: Training, replies: list[Message]) -> tuple[list[NodeReply], list[Message]]:
    """The replies that came through the mod, by device, and the others as errors."""
    asked = {own.metadata.message_id: own.metadata.dst_node_id for own in training.sent}
    answers: dict[int, NodeReply] = {}
    failed: list[Message] = []
    for reply in replies:
        node = asked.pop(reply.metadata.reply_to_message_id, None)
        if reply.has_error():
            _explain(training, reply)
            failed.append(readable(reply, _hint(training, node, reply)))
            continue
        try:
            training.journal.carried_up(size_of(reply))
            if node is None:
                raise Foreign("nobody asked for it, or it came already")
            answer = _answer(training, node, reply)
            if answer.number in answers:
                raise Refused(answer.number, "doubled", "there is one of this round")
            answers[answer.number] = answer
        except Exception as error:  # whatever an answer causes is its own refusal, and logged
            blamed = reply.metadata.src_node_id
            failed.append(refuse(training, reply, refusal_of(error, blamed)))
    training.side.rename()
    return sorted(answers.values(), key=lambda answer: answer.number), failed


def _answer(training: Training, node: int, reply: Message) -> NodeReply:
    up = unpack_up(take_records(reply.content), sender="the node")
    if up is None:
        raise Foreign(
            f"node {node} answers without lossyfl: put lossy_mod first into its app, "
            "ClientApp(mods=[lossy_mod])"
        )
    number = training.side.hear(node, up, online=training.online)
    return NodeReply(node=node, number=number, message=reply, up=up)


def _hint(training: Training, node: int | None, reply: Message) -> str:
    """What to do about the error of a node, if it looks as if its app saw a message of ours as it is."""
    has_answered = node is None or training.side.peers[node].known
    if has_answered or reply.error.code != RAISED:
        return ""
    say_once(training, "mod", f"an app raises at what lossyfl sends: {WITHOUT_MOD}")
    return WITHOUT_MOD


def _explain(training: Training, reply: Message) -> None:
    """Say what a node's error means, where its own words do not."""
    if privacy.is_secure_aggregation(str(reply.error.reason)):
        say_once(training, "secagg", privacy.SECURE_AGGREGATION)
