"""One training, from its start to its end: our side of it, and the strategy inside."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from flwr.app import Array, ArrayRecord, Message, MetricRecord
from flwr.serverapp.strategy import Strategy

from lossyfl.adapters.exact import Exact
from lossyfl.adapters.journal import Journal
from lossyfl.adapters.layout import Layout
from lossyfl.adapters.models import unflatten
from lossyfl.adapters.numbers import widened, widened_exact
from lossyfl.adapters.training import ServerSettings, ServerTraining
from lossyfl.flower.inner import InnerSteps
from lossyfl.flower.records import to_record
from lossyfl.flower.weights import Weights
from lossyfl.protocol.adapter_server import AdapterServer

STAND_IN = ArrayRecord({"lossyfl": Array(np.zeros(1, np.float32))})
"""For a strategy that leaves arrays alone, but wants to see some."""

Evaluate = Callable[[int, ArrayRecord], MetricRecord | None]
"""What evaluates the model after a round."""


@dataclass(kw_only=True)
class Training:
    """What a strategy was told, and what has become of it; another start is another training.

    averages:      whether the server takes the mean, and the inner strategy sees no arrays
    sent, online:  messages of this step, and the nodes that were there
    given:         the model as Flower was given it last
    key:           of the model in messages
    warned:        what was logged of which device
    """

    inner: Strategy
    steps: InnerSteps
    side: ServerTraining
    weights: Weights
    averages: bool
    journal: Journal
    sent: list[Message] = field(default_factory=list[Message])
    online: frozenset[int] = frozenset()
    given: ArrayRecord | None = None
    key: str = ""
    warned: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])

    @property
    def server(self) -> AdapterServer:
        """The protocol's server; there is one from the first round on."""
        return self.side.server

    @property
    def settings(self) -> ServerSettings:
        """What our side was told."""
        return self.side.settings

    @property
    def layout(self) -> Layout:
        """Which array of the model lies where in the vector."""
        return self.side.layout

    @property
    def exact(self) -> Exact:
        """What of the model is not in its vector."""
        return self.side.exact

    def number(self, server_round: int) -> int:
        """The number of a round in the whole training, which a checkpoint may have begun."""
        return server_round + self.side.rounds_before

    def open(self, arrays: ArrayRecord) -> ArrayRecord:
        """Open a round, if none is; the model that devices hold then, for the inner strategy."""
        if self.side.server_or_none is None:
            self.side.begin(arrays)
        elif arrays is not self.given:
            self.side.change(arrays)  # somebody has changed the model since: broadcast that one
        self.given = arrays
        started = time.perf_counter()
        if self.side.open():
            self.journal.broadcast(self.server, time.perf_counter() - started)
        if self.averages:
            return STAND_IN
        others, wide = widened_exact(self.exact), widened(self.layout)
        return to_record(unflatten(self.server.aggregation_base, others, wide))

    def watched(self, evaluate: Evaluate) -> Evaluate:
        """An evaluation with rounds of the whole training, whose metrics are noted in the journal."""

        def watched(server_round: int, arrays: ArrayRecord) -> MetricRecord | None:
            metrics = evaluate(self.number(server_round), arrays)
            if server_round:
                self.journal.evaluated(metrics, server=True)
            return metrics

        return watched
