"""Forging frames: change bytes and seal them again, as a hostile sender would."""

from collections.abc import Sequence

import numpy as np
import xxhash

from lossyfl import Stochastic, encode, stream
from lossyfl.types import Scale, Vector


def seal(body: bytes) -> bytes:
    """The bytes with a valid checksum behind them."""
    return body + (xxhash.xxh3_64_intdigest(body) & 0xFFFFFFFF).to_bytes(4, "little")


def forge(frame: bytes, offset: int, new: bytes) -> bytes:
    """The frame with `new` at `offset`, and a valid checksum."""
    body = frame[:-4]
    return seal(body[:offset] + new + body[offset + len(new) :])


def f32(values: Sequence[float]) -> Vector:
    return np.array(values, dtype=np.float32)


def laplace(entries: int, seed: int = 0) -> Vector:
    return np.random.default_rng(seed).laplace(size=entries).astype(np.float32)


def sample_frame(entries: int = 5000, levels: int = 2, scale: Scale = "model") -> bytes:
    lengths = (entries // 3, entries - entries // 3)
    chosen = Stochastic(levels=levels, scale=scale)
    return encode(laplace(entries), chosen, rng=stream(0), tensors=lengths)


def rows_of_all_sizes(rows: int, columns: int, seed: int = 0) -> Vector:
    """A matrix as gradients are: rows and columns are busy or idle, and most rows lean to one sign."""
    rng = np.random.default_rng(seed)
    spread = np.exp(1.5 * rng.normal(size=(rows, 1)) + 0.7 * rng.normal(size=(1, columns)))
    entries = rng.laplace(size=(rows, columns)) + 0.5 * rng.normal(size=(rows, 1))
    return (spread * entries).astype(np.float32)
