"""A Grid of Flower's in this process: its strategies, its apps and mods, without Ray and without a network.

Faults on request: a reply that is lost after the node saved its state, a node that forgets everything,
a reply that somebody changed on its way.
"""

import random
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from flwr.app import Context, Error, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

Change = Callable[[Message, int], None]


class LocalGrid(Grid):
    def __init__(
        self,
        app: ClientApp,
        nodes: int,
        folder: Path,
        *,
        lost: float = 0.0,
        forgetful: float = 0.0,
        change: Change | None = None,
        seed: int = 0,
    ) -> None:
        TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1
        self.app, self.folder = app, folder
        self.lost, self.forgetful, self.change = lost, forgetful, change
        self._random = random.Random(seed)
        self._replies: dict[str, Message] = {}
        self.contexts: dict[int, Context] = {}
        self.sent: list[Message] = []
        for number in range(nodes):
            self.add(1000 + 7 * number, number)

    def add(self, node: int, number: int | None) -> None:
        """A node that comes online."""
        config: dict[str, str | int | float | bool] = {"lossyfl-dir": str(self.folder)}
        if number is not None:
            config |= {"partition-id": number}
        self.contexts[node] = Context(
            run_id=1, node_id=node, node_config=config, state=RecordDict(), run_config={}
        )

    def forget(self, node: int) -> None:
        number = self.contexts[node].node_config["partition-id"]
        for folder in self.folder.glob(f"*/{number}"):
            shutil.rmtree(folder)

    def set_run(self, run: object) -> None: ...

    @property
    def run(self) -> object:  # type: ignore[override]
        return None

    def create_message(self, *args: object, **kwargs: object) -> Message:
        raise NotImplementedError

    def get_node_ids(self) -> Iterable[int]:
        return list(self.contexts)

    def get_nodes(self) -> Iterable[object]:  # type: ignore[override]
        raise NotImplementedError

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        return [self._serve(message) for message in messages]

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        return [self._replies.pop(name) for name in message_ids if name in self._replies]

    def send_and_receive(
        self,
        messages: Iterable[Message],
        *,
        timeout: float | None = None,  # noqa: ARG002
    ) -> Iterable[Message]:
        replies = list(self.pull_messages(self.push_messages(messages)))
        self._random.shuffle(replies)  # as they come in
        return replies

    def _serve(self, message: Message) -> str:
        self.sent.append(message)
        name = f"message-{len(self.sent)}"
        message.metadata.__dict__["_message_id"] = name
        node = message.metadata.dst_node_id
        context = self.contexts[node]
        if self._random.random() < self.forgetful:
            self.forget(node)
        # All messages share one content; a real node has its own copy.
        own = RecordDict({key: record.copy() for key, record in message.content.items()})
        copy = Message(own, node, message.metadata.message_type)
        copy.metadata.__dict__["_message_id"] = name
        try:
            reply = self.app(copy, context)
        except Exception as error:  # what Flower's engines do with an app that raises
            reply = Message(Error(2, repr(error)), reply_to=copy)
        if self._random.random() < self.lost:
            reply = Message(Error(5, "node unavailable"), reply_to=copy)
            reply.metadata.__dict__["_src_node_id"] = 1  # as the SuperLink does
        elif self.change is not None:
            self.change(reply, node)
        self._replies[name] = reply
        return name
