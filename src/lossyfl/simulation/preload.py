"""What the process that workers are forked from does before: import everything, load the kernels.

A worker inherits both, so that its first reply is as quick as its second.
"""

import numpy as np

from lossyfl.device import Device
from lossyfl.schemes import scheme
from lossyfl.server import Server
from lossyfl.simulation import pool

__all__ = ["pool"]


def load_kernels() -> None:
    """Play a round of a few numbers, which compiles or loads every kernel on the way of a reply."""
    chosen = scheme("lfl:q1=2,q2=2")
    server = Server(np.zeros(64, np.float32), chosen, samples={0: 1})
    device = Device(0, chosen)
    for number in range(2):
        server.open_round()
        theta = device.receive(server.frames_for(0, device.held))
        server.accept(0, device.reply(theta + np.arange(64, dtype=np.float32) + number))
        server.close_round()


load_kernels()
