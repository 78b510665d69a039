"""A model with an array of every kind."""

from dataclasses import replace

import numpy as np

from lossyfl.adapters.arrays import Array

# What NumPy makes of bfloat16: two bytes without a meaning.
BRAIN = Array.of(np.array([0x3F80, 0xC049], dtype=np.uint16).view("V2"))
MODEL = {
    "w": Array.of(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "half": Array.of(np.array([0.5, -2.0], dtype=np.float16)),
    "brain": replace(BRAIN, dtype="bfloat16"),
    "double": Array.of(np.array([[0.25]], dtype=np.float64)),
    "count": Array.of(np.array(7)),
    "mask": Array.of(np.array([True, False])),
    "empty": Array.of(np.zeros((0, 3), np.float32)),
}
