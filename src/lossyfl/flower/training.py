"""One training, from its start to its end: the protocol's server, its nodes, what is exact of the model."""

import math
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from flwr.app import Array, ArrayRecord, Message
from flwr.serverapp.strategy import Strategy

from lossyfl.errors import InputError
from lossyfl.flower import layout as layouts
from lossyfl.flower.arrays import widened, widened_exact
from lossyfl.flower.inner import Steps
from lossyfl.flower.journal import Journal
from lossyfl.flower.nodes import Nodes
from lossyfl.flower.weights import Weights
from lossyfl.protocol.adapter_server import AdapterServer
from lossyfl.protocol.rules import ReplyRule
from lossyfl.protocol.schemes import Scheme

if TYPE_CHECKING:
    from lossyfl.flower.layout import Exact, Layout

STAND_IN = ArrayRecord({"lossyfl": Array(np.zeros(1, np.float32))})
"""For a strategy that leaves arrays alone, but wants to see some."""


@dataclass(kw_only=True)
class Training:
    """What a strategy was told, and what has become of it; another start is another training.

    averages:      whether the server takes the mean, and the inner strategy sees no arrays
    named:         arrays that must not be quantized
    name:          by which devices know it
    sent, online:  messages of this step, and the nodes that were there
    rounds_before: that a checkpoint had done
    given:         the model as Flower was given it last
    key:           of the model in messages
    bound:         on the norm of replies, for privacy
    warned:        what was logged of which device
    """

    inner: Strategy
    steps: Steps
    spec: str
    scheme: Scheme
    seed: int
    weights: Weights
    rule: ReplyRule
    averages: bool
    named: tuple[str, ...]
    log_bytes: int | None
    threads: int
    journal: Journal
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    nodes: Nodes = field(default_factory=Nodes)
    server_or_none: AdapterServer | None = None
    sent: list[Message] = field(default_factory=list[Message])
    online: frozenset[int] = frozenset()
    rounds_before: int = 0
    given: ArrayRecord | None = None
    key: str = ""
    bound: float = math.inf
    warned: set[tuple[int, str]] = field(default_factory=set[tuple[int, str]])
    layout: "Layout" = field(init=False)
    exact: "Exact" = field(init=False)

    @property
    def server(self) -> AdapterServer:
        """The protocol's server; there is one from the first round on."""
        if self.server_or_none is None:
            raise InputError("server", of="LossyStrategy", allowed="asked for later", got="none")
        return self.server_or_none

    def number(self, server_round: int) -> int:
        """The number of a round in the whole training, which a checkpoint may have begun."""
        return server_round + self.rounds_before

    def begin(self, arrays: ArrayRecord, layout: "Layout | None" = None) -> None:
        """Have a server for this model."""
        self.layout = layout or layouts.layout_of(arrays, self.named)
        self.exact = layouts.exact(arrays, self.layout)
        layouts.check_exact(self.exact, self.layout, of="the model")
        self.server_or_none = AdapterServer(
            layouts.flatten(arrays, self.layout, of="the model"),
            self.scheme,
            samples={},
            seed=self.seed,
            listen="participants",
            log_bytes=self.log_bytes,
            tensors=self.layout.tensors,
            threads=self.threads,
            training=self.name,
            rule=self.rule,
        )

    def open(self, arrays: ArrayRecord) -> ArrayRecord:
        """Open a round, if none is; the model that devices hold then, for the inner strategy."""
        if self.server_or_none is None:
            self.begin(arrays)
        elif arrays is not self.given:
            # Somebody has changed the model since: that is the one to broadcast.
            vector = layouts.flatten(arrays, self.layout, of="the model")
            self.server.replace_theta(vector)  # raises if the old one is out already
            self.exact = layouts.exact(arrays, self.layout)
        self.given = arrays
        if not self.server.is_open:
            started = time.perf_counter()
            self.server.open_round(())
            self.journal.broadcast(self.server, time.perf_counter() - started)
        if self.averages:
            return STAND_IN
        others = widened_exact(self.exact)
        return layouts.unflatten(self.server.aggregation_base, others, widened(self.layout))
