"""Messages to nodes: the model replaced by the frames that each of them lacks."""

import math
from collections.abc import Sequence

from flwr.app import ArrayRecord, ConfigRecord, Message, RecordDict
from flwr.serverapp import Grid

from lossyfl.adapters.envelope import pack_down
from lossyfl.adapters.records import pack_frames
from lossyfl.errors import InputError
from lossyfl.flower import privacy
from lossyfl.flower.records import size_of, to_configs
from lossyfl.flower.refusing import say_once
from lossyfl.flower.training import Training
from lossyfl.protocol.digests import NOTHING


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
        node = message.metadata.dst_node_id
        is_new = training.side.peers[node].held == NOTHING
        delivery = training.side.delivery(node)
        frames = tuple(map(id, delivery.frames))
        slot = (id(content), is_new, delivery.accepted, *frames)
        if slot not in shared:
            if frames not in pieces:
                pieces[frames] = to_configs(pack_frames(delivery.frames))
            rest = _without_model(training, content, record)
            down = training.side.down(delivery, training.key, is_new=is_new)
            shared[slot] = RecordDict({**rest, **to_configs(pack_down(down)), **pieces[frames]})
        message.content = shared[slot]
        training.journal.carried_down(size_of(message))
        if delivery.frames:
            training.journal.beside(training.exact)
    training.sent = messages
    return messages


def _without_model(training: Training, content: RecordDict, record: ArrayRecord) -> RecordDict:
    """The inner strategy's records but for the model, whose name is noted."""
    keys = [key for key, own in content.array_records.items() if own is record]
    if len(keys) != 1:
        allowed = "one that sends the model it is given"
        raise InputError("inner", of="LossyStrategy", allowed=allowed, got="another")
    training.key = keys[0]
    return RecordDict({key: own for key, own in content.items() if key != training.key})


def warn_unbounded(training: Training, messages: Sequence[Message]) -> None:
    """Say once that a norm which others than Flower's wrappers send to nodes does not concern us."""
    first = next(iter(messages), None)
    is_bounded = training.side.bound < math.inf
    if is_bounded or first is None or not privacy.has_clipping_norm(first.content):
        return
    say_once(training, "unbounded", privacy.unbounded(training.inner))
