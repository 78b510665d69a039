"""Algorithm 1 of the paper, one round of it.

Amiri, Gündüz, Kulkarni, Poor, "Federated Learning With Quantized Global Model Updates", 2020. The
server and the devices exchange frames only; this loop carries them, or a simulator, or a network.
"""

from collections.abc import Callable, Iterable, Mapping

from lossyfl.errors import InputError
from lossyfl.protocol.device import Device
from lossyfl.protocol.server import Server
from lossyfl.streams import stream
from lossyfl.types import Vector

Train = Callable[[int, Vector], Vector]
"""tau local steps: (device, theta_hat) -> theta_m."""


def sample(members: Iterable[int], fraction: float, *, seed: int, round: int) -> list[int]:
    """A random `fraction` of the devices, at least one, the same for the same seed and round.

    >>> sample(range(10), 0.3, seed=0, round=5) == sample(range(10), 0.3, seed=0, round=5)
    True
    """
    devices = sorted(members)
    if not 0 < fraction <= 1:
        raise InputError("fraction", of="sample", allowed="in (0, 1]", got=fraction)
    count = max(1, int(fraction * len(devices) + 0.5))
    bits = stream(seed, purpose="participants", round=round).bits(0, len(devices)).tolist()
    return sorted(device for _, device in sorted(zip(bits, devices, strict=True))[:count])


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
