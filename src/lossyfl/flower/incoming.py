"""Messages from nodes: replies that came through the mod, by device, and errors."""

from flwr.app import Message

from lossyfl.adapters import layout as layouts
from lossyfl.adapters.envelope import Foreign, unpack_up
from lossyfl.errors import Refused
from lossyfl.flower import privacy
from lossyfl.flower.refusing import refuse, say_once
from lossyfl.flower.replies import Answer, readable, refusal_of
from lossyfl.flower.training import Training
from lossyfl.protocol.states import check_number

RAISED = 2
"""Flower's code for an app that raised an exception."""
WITHOUT_MOD = "is lossy_mod in the ClientApp? ClientApp(mods=[lossy_mod])"


def unwrap(training: Training, replies: list[Message]) -> tuple[list[Answer], list[Message]]:
    """The replies that came through the mod, by device, and the others as errors."""
    asked = {own.metadata.message_id: own.metadata.dst_node_id for own in training.sent}
    answers: dict[int, Answer] = {}
    failed: list[Message] = []
    renamed: dict[int, int] = {}
    for reply in replies:
        node = asked.pop(reply.metadata.reply_to_message_id, None)
        if reply.has_error():
            _explain(training, reply)
            failed.append(readable(reply, _hint(training, node, reply)))
            continue
        try:
            training.journal.carried(reply, down=False)
            if node is None:
                raise Foreign("nobody asked for it, or it came already")
            answer = _answer(training, node, reply, renamed)
            if answer.number in answers:
                raise Refused(answer.number, "doubled", "there is one of this round")
            answers[answer.number] = answer
        except Exception as error:  # whatever an answer causes is its own refusal, and logged
            blamed = reply.metadata.src_node_id
            failed.append(refuse(training, reply, refusal_of(error, blamed)))
    for number in renamed.values():
        if training.server.is_member(number):  # of the node that was this device before
            training.server.leave(number)
    training.server.rename(renamed)
    return sorted(answers.values(), key=lambda answer: answer.number), failed


def _answer(training: Training, node: int, reply: Message, renamed: dict[int, int]) -> Answer:
    up = unpack_up(reply.content)
    if up is None:
        raise Foreign(
            f"node {node} answers without lossyfl: put lossy_mod first into its app, "
            "ClientApp(mods=[lossy_mod])"
        )
    check_number(up.number)
    if up.reply:
        layouts.check_exact(up.exact, training.layout, of="the reply")
    before = training.nodes[node]
    peer = training.nodes.heard(node, up.number, up.held, online=training.online)
    # One that was sent something as another device, which has a new node now, has nothing to rename.
    was_called = not before.known and training.server.is_member(before.number)
    if was_called and peer.number != before.number:
        renamed[before.number] = peer.number
    if up.problem:
        raise Refused(up.number, "out of step", f"{up.problem}; it is sent what it lacks")
    return Answer(node=node, number=peer.number, message=reply, up=up)


def _hint(training: Training, node: int | None, reply: Message) -> str:
    """What to do about the error of a node, if it looks as if its app saw a message of ours as it is."""
    has_answered = node is None or training.nodes[node].known
    if has_answered or reply.error.code != RAISED:
        return ""
    say_once(training, "mod", f"an app raises at what lossyfl sends: {WITHOUT_MOD}")
    return WITHOUT_MOD


def _explain(training: Training, reply: Message) -> None:
    """Say what a node's error means, where its own words do not."""
    if privacy.is_secure_aggregation(str(reply.error.reason)):
        say_once(training, "secagg", privacy.SECURE_AGGREGATION)
