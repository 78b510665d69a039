"""What the default rules do not stop: nodes that train backwards, with updates no larger than is usual.

    python examples/hostile_nodes/backwards.py

Softmax regression on digits over ten nodes, two of which send a multiple of the opposite of their update.
Prints the accuracy by rule and by robust aggregation. Needs lossyfl[sim].
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import lossyfl
from lossyfl.data.digits import read_digits
from lossyfl.errors import Refused
from lossyfl.protocol.adapter_server import AdapterServer

Floats = NDArray[np.float32]
Aggregate = Callable[[NDArray[np.float32]], Floats]

NODES, HOSTILE, ROUNDS, STEPS, RATE = 10, 2, 20, 20, 0.5
SCHEME = "lfl:q1=2,q2=2"


def features(x: NDArray[np.uint8]) -> Floats:
    flat = x.reshape(len(x), -1) / 16
    return np.hstack([flat, np.ones((len(x), 1))]).astype(np.float32)


def train(theta: Floats, x: Floats, y: NDArray[np.uint8]) -> Floats:
    """Gradient steps of softmax regression on all samples of a node."""
    weights = theta.reshape(x.shape[1], 10).copy()
    for _ in range(STEPS):
        scores = x @ weights
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(len(y)), y] -= 1
        weights -= RATE * (x.T @ p) / len(y)
    return weights.ravel()


def accuracy(times: float, rule: lossyfl.ReplyRule, aggregate: Aggregate | None) -> float:
    """On the test set, after all rounds; without `aggregate` by the server's weighted mean."""
    data = read_digits()
    x, y = features(data.train_x), data.train_y
    scheme = lossyfl.scheme(SCHEME)
    start = np.zeros(x.shape[1] * 10, np.float32)
    parts = np.array_split(np.random.default_rng(0).permutation(len(y)), NODES)
    server = AdapterServer(
        start, scheme, samples={m: len(part) for m, part in enumerate(parts)}, seed=0, rule=rule
    )
    devices = [lossyfl.Device(m, scheme, seed=0) for m in range(NODES)]
    for _ in range(ROUNDS):
        server.open_round()
        replies = {}
        for m, device in enumerate(devices):
            theta = device.receive(server.frames_for(m, device.held)).copy()
            update = train(theta, x[parts[m]], y[parts[m]]) - theta
            sign = -times if m < HOSTILE else 1.0
            replies[m] = device.reply(theta + np.float32(sign) * update)
        step(server, replies, aggregate)
    scores = features(data.test_x) @ server.theta.reshape(x.shape[1], 10)
    return float(np.mean(scores.argmax(axis=1) == data.test_y))


def step(server: AdapterServer, replies: dict[int, bytes], aggregate: Aggregate | None) -> None:
    """Close the round with what is not refused."""
    vectors = list[Floats]()
    server.compare(replies)
    for m, reply in replies.items():
        try:
            if aggregate is None:
                server.accept(m, reply)
            else:
                vectors.append(server.accept_and_decode(m, reply))
        except Refused:
            continue
    base = server.aggregation_base.copy()
    server.close_round()
    if aggregate is not None:
        server.replace_theta(base + aggregate(np.stack(vectors)))


def median(vectors: NDArray[np.float32]) -> Floats:
    return np.median(vectors, axis=0).astype(np.float32)


def trimmed_mean(vectors: NDArray[np.float32]) -> Floats:
    """The mean of what is left without the two largest and smallest of each entry."""
    return np.sort(vectors, axis=0)[HOSTILE:-HOSTILE].mean(axis=0).astype(np.float32)


RULES: dict[str, tuple[lossyfl.ReplyRule, Aggregate | None]] = {
    "default": (lossyfl.ReplyRule(), None),
    "clip, factor=2": (lossyfl.ReplyRule(norm="clip", factor=2), None),
    "factor=3": (lossyfl.ReplyRule(factor=3), None),
    "median": (lossyfl.ReplyRule(), median),
    "trimmed mean": (lossyfl.ReplyRule(), trimmed_mean),
}


def main() -> None:
    print("their update | " + " | ".join(RULES))
    for times in (-1.0, 1.0, 5.0, 25.0, 50.0):
        cells = [f"{100 * accuracy(times, *chosen):.1f} %" for chosen in RULES.values()]
        print(
            f"{'honest' if times < 0 else f'-{times:g} times':12} | " + " | ".join(cells),
            flush=True,
        )


if __name__ == "__main__":
    main()
