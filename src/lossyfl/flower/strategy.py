"""The server's side: a Flower strategy around another one.

    strategy = LossyStrategy(FedAvg(fraction_train=0.5), "lfl:q1=2,q2=2")

The inner strategy samples nodes, aggregates and logs as ever; it sees models, where frames travel.

    configure_*      the broadcast is encoded once; each node is sent what it lacks
    aggregate_train  replies are decoded, added to what devices held, and handed on
    in between       Flower evaluates the model that a round made, so the next round's broadcast goes out
                     with the evaluation, and training sends nothing to nodes that have it

Where the inner strategy averages as FedAvg does, `lossyfl.server` adds up the replies itself: in the order of
device numbers, so the model is the same to the bit whoever answers first, and in memory for one model. All
other strategies get every reply as a model.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from logging import INFO, WARNING
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Error, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg, FedProx, Result, Strategy
from flwr.supercore import log

from lossyfl.digests import NOTHING
from lossyfl.errors import InputError, LossyflError, Refused
from lossyfl.flower import layout as layouts
from lossyfl.flower.arrays import check_width, converted, mean, to_vector, widened
from lossyfl.flower.envelope import Down, Foreign, pack_down, pack_frames, unpack_up
from lossyfl.flower.journal import Journal
from lossyfl.flower.mod import REFUSED
from lossyfl.flower.nodes import Nodes, Peer
from lossyfl.flower.replies import Answer, alike, whole_weights
from lossyfl.flower.saved import Saved, read_inner, restore_inner
from lossyfl.optimizers import Plain
from lossyfl.schemes import Scheme, scheme
from lossyfl.server import Server
from lossyfl.simulation.records import Round
from lossyfl.states import UNKNOWN, Delivery, check_number

if TYPE_CHECKING:
    from lossyfl.flower.layout import Exact, Layout

MOST_THREADS = 4
"""More do not help: coding waits for memory."""
_STAND_IN = ArrayRecord({"lossyfl": Array(np.zeros(1, np.float32))})
"""For a strategy that leaves arrays alone, but wants to see some."""

Evaluate = Callable[[int, ArrayRecord], MetricRecord | None]


class LossyStrategy(Strategy):
    """A strategy whose messages are quantized.

    inner:     any strategy that works on arrays
    scheme:    what is sent both ways, as `lossyfl run --scheme` takes it
    seed:      of everything random in quantizing
    results:   a folder for a results directory, which `lossyfl report` reads
    save_to:   a file for a checkpoint after every round; if it is there, training goes on from it
    log_bytes: how much of the recent broadcasts to keep for nodes that missed some; one model by default
    threads:   for coding; the cores of this machine by default, since nodes wait meanwhile
    """

    def __init__(
        self,
        inner: Strategy,
        scheme: str = "lfl:q1=2,q2=2",
        *,
        seed: int = 0,
        results: Path | str | None = None,
        save_to: Path | str | None = None,
        log_bytes: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.inner, self.spec, self.seed = inner, scheme, seed
        self._scheme = _checked(inner, scheme)
        self._averages = _averages(inner)
        self._log_bytes = log_bytes
        self._threads = min(os.cpu_count() or 1, MOST_THREADS) if threads is None else threads
        self._journal = Journal(None if results is None else Path(results))
        self._save_to = None if save_to is None else Path(save_to)
        self._training = secrets.token_hex(8)
        self._nodes = Nodes()
        self._server: Server | None = None
        self._sent: list[Message] = []
        self._online: frozenset[int] = frozenset()
        self._rounds_before = 0
        self._given: ArrayRecord | None = None
        self._key = ""
        self._started = False

    @property
    def server(self) -> Server:
        """The protocol's server; there is one from the first round on."""
        if self._server is None:
            raise InputError("server", of="LossyStrategy", allowed="asked for later", got="none")
        return self._server

    @property
    def rounds(self) -> list[Round]:
        """What was noted of every round that is over, as in rounds.jsonl."""
        return self._journal.rounds

    def summary(self) -> None:
        """Log the settings."""
        log(INFO, "\t├──> lossyfl:")
        log(INFO, "\t│\t├── scheme: %s", self.spec)
        how = "lossyfl's server" if self._averages else type(self.inner).__name__
        log(INFO, "\t│\t└── aggregation by %s", how)
        self.inner.summary()

    def start(
        self,
        grid: Grid,
        initial_arrays: ArrayRecord,
        num_rounds: int = 3,
        timeout: float = 3600,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: Evaluate | None = None,
    ) -> Result:
        """Run all rounds, or those that a checkpoint leaves; what is shown counts from the first."""
        tensors = layouts.layout_of(initial_arrays).tensors
        self._scheme.check(tensors, num_rounds)
        self._started = True
        arrays = initial_arrays
        if self._save_to is not None and self._save_to.is_file():
            arrays = self._resume(initial_arrays)
        self._journal.begin(self.spec, num_rounds, self.seed, done=self._rounds_before)
        if self._rounds_before:
            self._journal.go_on(self.server, self._rounds_before)
        result = super().start(
            grid,
            arrays,
            max(num_rounds - self._rounds_before, 0),
            timeout,
            train_config,
            evaluate_config,
            None if evaluate_fn is None else self._watched(evaluate_fn),
        )
        self._journal.end(self._server)
        if not len(result.arrays):  # no round was left, or none gave a model
            result.arrays = arrays
        return result

    def _number(self, server_round: int) -> int:
        """The number of a round in the whole training, which a checkpoint may have begun."""
        return server_round + self._rounds_before

    # Training

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The inner strategy's messages, with frames for models."""
        self._journal.flush(self._server)
        self._journal.open()
        number = self._number(server_round)
        record = self._open(arrays)
        messages = self.inner.configure_train(number, record, config, grid)
        return self._wrap(list(messages), record, grid)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """What the inner strategy makes of the replies, decoded."""
        started = time.perf_counter()
        number = self._number(server_round)
        answers, failed = self._unwrap(list(replies))
        self._nodes.next_round()
        answers = self._alike(answers, failed, trained=True)
        for answer in answers:
            self._journal.worked(answer.up)
        weights = self._weights(answers)
        if weights is not None:
            arrays, metrics = self._average(number, answers, failed, weights)
        else:
            arrays, metrics = self._hand_on(number, answers, failed)
        self._given = arrays
        self._journal.trained(metrics, time.perf_counter() - started)
        self._save(number)
        return arrays, metrics

    def _weights(self, answers: Sequence[Answer]) -> dict[int, int] | None:
        """By device, if the server is to average; None if the inner strategy is to aggregate."""
        if not self._averages:
            return None
        return whole_weights(answers, cast("FedAvg", self.inner).weighted_by_key)

    def _average(
        self,
        number: int,
        answers: Sequence[Answer],
        failed: list[Message],
        weights: dict[int, int],
    ) -> tuple[ArrayRecord, MetricRecord | None]:
        """FedAvg's mean, by the server."""
        server = self.server
        server.seat(weights)

        def accept(own: Answer) -> None:
            check_width(own.number, own.up.reply, server.base, self._layout)
            server.accept(own.number, own.up.reply)

        taken = self._take(answers, failed, accept)
        # The inner strategy looks at metrics and logs; it needs some arrays to do so.
        for answer in taken:
            answer.message.content[self._key] = _STAND_IN
        messages = [answer.message for answer in taken]
        try:
            _, metrics = self.inner.aggregate_train(number, messages + failed)
        finally:
            server.close_round()
        self._exact = mean([(weights[a.number], a.up.exact) for a in taken], self._exact)
        return layouts.unflatten(server.theta, self._exact, self._layout), metrics

    def _hand_on(
        self, number: int, answers: Sequence[Answer], failed: list[Message]
    ) -> tuple[ArrayRecord, MetricRecord | None]:
        """Every reply as a model, for the inner strategy."""
        server, wide = self.server, widened(self._layout)
        server.seat({answer.number: 1 for answer in answers})

        def expand(own: Answer) -> None:
            check_width(own.number, own.up.reply, server.base, self._layout)
            trained = server.base + server.read(own.number, own.up.reply)
            others = {
                name: Array(layouts.whole_values(array)) for name, array in own.up.exact.items()
            }
            own.message.content[self._key] = layouts.unflatten(trained, others, wide)

        taken = self._take(answers, failed, expand)
        messages = [answer.message for answer in taken]
        try:
            arrays, metrics = self.inner.aggregate_train(number, messages + failed)
        finally:
            server.close_round()
        if arrays is not None:
            self._adopt(arrays)
        return layouts.unflatten(server.theta, self._exact, self._layout), metrics

    def _adopt(self, arrays: ArrayRecord) -> None:
        """Go on from what the inner strategy made, if it can be gone on from."""
        missing = [slot.name for slot in self._layout.slots if slot.name not in arrays]
        if missing:
            allowed, got = "all of the model's", f"no {missing[0]}"
            raise InputError("arrays", of="the inner strategy", allowed=allowed, got=got)
        vector = to_vector(arrays, self._layout)
        if not np.isfinite(vector).all():
            log(WARNING, "lossyfl: the inner strategy made NaN or infinity; the model stays")
            return
        self.server.replace_theta(vector)
        self._exact = {
            slot.name: converted(arrays[slot.name].numpy(), slot)
            for slot in self._layout.slots
            if not slot.is_float
        }

    def _take(
        self, answers: Sequence[Answer], failed: list[Message], work: Callable[[Answer], None]
    ) -> list[Answer]:
        """Do something with every reply; those with which it could be done."""
        taken: list[Answer] = []
        for answer in answers:
            try:
                work(answer)
            except Refused as error:
                if error.reason == "diverged":
                    self._nodes.forget(answer.node)
                failed.append(self._refuse(answer.message, error))
            else:
                taken.append(answer)
        return taken

    def _alike(
        self, answers: Sequence[Answer], failed: list[Message], *, trained: bool
    ) -> list[Answer]:
        def refuse(answer: Answer, error: LossyflError) -> None:
            failed.append(self._refuse(answer.message, error))

        return alike(answers, self.inner, refuse, trained=trained)

    # Evaluation

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The inner strategy's messages; the model travels as the next round's broadcast."""
        record = self._open(arrays)
        number = self._number(server_round)
        messages = self.inner.configure_evaluate(number, record, config, grid)
        return self._wrap(list(messages), record, grid)

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """What the inner strategy makes of the metrics."""
        answers, failed = self._unwrap(list(replies))
        taken = self._alike(answers, failed, trained=False)
        messages = [answer.message for answer in taken] + failed
        metrics = self.inner.aggregate_evaluate(self._number(server_round), messages)
        self._journal.looked(metrics)
        return metrics

    def _watched(self, evaluate: Evaluate) -> Evaluate:
        def watched(server_round: int, arrays: ArrayRecord) -> MetricRecord | None:
            metrics = evaluate(self._number(server_round), arrays)
            if server_round:
                self._journal.looked(metrics)
            return metrics

        return watched

    # Messages

    def _open(self, arrays: ArrayRecord) -> ArrayRecord:
        """Open a round, if none is; the model that devices hold then, for the inner strategy."""
        self._check_outermost()
        if self._server is None:
            self._begin(arrays)
        elif arrays is not self._given:
            # Somebody has changed the model since: that is the one to broadcast.
            vector = layouts.flatten(arrays, self._layout, of="the model")
            self.server.replace_theta(vector)  # raises if the old one is out already
            self._exact = layouts.exact(arrays, self._layout)
        self._given = arrays
        if not self.server.is_open:
            started = time.perf_counter()
            self.server.open_round(())
            self._journal.broadcast(self.server, time.perf_counter() - started)
        if self._averages:
            return _STAND_IN
        return layouts.unflatten(self.server.base, self._exact, widened(self._layout))

    def _check_outermost(self) -> None:
        """Raise if another strategy runs the rounds: it would find frames where it looks for models."""
        if not self._started:
            allowed = (
                "the outermost strategy: LossyStrategy(Other(...)), not Other(LossyStrategy(...))"
            )
            raise InputError("place", of="LossyStrategy", allowed=allowed, got="inside another")

    def _begin(self, arrays: ArrayRecord) -> None:
        self._layout: Layout = layouts.layout_of(arrays)
        self._exact: Exact = layouts.exact(arrays, self._layout)
        self._server = Server(
            layouts.flatten(arrays, self._layout, of="the model"),
            self._scheme,
            samples={},
            seed=self.seed,
            listen="participants",
            log_bytes=self._log_bytes,
            tensors=self._layout.tensors,
            threads=self._threads,
        )

    def _wrap(self, messages: list[Message], record: ArrayRecord, grid: Grid) -> list[Message]:
        """Put what every node needs into its message; nodes that need the same share it."""
        shared: dict[tuple[int, ...], RecordDict] = {}
        pieces: dict[tuple[int, ...], dict[str, ConfigRecord]] = {}
        before = [message.content for message in messages]  # kept, so that ids stay theirs
        asked = {message.metadata.dst_node_id for message in messages}
        self._online = frozenset(grid.get_node_ids()) | asked
        for message, content in zip(messages, before, strict=True):
            peer = self._nodes[message.metadata.dst_node_id]
            is_new = peer.held == NOTHING
            delivery = self._delivery(peer)
            frames = tuple(map(id, delivery.frames))
            slot = (id(content), is_new, delivery.accepted, *frames)
            if slot not in shared:
                layout = self._layout.text() if is_new else ""
                if frames not in pieces:
                    pieces[frames] = pack_frames(delivery.frames)
                made = self._content(content, record, delivery, layout)
                shared[slot] = RecordDict({**made, **pieces[frames]})
            message.content = shared[slot]
            self._journal.carried(message, down=True)
        self._sent = messages
        return messages

    def _delivery(self, peer: Peer) -> Delivery:
        if not self.server.is_member(peer.number):
            self.server.join(peer.number, 1)
        delivery = self.server.frames_for(peer.number, peer.held)
        return delivery if peer.known else replace(delivery, accepted=UNKNOWN)

    def _content(
        self, content: RecordDict, record: ArrayRecord, delivery: Delivery, layout: str
    ) -> RecordDict:
        """The inner strategy's records, the model replaced by frames."""
        keys = [key for key, own in content.array_records.items() if own is record]
        if len(keys) != 1:
            allowed = "one that sends the model it is given"
            raise InputError("inner", of="LossyStrategy", allowed=allowed, got="another")
        self._key = keys[0]
        rest = {key: own for key, own in content.items() if key != self._key}
        down = Down(
            training=self._training,
            scheme=self.spec,
            seed=self.seed,
            held=self.server.held,
            accepted=delivery.accepted,
            key=self._key,
            frames=delivery.frames,
            layout=layout,
            exact=self._exact if delivery.frames else {},
        )
        return RecordDict({**rest, **pack_down(down)})

    def _unwrap(self, replies: list[Message]) -> tuple[list[Answer], list[Message]]:
        """The replies that came through the mod, by device, and the others as errors."""
        asked = {own.metadata.message_id: own.metadata.dst_node_id for own in self._sent}
        answers: dict[int, Answer] = {}
        failed: list[Message] = []
        renamed: dict[int, int] = {}
        for reply in replies:
            node = asked.get(reply.metadata.reply_to_message_id, reply.metadata.src_node_id)
            if reply.has_error():
                failed.append(reply)
                continue
            self._journal.carried(reply, down=False)
            try:
                answer = self._answer(node, reply, renamed)
                if answer.number in answers:
                    raise Refused(answer.number, "doubled", "there is one of this round")
                answers[answer.number] = answer
            except LossyflError as error:
                failed.append(self._refuse(reply, error))
        self.server.rename(renamed)
        return sorted(answers.values(), key=lambda answer: answer.number), failed

    def _answer(self, node: int, reply: Message, renamed: dict[int, int]) -> Answer:
        up = unpack_up(reply.content)
        if up is None:
            raise Foreign(
                f"node {node} answers without lossyfl: put lossy_mod first into its app, "
                "ClientApp(mods=[lossy_mod])"
            )
        check_number(up.number)
        if up.reply:
            layouts.check_exact(up.exact, self._layout, of="the reply")
        before = self._nodes[node]
        peer = self._nodes.heard(node, up.number, up.held, online=self._online)
        if not before.known and peer.number != before.number:
            renamed[before.number] = peer.number
        if up.problem:
            raise Refused(up.number, "out of step", f"{up.problem}; it is sent what it lacks")
        return Answer(node=node, number=peer.number, message=reply, up=up)

    def _refuse(self, reply: Message, error: LossyflError) -> Message:
        """The reply as an error, for the inner strategy's count of failures."""
        log(WARNING, "lossyfl: node %d: %s", reply.metadata.src_node_id, error)
        self._journal.refused()
        refused = Message(Error(REFUSED, str(error)), reply_to=reply)
        refused.__dict__["_metadata"] = reply.metadata  # it is still that node's answer
        return refused

    # Checkpoint

    def _save(self, number: int) -> None:
        if self._save_to is None:
            return
        Saved(
            rounds=number,
            training=self._training,
            scheme=self.spec,
            layout=self._layout.text(),
            server=self.server.state(),
            nodes=self._nodes.known(),
            inner=read_inner(self.inner),
        ).write(self._save_to, self._exact)

    def _resume(self, initial: ArrayRecord) -> ArrayRecord:
        """Go on from the checkpoint; the model that it holds."""
        assert self._save_to is not None
        saved, exact = Saved.read(self._save_to)
        self._begin(initial)
        saved.check(self.spec, self._layout.text())
        self._exact = exact
        self.server.restore(saved.server)
        self._nodes.restore(saved.nodes)
        self._training, self._rounds_before = saved.training, saved.rounds
        restore_inner(self.inner, saved.inner)
        log(INFO, "lossyfl: going on after round %d from %s", saved.rounds, self._save_to)
        self._given = layouts.unflatten(self.server.theta, self._exact, self._layout)
        return self._given


def _checked(inner: Strategy, spec: str) -> Scheme:
    """The scheme, if it suits the inner strategy."""
    found = cast("object", inner)
    if not isinstance(found, Strategy) or isinstance(found, LossyStrategy):
        allowed = "a strategy of flwr.serverapp.strategy, not wrapped yet"
        raise InputError("inner", of="LossyStrategy", allowed=allowed, got=type(inner).__name__)
    if "xgb" in type(inner).__name__.lower():
        allowed = "a strategy that works on arrays of floats"
        raise InputError("inner", of="LossyStrategy", allowed=allowed, got=type(inner).__name__)
    chosen = scheme(spec)
    if not isinstance(chosen.optimizer, Plain) and not _averages(inner):
        allowed = f"none with {type(inner).__name__}, which takes the server's step itself"
        raise InputError("server_optimizer", of="LossyStrategy", allowed=allowed, got=spec)
    return chosen


def _averages(inner: Strategy) -> bool:
    """Whether a strategy is FedAvg as it comes: then the server takes the mean, and it sees no arrays."""
    return type(inner) in (FedAvg, FedProx)
