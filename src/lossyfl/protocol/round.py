"""Algorithm 1 of the paper, one round of it.

Amiri, Gündüz, Kulkarni, Poor, "Federated Learning With Quantized Global Model Updates", 2020. The
server and the devices exchange frames only; this loop carries them, or a simulator, or a network.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from lossyfl.errors import InputError
from lossyfl.protocol.device import Device
from lossyfl.protocol.server import Server
from lossyfl.streams import stream
from lossyfl.types import Vector

Train = Callable[[int, Vector], Vector]
"""tau local steps: (device, theta_hat) -> theta_m."""


def sample(
    members: Iterable[int],
    fraction: float,
    *,
    seed: int,
    round: int,
    recent: float = 0.0,
    held: Callable[[int], int] = lambda _: 0,
) -> list[int]:
    """A random `fraction` of the devices, at least one, the same for the same seed and round.

    recent: the share of them that are not random, but those with the newest estimates; at least one is
            random, so that everybody is asked in the long run
    held:   the round of the estimate that a device has

    >>> sample(range(10), 0.3, seed=0, round=5) == sample(range(10), 0.3, seed=0, round=5)
    True
    >>> set(sample(range(10), 0.3, seed=0, round=5, recent=0.7, held=lambda m: m)) >= {8, 9}
    True
    """
    devices = sorted(members)
    for name, value, allowed, fits in (
        ("fraction", fraction, "in (0, 1]", 0 < fraction <= 1),
        ("recent", recent, "in [0, 1)", 0 <= recent < 1),
    ):
        if not fits:
            raise InputError(name, of="sample", allowed=allowed, got=value)
    count = max(1, int(fraction * len(devices) + 0.5))
    bits = stream(seed, purpose="participants", round=round).bits(0, len(devices))
    near = min(int(recent * count + 0.5), count - 1)
    places = np.argsort(bits, kind="stable")  # a random order; with `recent` all of it is needed
    drawn: list[int] = places[: None if near else count].tolist()
    order = [devices[place] for place in drawn]
    if near:  # sorting keeps the random order of those who hold the same
        newest = sorted(order, key=held, reverse=True)[:near]
        chosen = set(newest)
        order = [*newest, *(device for device in order if device not in chosen)]
    return sorted(order[:count])


def run_round(
    server: Server,
    devices: Mapping[int, Device],
    train: Train,
    participants: Iterable[int] | None = None,
) -> None:
    """One round: t is `server.round` afterwards."""
    server.open_round(participants)  # line 2: Q(theta(t) - theta_hat(t-1), q1), encoded once
    for m in server.listeners:  # all devices hear the broadcast
        devices[m].receive(server.frames_for(m, devices[m].held))  # line 3: theta_hat(t) += Q(...)
    for m in server.participants:  # line 4: in parallel
        theta_m = train(m, devices[m].estimate.copy())  # tau steps from theta_hat(t)
        server.accept(m, devices[m].reply(theta_m))  # line 5: Q(theta_m - theta_hat + delta_m, q2)
    server.close_round()  # line 6: theta(t+1) = theta_hat(t) + sum_m B_m / B Q(...)
