"""Messages to nodes: the model replaced by the frames that each of them lacks."""

from dataclasses import replace

from flwr.app import ArrayRecord, ConfigRecord, Message, RecordDict
from flwr.serverapp import Grid

from lossyfl.adapters.envelope import Down, pack_down, pack_frames
from lossyfl.adapters.peers import Peer
from lossyfl.errors import InputError
from lossyfl.flower.training import Training
from lossyfl.protocol.digests import NOTHING
from lossyfl.protocol.states import UNKNOWN, Delivery


def wrap(
    training: Training, messages: list[Message], record: ArrayRecord, grid: Grid
) -> list[Message]:
    """Put what every node needs into its message; nodes that need the same share it."""
    shared: dict[tuple[int, ...], RecordDict] = {}
    pieces: dict[tuple[int, ...], dict[str, ConfigRecord]] = {}
    before = [message.content for message in messages]  # kept, so that ids stay theirs
    asked = {message.metadata.dst_node_id for message in messages}
    training.online = frozenset(grid.get_node_ids()) | asked
    for message, content in zip(messages, before, strict=True):
        peer = training.nodes[message.metadata.dst_node_id]
        is_new = peer.held == NOTHING
        delivery = _delivery(training, peer)
        frames = tuple(map(id, delivery.frames))
        slot = (id(content), is_new, delivery.accepted, *frames)
        if slot not in shared:
            layout = training.layout.text() if is_new else ""
            if frames not in pieces:
                pieces[frames] = pack_frames(delivery.frames)
            made = _content(training, content, record, delivery, layout)
            shared[slot] = RecordDict({**made, **pieces[frames]})
        message.content = shared[slot]
        training.journal.carried(message, down=True)
        if delivery.frames:
            training.journal.beside(training.exact)
    training.sent = messages
    return messages


def _delivery(training: Training, peer: Peer) -> Delivery:
    if not training.server.is_member(peer.number):
        training.server.join(peer.number, 1)
    delivery = training.server.frames_for(peer.number, peer.held)
    return delivery if peer.known else replace(delivery, accepted=UNKNOWN)


def _content(
    training: Training, content: RecordDict, record: ArrayRecord, delivery: Delivery, layout: str
) -> RecordDict:
    """The inner strategy's records, the model replaced by frames."""
    keys = [key for key, own in content.array_records.items() if own is record]
    if len(keys) != 1:
        allowed = "one that sends the model it is given"
        raise InputError("inner", of="LossyStrategy", allowed=allowed, got="another")
    training.key = keys[0]
    rest = {key: own for key, own in content.items() if key != training.key}
    down = Down(
        training=training.name,
        scheme=training.spec,
        seed=training.seed,
        held=training.server.held,
        accepted=delivery.accepted,
        key=training.key,
        frames=delivery.frames,
        layout=layout,
        exact=training.exact if delivery.frames else {},
        bound=training.bound,
    )
    return RecordDict({**rest, **pack_down(down)})
