"""The server's side: a Flower strategy around another one.

    strategy = LossyStrategy(FedAvg(fraction_train=0.5))

The inner strategy samples nodes, aggregates and logs as ever; it sees models, where frames travel.

    configure_*      the broadcast is encoded once; each node is sent what it lacks
    aggregate_train  replies are decoded, added to what devices held, and handed on
    in between       Flower evaluates the model that a round made, so the next round's broadcast goes out
                     with the evaluation, and training sends nothing to nodes that have it

`training` is what lasts, `outgoing` and `incoming` are its messages, `aggregating` makes models of replies,
`checkpoint` goes on after a restart, `inner` is the strategy inside.
"""

import os
import time
from collections.abc import Iterable, Sequence
from logging import INFO, WARNING
from pathlib import Path
from typing import Any, cast

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy

from lossyfl.adapters.journal import Journal
from lossyfl.adapters.layout import layout_of
from lossyfl.adapters.training import ServerSettings, ServerTraining
from lossyfl.errors import InputError
from lossyfl.flower import privacy
from lossyfl.flower.aggregating import average, hand_on, near, weigh_all
from lossyfl.flower.checkpoint import resume, save
from lossyfl.flower.defaults import coarse, default_scheme
from lossyfl.flower.framework import FLOWER, log
from lossyfl.flower.incoming import unwrap
from lossyfl.flower.inner import InnerSteps, averages, checked_scheme, led_to, own_start
from lossyfl.flower.outgoing import warn_unbounded, wrap
from lossyfl.flower.places import clean_up, results_folder
from lossyfl.flower.refusing import note, refuse_into
from lossyfl.flower.replies import alike, leave_out_odd_metrics, weight_key
from lossyfl.flower.training import Evaluate, Training
from lossyfl.flower.weights import Weights, check_weights, whole_weights
from lossyfl.protocol.rules import ReplyRule
from lossyfl.protocol.server import Server
from lossyfl.results.records import Round

MOST_THREADS = 4
"""More do not help: coding waits for memory."""
OWN = ("inner", "spec", "seed")
"""Attributes of the wrapper that anybody may see."""


class LossyStrategy(Strategy):
    """A strategy whose messages are quantized.

    inner:     any strategy that works on arrays
    scheme:    what is sent both ways, as `lossyfl run --scheme` takes it; by default LFL with a scale per
               tensor, q1=5 and q2=5, or q2=8 for strategies that take no mean (`lossyfl.flower.defaults`)
    seed:      of everything random in quantizing
    results:   a folder for a results directory, which `lossyfl report` reads; {run_id} in it is Flower's
    save_to:   a file for a checkpoint after every round; if it is there, training goes on from it
    log_bytes: how much of the recent broadcasts to keep for nodes that missed some; one model by default
    threads:   for coding; the cores of this machine by default, since nodes wait meanwhile
    weights:   what a reply counts: "capped", as many samples as its node says, but no more than ten times
               the median; "said", without a cap; "equal"; or a number for each device
    rule:      what to do with a reply that is far larger than others; refused, by default
    exact:     names of further arrays that must not be quantized, with * for anything; statistics of batch
               norms and the like are known (`lossyfl.adapters.statistics`)

    With a wrapper for differential privacy inside, replies count the same and are not compared by default:
    its noise is made for that.
    Attributes that are not its own are the inner strategy's, to read and to set.
    """

    def __init__(
        self,
        inner: Strategy,
        scheme: str = "",
        *,
        seed: int = 0,
        results: Path | str | None = None,
        save_to: Path | str | None = None,
        log_bytes: int | None = None,
        threads: int | None = None,
        weights: Weights | None = None,
        rule: ReplyRule | None = None,
        exact: Sequence[str] = (),
    ) -> None:
        self._named = (exact,) if isinstance(exact, str) else tuple(exact)
        self._is_named = scheme != ""
        self.inner, self.seed = inner, seed
        self.spec = scheme if self._is_named else default_scheme(inner)
        self._scheme = checked_scheme(inner, self.spec, outer=LossyStrategy)
        privacy.check_accountant(inner, saves=save_to is not None)
        usual_weights, usual_rule = privacy.usual(inner)
        self._weights: Weights = usual_weights if weights is None else check_weights(weights)
        self._rule = usual_rule if rule is None else rule
        self._log_bytes = log_bytes
        self._threads = min(os.cpu_count() or 1, MOST_THREADS) if threads is None else threads
        self._results = None if results is None else Path(results)
        self._save_to = None if save_to is None else Path(save_to)
        self._started = False
        self._training = self._anew(self._results)

    def _anew(self, results: Path | None) -> Training:
        """Another training: nothing is known of any node."""
        settings = ServerSettings(
            spec=self.spec,
            scheme=self._scheme,
            seed=self.seed,
            exact=self._named,
            rule=self._rule,
            log_bytes=self._log_bytes,
            threads=self._threads,
            framework=FLOWER,
        )
        return Training(
            inner=self.inner,
            steps=InnerSteps(self.inner),
            side=ServerTraining(settings=settings),
            weights=self._weights,
            averages=averages(self.inner),
            journal=Journal(results, FLOWER),
        )

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the inner one has
        if name.startswith("_") or name == "inner":
            raise AttributeError(f"LossyStrategy has no attribute {name!r}")
        return getattr(self.inner, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name == "inner" and "_training" in vars(self):  # another one goes on with the training
            another = cast("Strategy", value)
            self._training.inner, self._training.steps = another, InnerSteps(another)
        own = name.startswith("_") or name in OWN or hasattr(type(self), name)
        if own or not hasattr(self.inner, name):
            super().__setattr__(name, value)
        else:
            setattr(self.inner, name, value)

    @property
    def server(self) -> Server:
        """The protocol's server; there is one from the first round on."""
        return self._training.server

    @property
    def rounds(self) -> list[Round]:
        """What was noted of every round that is over, as in rounds.jsonl."""
        return self._training.journal.rounds

    def summary(self) -> None:
        """Log the settings."""
        log(INFO, "\t├──> lossyfl:")
        log(INFO, "\t│\t├── scheme: %s", self.spec)
        how = "lossyfl's server" if averages(self.inner) else type(self.inner).__name__
        log(INFO, "\t│\t└── aggregation by %s", how)
        self._training.steps.summary()

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
        layout = layout_of(initial_arrays, self._named)
        if not self._is_named:
            self.spec = default_scheme(self.inner, layout.tensors)
            self._scheme = checked_scheme(self.inner, self.spec, outer=LossyStrategy)
        self._scheme.check(layout.tensors, num_rounds)
        for caution in (
            *coarse(self.inner, self._scheme),
            *privacy.cautions(self.inner, layout, self._weights, self._rule),
        ):
            log(WARNING, "lossyfl: %s", caution)
        self._started = True
        training = self._training = self._anew(results_folder(self._results, grid))
        arrays, journal = self._first(initial_arrays), training.journal
        journal.begin(self.spec, num_rounds, self.seed, done=training.side.rounds_before)
        if training.side.rounds_before:
            journal.go_on(self.server, training.side.rounds_before)
        journal.model_bytes = sum(len(array.data) for array in initial_arrays.values())
        try:
            result = self._run(
                grid,
                arrays,
                max(num_rounds - training.side.rounds_before, 0),
                timeout,
                train_config,
                evaluate_config,
                None if evaluate_fn is None else training.watched(evaluate_fn),
            )
        except BaseException as error:
            journal.stop(training.side.server_or_none, error)
            raise
        finally:
            clean_up(self._training, grid, saves=self._save_to is not None)
        journal.end(training.side.server_or_none)
        if not len(result.arrays):  # no round was left, or none gave a model
            result.arrays = arrays
        return result

    def _first(self, initial: ArrayRecord) -> ArrayRecord:
        """The model to begin with: that of the checkpoint, if there is one."""
        if self._save_to is None or not self._save_to.is_file():
            return initial
        arrays = resume(self._training, self._save_to, initial, is_named=self._is_named)
        settings = self._training.settings
        self.spec, self._scheme = settings.spec, settings.scheme
        return arrays

    def _run(self, *settings: Any) -> Result:  # noqa: ANN401  as `start` takes them
        """Flower's loop of rounds, or the inner strategy's own around our steps."""
        own, self._training.steps = own_start(self.inner), InnerSteps(self.inner)
        if own is None:
            return super().start(*settings)
        with led_to(self, self.inner):
            return own(*settings)

    # Training

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The inner strategy's messages, with frames for models."""
        training = self._training
        training.journal.flush(training.side.server_or_none)
        training.journal.open()
        self._check_outermost()
        record, number = training.open(arrays), training.number(server_round)
        training.side.bound = privacy.clipping_norm(self.inner)  # it may change with every round
        messages = list(training.steps.configure_train(number, record, config, grid))
        warn_unbounded(training, messages)
        return wrap(training, messages, record, grid)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """What the inner strategy makes of the replies, decoded."""
        started = time.perf_counter()
        training, number = self._training, self._training.number(server_round)
        answers, failed = unwrap(training, list(replies))
        training.side.peers.next_round()
        answers = near(
            training, alike(answers, refuse_into(training, failed), trained=True), failed
        )
        answers, weights = weigh_all(training, answers, failed, trained=True)
        for answer in answers:
            training.journal.worked(answer.up)
        whole = whole_weights(weights) if training.averages else None
        if whole is not None:
            arrays, metrics = average(training, number, answers, failed, whole)
        else:
            arrays, metrics = hand_on(training, number, answers, failed, weights)
        training.given = arrays
        training.journal.trained(metrics, time.perf_counter() - started)
        if self._save_to is not None:
            save(training, self._save_to, number)
        return arrays, metrics

    # Evaluation

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """The inner strategy's messages; the model travels as the next round's broadcast."""
        training = self._training
        self._check_outermost()
        record, number = training.open(arrays), training.number(server_round)
        messages = training.steps.configure_evaluate(number, record, config, grid)
        return wrap(training, list(messages), record, grid)

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """What the inner strategy makes of the metrics."""
        training = self._training
        answers, failed = unwrap(training, list(replies))
        alike_ones = alike(answers, refuse_into(training, failed), trained=False)
        taken, weights = weigh_all(training, alike_ones, failed, trained=False)
        leave_out_odd_metrics(taken, weights, weight_key(self.inner), note(training, "metric"))
        messages = [answer.message for answer in taken] + failed
        metrics = training.steps.aggregate_evaluate(training.number(server_round), messages)
        training.journal.evaluated(metrics)
        return metrics

    def _check_outermost(self) -> None:
        """Raise if another strategy runs the rounds: it would find frames where it expects models."""
        if not self._started:
            allowed = (
                "the outermost strategy: LossyStrategy(Other(...)), not Other(LossyStrategy(...))"
            )
            raise InputError("place", of="LossyStrategy", allowed=allowed, got="inside another")
