"""The device's side of one message: from the frames that came to the frame that goes back.

    with opened(down, number, settings) as session:
        model = session.receive()             # raises if the device is out of step: `out_of_step` says so
        with session.training():
            trained = ...
        up = session.finish(session.reply(trained))

The device's state is saved before the reply leaves, and also if training fails: the estimate has moved.
"""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from logging import WARNING
from pathlib import Path

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.envelope import Down, Up
from lossyfl.adapters.exact import Exact, bound_beside, check_exact, exact_of
from lossyfl.adapters.folders import QUOTA, default_root
from lossyfl.adapters.framework import OWN, Framework
from lossyfl.adapters.layout import Layout, read_layout
from lossyfl.adapters.logs import LONGEST_LINE, shown
from lossyfl.adapters.models import Model, check, check_range, filled, flatten, unflatten
from lossyfl.adapters.records import Foreign
from lossyfl.adapters.remembered import Remembered
from lossyfl.adapters.store import Store
from lossyfl.errors import InputError, LossyflError
from lossyfl.protocol.device import Device
from lossyfl.protocol.schemes import Scheme, scheme
from lossyfl.protocol.states import Delivery
from lossyfl.registry import from_outside
from lossyfl.wire.header import MAX_ENTRIES

MOST_FOR_A_BYTE = 32
"""Floats of a model of more than MAX_ENTRIES for each byte of its message, which is no bomb then."""
STATE_BYTES = 8
"""Of a parameter, in each of two files: the estimate, and what replies left over."""
TRAINED = "the trained model"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSettings:
    """How a device works.

    root:    where it keeps what it remembers
    quota:   bytes that it keeps of all its trainings; what was not used for longest makes room
    threads: for coding
    allow:   own quantizers and schemes, as "package.module:Name", that a server may name
    """

    root: Path = field(default_factory=default_root)
    quota: int = QUOTA
    threads: int = 1
    allow: tuple[str, ...] = ()
    framework: Framework = OWN


@contextmanager
def opened(down: Down, number: int, settings: DeviceSettings) -> "Generator[DeviceSession]":
    """The session of a message to a device of this number; no other process has its state meanwhile."""
    with from_outside(settings.allow, settings.framework.allow):
        chosen = scheme(down.scheme)
    store = Store(
        settings.root,
        down.training,
        number,
        quota=settings.quota,
        framework=settings.framework,
    )
    with store.locked():
        yield DeviceSession(down, number, chosen, store, settings.threads)


class DeviceSession:
    """One message: what the device was, what it becomes."""

    def __init__(self, down: Down, number: int, scheme: Scheme, store: Store, threads: int) -> None:
        self._began = time.perf_counter()
        self._seconds = 0.0  # of training
        self._down, self._scheme, self._store, self._threads = down, scheme, store, threads
        self._number, self._framework = number, store.framework
        self._layout: Layout | None = None
        self._model: dict[str, Array] = {}
        self._exact: Exact = {}
        self._remembered = store.load(down.scheme)
        self._device = self._revived()

    def receive(self) -> dict[str, Array]:
        """Apply the frames; the model to train. Raises an error of ours if they do not fit this device."""
        layout, others = self._move()
        if self._device.held != self._down.held:
            raise Foreign(f"the frames did not lead to {self._down.held}")
        self._layout, self._exact = layout, others
        self._model = unflatten(self._device.estimate, others, layout)
        return self._model

    @contextmanager
    def training(self) -> Generator[None]:
        """Around what trains or evaluates the model: the time that it takes is not ours."""
        began = time.perf_counter()
        try:
            yield
        except BaseException:
            self.save()  # the estimate has moved, whatever became of the training
            raise
        self._seconds = time.perf_counter() - began

    def reply(self, trained: Model, *, of: str = TRAINED) -> Up:
        """What goes to the server; arrays that the trained model leaves out are as they were."""
        if self._layout is None:
            raise InputError("model", of="a session", allowed="received first", got="none")
        device = self._device
        whole = filled(trained, self._model, of=of)
        check(whole, self._layout, of=of)
        if device.unsettled:  # asked again in a round that was answered: that answer never arrived
            device.settle(arrived=False)
        others = exact_of(whole, self._layout)
        bound = bound_beside(others, self._exact, self._down.bound)
        frame = device.reply(flatten(whole, self._layout, of=of), bound=bound)
        return Up(number=self._number, held=device.held, reply=frame, exact=others)

    def seen(self) -> Up:
        """A reply without an update, as after an evaluation."""
        return Up(number=self._number, held=self._device.held)

    def out_of_step(self, problem: object) -> Up:
        """What the device holds, and why it cannot train: the server sends it what it needs then."""
        name = self._number
        self._framework.log(WARNING, "lossyfl: device %d is out of step: %s", name, problem)
        self.save()
        return replace(self.seen(), problem=shown(problem, LONGEST_LINE))

    def finish(self, up: Up) -> Up:
        """The reply, to be sent once this returns: the device's state is saved."""
        self.save()
        coding = time.perf_counter() - self._began - self._seconds
        return replace(up, training=self._seconds, coding=coding)

    def serve(self, train: Callable[[dict[str, Array]], Model]) -> Up:
        """All of it, for a framework in which training is a function of a model."""
        try:
            model = self.receive()
        except LossyflError as error:
            return self.out_of_step(error)
        with self.training():
            trained = train(model)
        return self.finish(self.reply(trained))

    def save(self) -> None:
        """Write down what the device remembers."""
        self._store.save(replace(self._remembered, device=self._device.state()))

    def _revived(self) -> Device:
        """The device as it was left; a new one if that cannot be used."""
        found = self._remembered
        if found.layout:
            layout = read_layout(found.layout)
            device = self._fresh(layout)
            try:
                check_exact(found.exact, layout, of="the file")
                device.restore(found.device)
            except LossyflError as error:
                name = self._number
                self._framework.log(WARNING, "lossyfl: device %d begins anew: %s", name, error)
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

    def _move(self) -> tuple[Layout, Exact]:
        """Move the estimate by the frames; the layout of the model, and what is exact of it."""
        down = self._down
        if not down.layout and not self._remembered.layout:
            raise Foreign("this device remembers nothing")  # so the server sends everything
        if down.layout and down.layout != self._remembered.layout:
            self._begin(read_layout(down.layout))
        self._device.move(Delivery(frames=down.frames, accepted=down.accepted))
        others = down.exact if down.frames else self._remembered.exact
        text = down.layout or self._remembered.layout
        layout = read_layout(text)
        check_exact(others, layout, of="the message")
        if len(self._device.estimate) != layout.entries:
            raise Foreign("this device holds no model of that layout")
        check_range(self._device.estimate, layout, of="the model")
        self._remembered = self._remembered.of_model(text, others)
        return layout, others

    def _begin(self, layout: Layout) -> None:
        """Be a new device, for another model."""
        _check_size(layout, self._down.frames)
        self._store.check_room(STATE_BYTES * layout.entries)
        self._device = self._fresh(layout)
        if self._remembered.layout:  # nothing of the old one can be used
            self._remembered = Remembered(scheme=self._down.scheme)


def _check_size(layout: Layout, frames: Sequence[bytes]) -> None:
    """Raise if a model would take far more memory than its message did."""
    entries = layout.entries
    most = max(MAX_ENTRIES, MOST_FOR_A_BYTE * sum(map(len, frames)))
    if not 0 < entries <= most:
        raise InputError("layout", of="a message", allowed=f"of 1 to {most} floats", got=entries)
