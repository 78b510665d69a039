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

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from logging import INFO, WARNING
from pathlib import Path
from typing import Any, cast

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Error, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg, Result, Strategy
from flwr.supercore import log
from numpy.typing import NDArray

from lossyfl.digests import NOTHING
from lossyfl.errors import InputError, LossyflError, Refused
from lossyfl.flower import layout as layouts
from lossyfl.flower.envelope import Down, Foreign, Up, pack_down, unpack_up
from lossyfl.flower.journal import Journal
from lossyfl.flower.layout import Exact, Layout
from lossyfl.flower.mod import REFUSED
from lossyfl.flower.nodes import Nodes, Peer
from lossyfl.flower.saved import Saved, read_inner, restore_inner
from lossyfl.optimizers import Plain
from lossyfl.schemes import Scheme, scheme
from lossyfl.server import MAX_SAMPLES, Server
from lossyfl.simulation.records import Round
from lossyfl.states import UNKNOWN, Delivery, check_number
from lossyfl.types import Vector

Evaluate = Callable[[int, ArrayRecord], MetricRecord | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply that came through the mod."""

    node: int
    number: int
    message: Message
    up: Up


class LossyStrategy(Strategy):
    """A strategy whose messages are quantized.

    inner:     any strategy that works on arrays
    scheme:    what is sent both ways, as `lossyfl run --scheme` takes it
    seed:      of everything random in quantizing
    results:   a folder for a results directory, which `lossyfl report` reads
    save_to:   a file for a checkpoint after every round; if it is there, training goes on from it
    log_bytes: how much of the recent broadcasts to keep for nodes that missed some; one model by default
    threads:   for coding
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
        threads: int = 1,
    ) -> None:
        self.inner, self.spec, self.seed = inner, scheme, seed
        self._scheme = _checked(inner, scheme)
        self._averages = _averages(inner)
        self._log_bytes, self._threads = log_bytes, threads
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
        arrays = initial_arrays
        if self._save_to is not None and self._save_to.is_file():
            arrays = self._resume(initial_arrays)
        self._journal.begin(self.spec, num_rounds, self.seed, go_on=bool(self._rounds_before))
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

    # Training

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The inner strategy's messages, with frames for models."""
        self._journal.flush(self._server)
        self._journal.open()
        number = server_round + self._rounds_before
        record = self._open(arrays, grid)
        return self._wrap(list(self.inner.configure_train(number, record, config, grid)), record)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """What the inner strategy makes of the replies, decoded."""
        started = time.perf_counter()
        number = server_round + self._rounds_before
        answers, failed = self._unwrap(list(replies))
        for answer in answers:
            self._journal.worked(answer.up)
        if self._averages:
            arrays, metrics = self._average(number, answers, failed)
        else:
            arrays, metrics = self._hand_on(number, answers, failed)
        if arrays is not None:
            self._given = arrays
        self._journal.trained(metrics, time.perf_counter() - started)
        self._save(number)
        return arrays, metrics

    def _average(
        self, number: int, answers: Sequence[Answer], failed: list[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """FedAvg's mean, by the server."""
        server, key = self.server, cast("FedAvg", self.inner).weighted_by_key
        weights: dict[int, int] = {}
        for answer in list(answers):
            try:
                weights[answer.number] = _weight(answer.message, key)
            except InputError as error:
                failed.append(self._refuse(answer.message, error))
        server.seat(weights)
        taken: list[Answer] = []
        for answer in answers:
            if answer.number in weights:
                self._take(answer, failed, taken, lambda a: server.accept(a.number, a.up.reply))
        # The inner strategy looks at metrics and logs; it needs some arrays to do so.
        for answer in taken:
            answer.message.content[self._key] = _STAND_IN
        messages = [answer.message for answer in taken]
        _, metrics = self.inner.aggregate_train(number, messages + failed)
        server.close_round()
        if not taken:
            return None, metrics
        self._exact = _mean([(weights[a.number], a.up.exact) for a in taken], self._exact)
        return layouts.unflatten(server.theta, self._exact, self._layout), metrics

    def _hand_on(
        self, number: int, answers: Sequence[Answer], failed: list[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Every reply as a model, for the inner strategy."""
        server, wide = self.server, _widened(self._layout)
        server.seat({answer.number: 1 for answer in answers})
        taken: list[Answer] = []
        for answer in answers:

            def expand(own: Answer) -> None:
                trained = server.base + server.read(own.number, own.up.reply)
                record = layouts.unflatten(trained, own.up.exact, wide)
                own.message.content[self._key] = record

            self._take(answer, failed, taken, expand)
        messages = [answer.message for answer in taken]
        arrays, metrics = self.inner.aggregate_train(number, messages + failed)
        server.close_round()
        if arrays is None:
            return None, metrics
        made = _conform(arrays, self._layout)
        self._exact = layouts.exact(made, self._layout)
        server.replace_theta(_vector(arrays, self._layout))
        return made, metrics

    def _take(
        self,
        answer: Answer,
        failed: list[Message],
        taken: list[Answer],
        work: Callable[[Answer], None],
    ) -> None:
        """Do something with a reply; note it among the good or the failed ones."""
        try:
            work(answer)
        except Refused as error:
            if error.reason == "diverged":
                self._nodes.forget(answer.node)
            failed.append(self._refuse(answer.message, error))
        else:
            taken.append(answer)

    # Evaluation

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The inner strategy's messages; the model travels as the next round's broadcast."""
        record = self._open(arrays, grid)
        number = server_round + self._rounds_before
        messages = self.inner.configure_evaluate(number, record, config, grid)
        return self._wrap(list(messages), record)

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """What the inner strategy makes of the metrics."""
        answers, failed = self._unwrap(list(replies))
        messages = [answer.message for answer in answers] + failed
        number = server_round + self._rounds_before
        metrics = self.inner.aggregate_evaluate(number, messages)
        self._journal.looked(metrics)
        return metrics

    def _watched(self, evaluate: Evaluate) -> Evaluate:
        def watched(server_round: int, arrays: ArrayRecord) -> MetricRecord | None:
            metrics = evaluate(server_round + self._rounds_before, arrays)
            if server_round:
                self._journal.looked(metrics)
            return metrics

        return watched

    # Messages

    def _open(self, arrays: ArrayRecord, grid: Grid) -> ArrayRecord:
        """Open a round, if none is; the model that devices hold then, for the inner strategy."""
        self._online = frozenset(grid.get_node_ids())
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
            return ArrayRecord({"lossyfl": Array(np.zeros(1, np.float32))})
        return layouts.unflatten(self.server.base, self._exact, _widened(self._layout))

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

    def _wrap(self, messages: list[Message], record: ArrayRecord) -> list[Message]:
        """Put what every node needs into its message; nodes that need the same share it."""
        shared: dict[tuple[int, ...], RecordDict] = {}
        before = [message.content for message in messages]  # kept, so that ids stay theirs
        for message, content in zip(messages, before, strict=True):
            peer = self._nodes[message.metadata.dst_node_id]
            is_new = peer.held == NOTHING
            delivery = self._delivery(peer)
            slot = (id(content), is_new, delivery.accepted, *map(id, delivery.frames))
            if slot not in shared:
                layout = self._layout.text() if is_new else ""
                shared[slot] = self._content(content, record, delivery, layout)
            message.content = shared[slot]
            self._journal.carried(message, down=True)
        self._sent = messages
        return messages

    def _delivery(self, peer: Peer) -> Delivery:
        if peer.number not in self.server.members:
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
        answers: list[Answer] = []
        failed: list[Message] = []
        for reply in replies:
            node = asked.get(reply.metadata.reply_to_message_id, reply.metadata.src_node_id)
            if reply.has_error():
                failed.append(reply)
                continue
            self._journal.carried(reply, down=False)
            try:
                answers.append(self._answer(node, reply))
            except LossyflError as error:
                failed.append(self._refuse(reply, error))
        return sorted(answers, key=lambda answer: answer.number), failed

    def _answer(self, node: int, reply: Message) -> Answer:
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
            self.server.rename(before.number, peer.number)
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
        self._training, self._rounds_before = saved.training, saved.rounds
        restore_inner(self.inner, saved.inner)
        log(INFO, "lossyfl: going on after round %d from %s", saved.rounds, self._save_to)
        self._given = layouts.unflatten(self.server.theta, self._exact, self._layout)
        return self._given


_STAND_IN = ArrayRecord({"lossyfl": Array(np.zeros(1, np.float32))})


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
    """Whether a strategy aggregates by FedAvg's weighted mean."""
    return type(inner).aggregate_train is FedAvg.aggregate_train


def _weight(message: Message, key: str) -> int:
    """The number of samples that a reply says."""
    records = list(message.content.metric_records.values())
    value = records[0].get(key) if len(records) == 1 else None
    if not isinstance(value, int | float) or not 1 <= value <= MAX_SAMPLES or value != int(value):
        allowed = f"one MetricRecord with a whole {key} of 1 or more"
        raise InputError("metrics", of="a reply", allowed=allowed, got=value)
    return int(value)


def _mean(replies: Sequence[tuple[int, Exact]], before: Exact) -> Exact:
    """The weighted mean of whole-number arrays, to the nearest whole."""
    total = sum(weight for weight, _ in replies)
    made: dict[str, Array] = {}
    for name, array in before.items():
        terms = [weight / total * own[name].numpy() for weight, own in replies]
        made[name] = _cast(np.sum(terms, axis=0), array)
    return made


def _widened(layout: Layout) -> Layout:
    """The layout with float32 for bfloat16, which NumPy cannot calculate with."""
    slots = [replace(s, dtype="float32") if s.dtype == "bfloat16" else s for s in layout.slots]
    return Layout(slots=tuple(slots))


def _vector(record: ArrayRecord, layout: Layout) -> Vector:
    """The floats that an inner strategy made, at the width at which it made them."""
    parts = [record[slot.name].numpy().reshape(-1) for slot in layout.floats]
    return np.concatenate([part.astype(np.float32) for part in parts])


def _conform(record: ArrayRecord, layout: Layout) -> ArrayRecord:
    """What an inner strategy made, in the dtypes of the model."""
    missing = [slot.name for slot in layout.slots if slot.name not in record]
    if missing:
        allowed = "all of the model's"
        raise InputError("arrays", of="the inner strategy", allowed=allowed, got=f"no {missing[0]}")
    others = {
        slot.name: _cast(record[slot.name].numpy(), slot)
        for slot in layout.slots
        if not slot.is_float
    }
    return layouts.unflatten(_vector(record, layout), others, layout)


def _cast(values: NDArray[Any], like: "layouts.Slot | Array") -> Array:
    """Numbers as an array of another's dtype; whole numbers are rounded to."""
    if values.dtype.name != like.dtype:
        whole = np.dtype(like.dtype).kind in "iu"
        values = (np.rint(values) if whole else values).astype(like.dtype)
    return Array(np.asarray(values).reshape(like.shape))
