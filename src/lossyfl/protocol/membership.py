"""Who belongs to a training: the weight of every member, what it was handed last, and its last reply."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from lossyfl.errors import InputError
from lossyfl.protocol.digests import EstimateVersion
from lossyfl.protocol.states import MAX_SAMPLES, check_number

T = TypeVar("T")


class Membership:
    """The devices that have joined and not left.

    samples:  B_m of every member
    held:     what each was last handed
    accepted: the last round of which each one's reply was accepted, or refused for what it says; also of
              devices that have left, for they may come back
    listened: who heard the newest broadcast, where the scheme asks
    """

    def __init__(
        self,
        samples: Mapping[int, int] | None = None,
        held: Mapping[int, EstimateVersion] | None = None,
        accepted: Mapping[int, int] | None = None,
        listened: tuple[int, ...] = (),
    ) -> None:
        self.samples, self.held = dict(samples or {}), dict(held or {})
        self.accepted, self.listened = dict(accepted or {}), listened
        self._sorted: tuple[int, ...] | None = None

    def __contains__(self, device: int) -> bool:
        return device in self.samples

    @property
    def numbers(self) -> tuple[int, ...]:
        """All members, sorted: once, until one joins or leaves, as there may be a million."""
        if self._sorted is None:
            self._sorted = tuple(sorted(self.samples))
        return self._sorted

    def join(self, device: int, samples: int) -> None:
        """Make a device a member, with its number of samples."""
        check_number(device)
        if type(samples) is not int or not 1 <= samples <= MAX_SAMPLES:
            allowed = "an int in [1, 2^53]"
            raise InputError("samples", of=f"device {device}", allowed=allowed, got=samples)
        if device not in self.samples:
            self._sorted = None
        self.samples[device] = samples

    def leave(self, device: int) -> None:
        """Forget a device, but for which of its replies was the last."""
        self.check(device)
        del self.samples[device]
        self._sorted = None
        self.held.pop(device, None)

    def check(self, *devices: int) -> None:
        """Raise unless all are members."""
        for device in devices:
            if device not in self.samples:
                allowed = "that of a member"
                raise InputError("number", of="a device", allowed=allowed, got=device)

    def rename(self, numbers: Mapping[int, int]) -> None:
        """Note everything of some members under other numbers, all at once."""
        self._check_renamed(numbers)
        self.samples = renamed(self.samples, numbers)
        self._sorted = None
        self.held = renamed(self.held, numbers)
        self.accepted = renamed(self.accepted, numbers)

    def _check_renamed(self, numbers: Mapping[int, int]) -> None:
        """Raise unless all are members, and every number is free then and given once."""
        taken = set(self.samples) - set(numbers)
        self.check(*numbers)
        for number in numbers.values():
            check_number(number)
            if number in taken:
                allowed = "that of no other member"
                raise InputError("number", of="a device", allowed=allowed, got=number)
            taken.add(number)

    def hear(self, listeners: Iterable[int]) -> bool:
        """Note who hears the next broadcast; whether these are others than heard the last."""
        before, self.listened = self.listened, tuple(sorted(listeners))
        return self.listened != before

    def weights(self, devices: Iterable[int]) -> dict[int, int]:
        """B_m of some members, in the order of their numbers."""
        return {device: self.samples[device] for device in sorted(devices)}


def renamed(noted: Mapping[int, T], numbers: Mapping[int, int]) -> dict[int, T]:
    """What was noted of devices, under their other numbers; it replaces what was left under those.

    >>> renamed({1: "a", 2: "b", 3: "c"}, {2: 3, 3: 2})
    {1: 'a', 3: 'b', 2: 'c'}
    """
    moved = {number: noted[device] for device, number in numbers.items() if device in noted}
    return {device: fact for device, fact in noted.items() if device not in numbers} | moved
