"""A small Flower app in NumPy: softmax regression on scikit-learn's digits, as a user would write it."""

from functools import cache

import numpy as np
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.typing import Mod
from sklearn.datasets import load_digits

NODES = 10


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    return (data.data[order] / 16).astype(np.float32), data.target[order]


def part(number: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = digits()
    own = slice(300 + number * 140, 300 + (number + 1) * 140)
    return x[own], y[own]


def start() -> ArrayRecord:
    return record(np.zeros((64, 10), np.float32), np.zeros(10, np.float32))


def record(w: np.ndarray, b: np.ndarray) -> ArrayRecord:
    return ArrayRecord({"w": Array(w), "b": Array(b)})


def probabilities(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    scores = x @ w + b
    exps = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)


def accuracy(arrays: ArrayRecord) -> float:
    x, y = digits()
    p = probabilities(x[:300], arrays["w"].numpy(), arrays["b"].numpy())
    return float((p.argmax(axis=1) == y[:300]).mean())


def make_app(*mods: Mod) -> ClientApp:
    app = ClientApp(mods=list(mods))

    @app.train()
    def train(message: Message, context: Context) -> Message:
        w, b = (message.content["arrays"][name].numpy() for name in ("w", "b"))
        x, y = part(int(context.node_config["partition-id"]))
        loss = 0.0
        for _ in range(5):
            p = probabilities(x, w, b)
            loss = float(-np.log(p[np.arange(len(y)), y] + 1e-9).mean())
            p[np.arange(len(y)), y] -= 1
            w, b = w - 0.5 * x.T @ p / len(y), b - 0.5 * p.mean(axis=0)
        metrics = MetricRecord({"num-examples": len(y), "train-loss": loss})
        content = RecordDict({"arrays": record(w, b), "metrics": metrics})
        return Message(content, reply_to=message)

    @app.evaluate()
    def evaluate(message: Message, context: Context) -> Message:
        arrays = message.content["arrays"]
        x, y = part(int(context.node_config["partition-id"]))
        p = probabilities(x, arrays["w"].numpy(), arrays["b"].numpy())
        right = float((p.argmax(axis=1) == y).mean())
        metrics = MetricRecord({"num-examples": len(y), "eval-accuracy": right})
        return Message(RecordDict({"metrics": metrics}), reply_to=message)

    return app


def look(_: int, arrays: ArrayRecord) -> MetricRecord:
    return MetricRecord({"accuracy": accuracy(arrays)})
