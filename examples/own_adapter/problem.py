"""What is trained: a linear model of two arrays, on samples that every device has for itself."""

from collections.abc import Mapping

import numpy as np

from lossyfl.adapters.arrays import Array, Serialized, whole_values
from lossyfl.types import Vector

INPUTS, OUTPUTS = 40, 5
STEPS, RATE = 5, 0.1
TRUE = np.random.default_rng(0).normal(size=(INPUTS, OUTPUTS)).astype(np.float32)


def start() -> dict[str, Array]:
    """The initial model; its count of steps is no weight, and travels exactly."""
    w, b = np.zeros((INPUTS, OUTPUTS), np.float32), np.zeros(OUTPUTS, np.float32)
    return {"w": Array.of(w), "b": Array.of(b), "steps": Array.of(np.array(0))}


def samples(device: int) -> tuple[Vector, Vector]:
    """Inputs and outputs of one device; of each a different number."""
    rng = np.random.default_rng(1 + device)
    x = rng.normal(size=(60 + 10 * device, INPUTS)).astype(np.float32)
    return x, x @ TRUE + 1


def train(model: Mapping[str, Serialized], device: int) -> tuple[dict[str, Array], float]:
    """A few steps of gradient descent; the trained model, and the loss before the last one."""
    x, y = samples(device)
    w, b, steps = (whole_values(model[name]) for name in ("w", "b", "steps"))
    loss = 0.0
    for _ in range(STEPS):
        error = x @ w + b - y
        loss = float((error**2).mean())
        w, b = w - RATE * x.T @ error / len(x), b - RATE * error.mean(axis=0)
    return {"w": Array.of(w), "b": Array.of(b), "steps": Array.of(steps + STEPS)}, loss


def distance(model: Mapping[str, Serialized]) -> float:
    """How far a model is from the true one, as a part of how far the initial one was."""
    return float(np.linalg.norm(whole_values(model["w"]) - TRUE) / np.linalg.norm(TRUE))
