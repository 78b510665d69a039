"""What `lossyfl bench versions` times, in the words of every version's public API.

Run by another version's Python, so this file imports nothing of the benchmarks. It reads a line of JSON
per request, the name of a job, and answers with the seconds that it took once.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

import lossyfl

Job = Callable[[], object]


@cache
def laplacian(entries: int) -> NDArray[np.float32]:
    """An update: Laplacian, as they about are."""
    return np.random.default_rng(0).laplace(size=entries).astype(np.float32)


def encode(entries: int, spec: str) -> Job:
    """Vector to frame."""
    x, quantizer = laplacian(entries), lossyfl.quantizer(spec)
    return lambda: lossyfl.encode(x, quantizer, rng=lossyfl.stream(0))


def decode(entries: int, spec: str) -> Job:
    """Frame to vector."""
    frame = lossyfl.encode(laplacian(entries), lossyfl.quantizer(spec), rng=lossyfl.stream(0))
    return lambda: lossyfl.decode(frame, max_entries=entries)


def round_of(entries: int, spec: str) -> Job:
    """A round of the protocol with ten devices; their training is an addition."""
    made = lossyfl.scheme(spec)
    start = np.zeros(entries, np.float32)
    server = lossyfl.Server(start, made, samples=dict.fromkeys(range(10), 10), seed=0)
    devices = {m: lossyfl.Device(m, made, seed=0) for m in range(10)}
    step = np.float32(0.01) * laplacian(entries)

    def once() -> None:
        server.open_round()
        for m, device in devices.items():
            theta_hat = device.receive(server.frames_for(m, device.held))
            server.accept(m, device.reply(theta_hat + step))
        server.close_round()

    once()  # the initial model is exact
    return once


MAKERS = {"encode": encode, "decode": decode, "round": round_of}


@cache
def job(kind: str, entries: int, spec: str) -> Job:
    """A job, ready and warm."""
    made = MAKERS[kind](entries, spec)
    made()
    return made


def main() -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        kind, entries, spec = json.loads(line)
        try:
            once = job(kind, entries, spec)
            start = time.perf_counter()
            once()
            answer: object = time.perf_counter() - start
        except Exception as error:  # a version may lack what this one has, and says so
            answer = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
