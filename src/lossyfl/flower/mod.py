"""The device's side: a Flower mod around the app's train and evaluate functions.

    app = ClientApp(mods=[lossy_mod])

It goes first, before every other mod. A message from `LossyStrategy` becomes the model that the app
expects; the model that the app returns becomes a reply frame. The device's state is saved before the reply
leaves. Messages without a model pass untouched.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from logging import WARNING
from pathlib import Path

from flwr.app import Array, ArrayRecord, Context, Error, Message, MessageType, RecordDict

from lossyfl.errors import InputError, LossyflError
from lossyfl.flower.envelope import Down, Foreign, Up, pack_up, unpack_down
from lossyfl.flower.folders import QUOTA, default_root
from lossyfl.flower.layout import (
    Exact,
    Layout,
    check,
    check_exact,
    check_range,
    exact,
    filled,
    flatten,
    read_layout,
    unflatten,
)
from lossyfl.flower.logs import LONGEST_LINE, log, shown
from lossyfl.flower.nodes import made_of
from lossyfl.flower.privacy import SECURE_AGGREGATION, bound_beside, is_secure_aggregation
from lossyfl.flower.store import Remembered, Store
from lossyfl.protocol.device import Device
from lossyfl.protocol.schemes import Scheme, scheme
from lossyfl.protocol.states import Delivery
from lossyfl.registry import from_outside
from lossyfl.wire.header import MAX_ENTRIES

REFUSED = 6
"""Flower's code for a mod that refuses a message."""
MOST_FOR_A_BYTE = 32
"""Floats of a model of more than MAX_ENTRIES for each byte of its message, which is no bomb then."""

STATE_BYTES = 8
"""Of a parameter, in each of two files: the estimate, and what replies left over."""

App = Callable[[Message, Context], Message]


class LossyMod:
    """The mod, with settings.

    state_dir: where devices keep what they remember, unless the node's config says `lossyfl-dir`;
               `lossyfl flower clean FOLDER` removes it, also after a simulation
    threads:   for coding
    allow:     own quantizers and schemes, as "package.module:Name", that a server may name beside registered
               ones; the node's config may name more, `lossyfl-allow`, with spaces between them
    quota:     bytes that a device keeps of all its trainings, unless the node's config says `lossyfl-quota`;
               what was not used for longest makes room
    """

    def __init__(
        self,
        *,
        state_dir: Path | str | None = None,
        threads: int = 1,
        allow: Iterable[str] = (),
        quota: int = QUOTA,
    ) -> None:
        self._quota = quota
        self._allow = (allow,) if isinstance(allow, str) else tuple(allow)
        self._state_dir = None if state_dir is None else Path(state_dir)
        self._threads = threads

    def __call__(self, message: Message, context: Context, call_next: App) -> Message:
        """Give the app the model, and the server the update."""
        try:
            down = unpack_down(message.content) if message.has_content() else None
            if down is None:
                return self._plain(message, context, call_next)
            number = device_number(context)
            with named_by_server(context, self._allow):
                chosen = scheme(down.scheme)
            quota = _quota(context, self._quota)
            store = Store(self._root(context), down.training, number, quota=quota)
            with store.locked():
                visit = _Visit(down, number, chosen, store, self._threads)
                return visit.serve(message, context, call_next)
        except LossyflError as error:
            return _refused(message, shown(error, LONGEST_LINE))
        except KeyError as error:
            if not is_secure_aggregation(str(error)):
                raise
            return _refused(message, SECURE_AGGREGATION)

    def _plain(self, message: Message, context: Context, call_next: App) -> Message:
        """A message that is not ours: without a model it is the app's own business."""
        if message.has_content() and any(map(is_secure_aggregation, message.content)):
            raise Foreign(SECURE_AGGREGATION)
        if message.has_content() and message.content.array_records:
            raise Foreign(
                "the server sends the model as it is: wrap its strategy, "
                "LossyStrategy(...), or take lossy_mod out of this app"
            )
        return call_next(message, context)

    def _root(self, context: Context) -> Path:
        own = context.node_config.get("lossyfl-dir")
        return Path(str(own)) if own is not None else self._state_dir or default_root()


lossy_mod = LossyMod()
"""The mod as it suits most."""


def named_by_server(context: Context, allow: Iterable[str] = ()) -> AbstractContextManager[None]:
    """Build what a message names: it is a server's, so it imports only what is allowed at this node."""
    more = str(context.node_config.get("lossyfl-allow", "")).split()
    how = 'at the node, by LossyMod(allow=["{0}"]) or lossyfl-allow="{0}" in its config'
    return from_outside([*allow, *more], how)


def device_number(context: Context) -> int:
    """The number of this node's device: its partition-id, else one made of its node id."""
    number = context.node_config.get("partition-id")
    if number is None:
        return made_of(context.node_id)
    if type(number) is not int or not 0 <= number < 1 << 62:
        raise InputError("partition-id", of="a node", allowed="an int in [0, 2^62)", got=number)
    return number


def _quota(context: Context, default: int) -> int:
    """How many bytes this node keeps."""
    quota = context.node_config.get("lossyfl-quota", default)
    if type(quota) is not int or quota < 0:
        raise InputError("lossyfl-quota", of="a node", allowed="a number of bytes", got=quota)
    return quota


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """The estimate as the app sees it."""

    layout: Layout
    exact: Exact
    record: ArrayRecord


class _Visit:
    """One message: what the device was, what it becomes."""

    def __init__(self, down: Down, number: int, scheme: Scheme, store: Store, threads: int) -> None:
        self._down, self._scheme, self._store, self._threads = down, scheme, store, threads
        self._number = number
        self._remembered = store.load(down.scheme)
        self._device = self._revived()

    def serve(self, message: Message, context: Context, call_next: App) -> Message:
        """Move the estimate, let the app work, and answer."""
        began = time.perf_counter()
        try:
            model = self._receive()
        except LossyflError as error:
            return self._out_of_step(message, str(error))
        if self._device.held != self._down.held:
            return self._out_of_step(message, f"the frames did not lead to {self._down.held}")
        message.content[self._down.key] = model.record
        given = time.perf_counter()
        try:
            reply = call_next(message, context)
        except BaseException:
            self._save()  # the estimate has moved, whatever became of the training
            raise
        if reply.has_error():
            self._save()
            return reply
        taken = time.perf_counter()
        trains = message.metadata.message_type.startswith(MessageType.TRAIN)
        up = self._answer(reply.content, model) if trains else self._seen()
        self._save()
        coding = given - began + time.perf_counter() - taken
        reply.content.update(pack_up(replace(up, training=taken - given, coding=coding)))
        return reply

    def _revived(self) -> Device:
        """The device as it was left; a new one if that cannot be used."""
        found = self._remembered
        if found.layout:
            layout = read_layout(found.layout)
            device = self._fresh(layout)
            try:
                check_exact(_exact_of(found), layout, of="the file")
                device.restore(found.device)
            except LossyflError as error:
                log(WARNING, "lossyfl: device %d begins anew: %s", self._number, error)
                self._remembered = Remembered(scheme=self._down.scheme)
            else:
                return device
        return self._fresh(None)

    def _fresh(self, layout: Layout | None) -> Device:
        down = self._down
        tensors = None if layout is None else layout.tensors
        return Device(
            self._number,
            self._scheme,
            seed=down.seed,
            tensors=tensors,
            threads=self._threads,
            training=down.training,
        )

    def _receive(self) -> _Model:
        """Apply the frames; the model that the app gets."""
        down = self._down
        if not down.layout and not self._remembered.layout:
            raise Foreign("this device remembers nothing")  # so the server sends everything
        if down.layout and down.layout != self._remembered.layout:
            layout = read_layout(down.layout)
            _check_size(layout, down.frames)
            self._store.check_room(STATE_BYTES * sum(layout.tensors))
            self._device = self._fresh(layout)
            if self._remembered.layout:  # another model: nothing of the old one can be used
                self._remembered = Remembered(scheme=down.scheme)
        self._device.move(Delivery(frames=down.frames, accepted=down.accepted))
        others = down.exact if down.frames else _exact_of(self._remembered)
        text = down.layout or self._remembered.layout
        layout = read_layout(text)
        check_exact(others, layout, of="the message")
        if len(self._device.estimate) != sum(layout.tensors):
            raise Foreign("this device holds no model of that layout")
        check_range(self._device.estimate, layout, of="the model")
        self._remembered = _remember(self._remembered, text, others)
        return _Model(
            layout=layout, exact=others, record=unflatten(self._device.estimate, others, layout)
        )

    def _answer(self, content: RecordDict, model: _Model) -> Up:
        """What goes to the server; the trained model is taken out of the app's reply."""
        device = self._device
        key, trained = _only(content, "the app's reply")
        whole = filled(trained, model.record, of="the app's reply")
        check(whole, model.layout, of="the app's reply")
        if device.unsettled:  # asked again in a round that was answered: that answer never arrived
            device.settle(arrived=False)
        others = exact(whole, model.layout)
        bound = bound_beside(others, model.exact, self._down.bound)
        frame = device.reply(flatten(whole, model.layout, of="the app's reply"), bound=bound)
        del content[key]
        return Up(number=self._number, held=device.held, reply=frame, exact=others)

    def _seen(self) -> Up:
        """An answer without an update: what the app returns is its own business."""
        return Up(number=self._number, held=self._device.held)

    def _out_of_step(self, message: Message, problem: str) -> Message:
        """Say what the device holds, so that the server can send what it needs."""
        log(WARNING, "lossyfl: device %d is out of step: %s", self._number, problem)
        self._save()
        problem = shown(problem, LONGEST_LINE)
        up = Up(number=self._number, held=self._device.held, problem=problem)
        return Message(RecordDict({**pack_up(up)}), reply_to=message)

    def _save(self) -> None:
        self._store.save(replace(self._remembered, device=self._device.state()))


def _refused(message: Message, reason: str) -> Message:
    log(WARNING, "lossyfl: %s", reason)
    return Message(Error(code=REFUSED, reason=f"lossyfl: {reason}"), reply_to=message)


def _check_size(layout: Layout, frames: Sequence[bytes]) -> None:
    """Raise if a model would take far more memory than its message did."""
    entries = sum(layout.tensors)
    most = max(MAX_ENTRIES, MOST_FOR_A_BYTE * sum(map(len, frames)))
    if not 0 < entries <= most:
        raise InputError("layout", of="a message", allowed=f"of 1 to {most} floats", got=entries)


def _only(content: RecordDict, of: str) -> tuple[str, ArrayRecord]:
    """The one ArrayRecord of a message."""
    if len(content.array_records) != 1:
        got = len(content.array_records)
        raise InputError("ArrayRecords", of=of, allowed="one, the model", got=got)
    return next(iter(content.array_records.items()))


def _remember(before: Remembered, layout: str, others: Exact) -> Remembered:
    arrays = list(others.items())
    return replace(
        before,
        layout=layout,
        names=tuple(name for name, _ in arrays),
        dtypes=tuple(array.dtype for _, array in arrays),
        stypes=tuple(array.stype for _, array in arrays),
        shapes=tuple(" ".join(map(str, array.shape)) for _, array in arrays),
        arrays=tuple(array.data for _, array in arrays),
    )


def _exact_of(remembered: Remembered) -> Exact:
    columns = (remembered.dtypes, remembered.shapes, remembered.stypes, remembered.arrays)
    rows = zip(remembered.names, *columns, strict=True)
    return {
        name: Array(dtype=dtype, shape=tuple(map(int, shape.split())), stype=stype, data=data)
        for name, dtype, shape, stype, data in rows
    }
