"""Make the embedded example: a real global model update, as an LFL server would broadcast it.

Forty devices, each with an equal share of scikit-learn's 8x8 digits, train a 64-128-10 perceptron
with four local SGD steps of batch 16; the server averages. After 30 rounds the change of the next
round is written to src/lossyfl/assets/digits_update.safetensors, with the round as an integer.

    .venv/bin/python scripts/make_example.py
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sklearn.datasets import load_digits

DEVICES, ROUNDS, STEPS, BATCH, RATE = 40, 30, 4, 16, 0.1
TARGET = Path(__file__).parents[1] / "src/lossyfl/assets/digits_update.safetensors"

Array = NDArray[np.float32]
Model = dict[str, Array]


def gradient(model: Model, x: Array, y: NDArray[np.int64]) -> Model:
    """Of the mean cross-entropy."""
    hidden = np.maximum(x @ model["hidden.weight"] + model["hidden.bias"], 0)
    scores = hidden @ model["output.weight"] + model["output.bias"]
    chance = np.exp(scores - scores.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    chance[np.arange(len(y)), y] -= 1
    chance /= len(y)
    back = (chance @ model["output.weight"].T) * (hidden > 0)
    return {
        "hidden.weight": x.T @ back,
        "hidden.bias": back.sum(axis=0),
        "output.weight": hidden.T @ chance,
        "output.bias": chance.sum(axis=0),
    }


def train(model: Model, x: Array, y: NDArray[np.int64], rng: np.random.Generator) -> Model:
    """What `STEPS` local steps change."""
    local = dict(model)
    for _ in range(STEPS):
        batch = rng.choice(len(y), BATCH)
        change = gradient(local, x[batch], y[batch])
        local = {name: (w - RATE * change[name]).astype(np.float32) for name, w in local.items()}
    return {name: local[name] - model[name] for name in model}


def main() -> None:
    rng = np.random.default_rng(0)
    digits = load_digits()
    x, y = (digits.data / 16).astype(np.float32), digits.target
    shares = np.array_split(rng.permutation(len(y)), DEVICES)
    shapes = {"hidden.weight": (64, 128), "output.weight": (128, 10)}
    model: Model = {
        name: rng.normal(0, (2 / sum(shape)) ** 0.5, shape).astype(np.float32)
        for name, shape in shapes.items()
    }
    model |= {"hidden.bias": np.zeros(128, np.float32), "output.bias": np.zeros(10, np.float32)}
    for _ in range(ROUNDS + 1):
        changes = [train(model, x[share], y[share], rng) for share in shares]
        update = {
            name: np.mean([change[name] for change in changes], axis=0, dtype=np.float32)
            for name in model
        }
        model = {name: model[name] + update[name] for name in model}
    save_file({**update, "round": np.array(ROUNDS, dtype=np.int64)}, TARGET)


if __name__ == "__main__":
    main()
