"""The largest entries, in several magnitudes or in one: which are kept, and how exactly."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32, laplace

from lossyfl import InputError, decode, encode, quantizer, stream
from lossyfl.types import Vector

BIN = 1.008
"""Entries that differ by less may be taken for equal."""


def kept(x: Vector, spec: str) -> Vector:
    return decode(encode(x, quantizer(spec), rng=stream(0)))


@given(st.integers(0, 1000), st.floats(0.001, 1), st.sampled_from(["topk", "sparse_ternary"]))
def test_the_largest_and_hardly_more_than_asked_for(seed: int, keep: float, name: str) -> None:
    x = laplace(3000, seed=seed)
    there = kept(x, f"{name}:keep={keep}") != 0
    assert there.sum() >= keep * len(x)
    smallest = np.abs(x[there]).min()
    assert np.abs(x[~there]).max(initial=0) <= smallest * BIN
    assert (np.abs(x) > smallest * BIN).sum() <= keep * len(x)


def spikes(seed: int) -> Vector:
    """A few very large entries above the others: the error has two valleys."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=20_000)
    x[:30] = rng.uniform(5, 100) * rng.choice([-1, 1], size=30)
    return x.astype(np.float32)


@given(st.integers(0, 1000), st.sampled_from([0.02, 0.3, 1.0, 2.0]))
def test_no_other_first_bin_is_better_with_one_level(seed: int, rate: float) -> None:
    x = spikes(seed)
    found = kept(x, f"sparse_ternary:target={rate}bit")
    magnitudes = np.unique(np.abs(x).view(np.uint32) >> 16 << 16).view(np.float32)
    for low in magnitudes[:: 1 + len(magnitudes) // 100]:
        there = np.abs(x) >= low
        share = np.array([(x[there] > 0).sum(), (x[there] < 0).sum(), (~there).sum()]) / len(x)
        bits = 44 * 3 - len(x) * float((share * np.log2(np.maximum(share, 1e-9))).sum())
        error = np.square(x).sum() - np.abs(x[there]).sum() ** 2 / there.sum()
        assert bits > rate * len(x) or np.square(found - x).sum() <= error * 1.001


@given(st.integers(0, 1000))
def test_error_never_rises_with_the_size(seed: int) -> None:
    rates = (0.05, 0.2, 0.5, 1.0, 1.5)
    for name, slack in (("sparse_ternary", 1.001), ("topk", 1.02)):
        x = spikes(seed)
        errors = [np.square(kept(x, f"{name}:target={rate}bit") - x).sum() for rate in rates]
        assert all(b <= a * slack for a, b in pairwise(errors))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("topk:keep=0", r"keep of TopK must be a part of the entries in \(0, 1\], got 0"),
        ("topk:keep=1.5", r"keep of TopK must be a part of the entries in \(0, 1\], got 1.5"),
        ("topk:keep=true", r"keep of TopK must be a part of the entries in \(0, 1\], got True"),
        ("sparse_ternary:keep=-1", r"keep of SparseTernary must be a part .*, got -1"),
        ("sparse_ternary:target=1kB,keep=1", "keep of SparseTernary must be left out"),
        ("topk:scale=0", "scale of TopK must be"),
        ("topk:target=nmse=0.5,scale=64", "target of TopK must be a size, with a scale a block"),
        ("topk:target=5", "target of TopK must be"),
        (
            "topk:keep=0.02,target=2kB",
            "keep of TopK must be left out: a target or budget sets it, got 0.02",
        ),
    ],
)
def test_what_it_refuses(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        quantizer(spec)


@pytest.mark.parametrize("name", ["topk", "sparse_ternary"])
def test_entries_of_one_bin(name: str) -> None:
    """They stay together where a part is asked for, and are parted where a size is."""
    x = np.random.default_rng(0).choice(f32([-3, 3]), 2000)
    assert (kept(x, f"{name}:keep=0.5") == x).all()
    there = kept(x, f"{name}:target=0.5bit") != 0
    assert 0 < there.mean() < 0.2


@pytest.mark.parametrize("name", ["topk", "sparse_ternary"])
def test_no_frame_is_worse_than_sending_nothing(name: str) -> None:
    chosen, x = quantizer(name), laplace(5000)
    assert chosen.error_bound(len(x)) == 1
    assert np.square(kept(x, name) - x).sum() < np.square(x).sum()
