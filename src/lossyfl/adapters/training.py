"""The server's side of one training: the protocol's server, its peers, and what is exact of the model.

    training.begin(model); training.open()      there is a server, and a round is open
    down = training.down_for(peer)              what one peer lacks, for `envelope.pack_down`
    number = training.hear(peer, up)            which device it is, and that its reply can be read
    refused = training.aggregate(replies)       the mean of all replies closes the round
    training.model                              what came of it

A framework that aggregates by itself calls the steps of `aggregate` one by one.
"""

import math
import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.envelope import Down, Up
from lossyfl.adapters.exact import Exact, check_exact, exact_of
from lossyfl.adapters.framework import OWN, Framework
from lossyfl.adapters.layout import Layout, layout_of
from lossyfl.adapters.models import Model, flatten, unflatten
from lossyfl.adapters.moves import bounds, check_moves
from lossyfl.adapters.numbers import check_width, mean
from lossyfl.adapters.peers import Peers
from lossyfl.adapters.saved import Kept, Saved
from lossyfl.errors import InputError, Refused
from lossyfl.protocol.adapter_server import AdapterServer
from lossyfl.protocol.aggregation import ELSEWHERE
from lossyfl.protocol.digests import NOTHING
from lossyfl.protocol.rules import ReplyRule, capped_weights
from lossyfl.protocol.schemes import Scheme
from lossyfl.protocol.server import DEFAULT_RULE
from lossyfl.protocol.states import UNKNOWN, Delivery, check_number


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a training goes, as somebody has set it.

    spec:      of the scheme, as `scheme` was made of it; devices make theirs of it, too
    seed:      of everything random
    exact:     names of further arrays that must not be quantized, with * for anything
    rule:      what to do with a reply that is far larger than others
    log_bytes: how much of the recent broadcasts to keep for peers that missed some; one model by default
    threads:   for coding
    """

    spec: str
    scheme: Scheme
    seed: int = 0
    exact: tuple[str, ...] = ()
    rule: ReplyRule = DEFAULT_RULE
    log_bytes: int | None = None
    threads: int = 1
    framework: Framework = OWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole reply of a device, and how many samples it says that it has."""

    peer: int
    up: Up
    samples: int


@dataclass(kw_only=True)
class ServerTraining:
    """One training, from its start to its end.

    name:          by which devices know it
    rounds_before: that a checkpoint had done
    bound:         on the norm of replies, for privacy
    renamed:       the numbers of devices that were taken for others until they said their own
    """

    settings: ServerSettings
    name: str = field(default_factory=lambda: secrets.token_hex(8))
    peers: Peers = field(init=False)
    server_or_none: AdapterServer | None = None
    rounds_before: int = 0
    bound: float = math.inf
    renamed: dict[int, int] = field(default_factory=dict[int, int])
    layout: Layout = field(init=False)
    exact: Exact = field(init=False)

    def __post_init__(self) -> None:
        self.peers = Peers(self.settings.framework)

    @property
    def server(self) -> AdapterServer:
        """The protocol's server; there is one from the first round on."""
        if self.server_or_none is None:
            of = self.settings.framework.settings
            raise InputError("server", of=of, allowed="asked for later", got="none")
        return self.server_or_none

    @property
    def model(self) -> dict[str, Array]:
        """The server's model."""
        return unflatten(self.server.theta, self.exact, self.layout)

    # A round

    def begin(self, model: Model, layout: Layout | None = None) -> None:
        """Have a server for this model."""
        settings = self.settings
        self.layout = layout or layout_of(model, settings.exact)
        self.exact = exact_of(model, self.layout)
        check_exact(self.exact, self.layout, of="the model")
        self.server_or_none = AdapterServer(
            flatten(model, self.layout, of="the model"),
            settings.scheme,
            samples={},
            seed=settings.seed,
            listen="participants",
            log_bytes=settings.log_bytes,
            tensors=self.layout.tensors,
            threads=settings.threads,
            training=self.name,
            rule=settings.rule,
        )

    def change(self, model: Model) -> None:
        """Go on from another model, between rounds."""
        vector = flatten(model, self.layout, of="the model")
        self.server.replace_theta(vector)  # raises if the old one is out already
        self.exact = exact_of(model, self.layout)

    def open(self) -> bool:
        """Open a round, if none is; whether one was opened."""
        if self.server.is_open:
            return False
        self.server.open_round(())
        return True

    def down_for(self, peer: int, key: str = "model") -> Down:
        """What a peer is sent: the frames that it lacks, and all about the model if it is new."""
        known = self.peers[peer]
        delivery = self.delivery(peer)
        return self.down(delivery, key, is_new=known.held == NOTHING)

    def delivery(self, peer: int) -> Delivery:
        """The frames that a peer lacks."""
        known = self.peers[peer]
        if not self.server.is_member(known.number):
            self.server.join(known.number, 1)
        delivery = self.server.frames_for(known.number, known.held)
        return delivery if known.known else replace(delivery, accepted=UNKNOWN)

    def down(self, delivery: Delivery, key: str, *, is_new: bool) -> Down:
        """The message for all who lack these frames; `key` is the model's name in the app's message."""
        return Down(
            training=self.name,
            scheme=self.settings.spec,
            seed=self.settings.seed,
            held=self.server.held,
            accepted=delivery.accepted,
            key=key,
            frames=delivery.frames,
            layout=self.layout.text() if is_new else "",
            exact=self.exact if delivery.frames else {},
            bound=self.bound,
        )

    # Replies

    def hear(self, peer: int, up: Up, *, online: Collection[int] = ()) -> int:
        """The number of the device that a message of a peer's comes from.

        Raises Refused if it did not train, and says why; its peer is sent what it lacks next time.

        online: the peers that are there
        """
        check_number(up.number)
        if up.reply:
            check_exact(up.exact, self.layout, of="the reply")
        before = self.peers[peer]
        now = self.peers.heard(peer, up.number, up.held, online=online)
        # One that was sent something as another device, which has a new peer now, has nothing to rename.
        was_called = not before.known and self.server.is_member(before.number)
        if was_called and now.number != before.number:
            self.renamed[before.number] = now.number
        if up.problem:
            raise Refused(up.number, "out of step", f"{up.problem}; it is sent what it lacks")
        return now.number

    def rename(self) -> None:
        """Let the server know all who have said their numbers, before the first of their replies counts."""
        for number in self.renamed.values():
            if self.server.is_member(number):  # of the peer that was this device before
                self.server.leave(number)
        self.server.rename(self.renamed)
        self.renamed = {}

    def begin_replies(self, samples: Mapping[int, int], ups: Mapping[int, Up]) -> None:
        """Say who takes part in the round with how many samples, and compare their replies."""
        self.server.set_participants(samples)
        self.server.compare({number: up.reply for number, up in ups.items()})

    def check_width(self, number: int, up: Up) -> None:
        """Raise Refused if a reply makes a float16 of the model infinite: the server would not see it."""
        check_width(number, up.reply, self.server.aggregation_base, self.layout)

    def most_moves(self, ups: Sequence[Up]) -> dict[str, float]:
        """How far whole replies of these may move each of the arrays that travel exactly."""
        if self.settings.rule.norm == "off" or not self.exact:
            return {}
        whole = [up.exact for up in ups if up.reply]  # others are refused as damaged
        return bounds(whole, self.exact, self.settings.rule)

    def aggregate(self, replies: Mapping[int, Reply]) -> dict[int, Refused]:
        """Close the round with the mean of replies, by device; those that were refused, and why.

        None counts more than ten times the median of their samples.
        """
        self.rename()
        self.peers.next_round()
        weights = capped_weights({number: reply.samples for number, reply in replies.items()})
        whole = {number: replies[number].up for number in weights}
        self.begin_replies(weights, whole)
        most = self.most_moves(list(whole.values()))
        taken: list[tuple[int, Exact]] = []
        refused: dict[int, Refused] = {}
        for number, up in whole.items():
            try:
                check_moves(number, up.exact, self.exact, most if up.reply else {})
                self.check_width(number, up)
                self.server.accept(number, up.reply)
                taken.append((weights[number], up.exact))
            except Refused as error:
                refused[number] = error
                if error.reason in ELSEWHERE:
                    self.peers.forget(replies[number].peer)
        self.server.close_round()
        self.exact = mean(taken, self.exact)
        return refused

    # Checkpoints

    def saved(self, rounds: int, inner: tuple[Kept, ...] = ()) -> Saved:
        """What goes into a checkpoint after so many rounds."""
        return Saved(
            rounds=rounds,
            training=self.name,
            scheme=self.settings.spec,
            layout=self.layout.text(),
            server=self.server.state(),
            nodes=self.peers.known(),
            inner=inner,
        )

    def resume(self, saved: Saved, exact: Exact, initial: Model, layout: Layout) -> None:
        """Go on from a checkpoint; `initial` is the model that it was begun with."""
        self.name, self.rounds_before = saved.training, saved.rounds
        self.begin(initial, layout)
        check_exact(exact, self.layout, of="the checkpoint")
        self.exact = exact
        self.server.restore(saved.server)
        self.peers.restore(saved.nodes)
