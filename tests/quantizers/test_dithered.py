"""Subtractive dither to a target: the step is found from bins, and what was drawn keeps to it."""

import numpy as np
import pytest

from lossyfl import FrameMeta, InputError, decode, encode, quantizer, stream
from lossyfl.compressors import SendContext
from lossyfl.compressors.budgeted import budgeted
from lossyfl.quantizers.dithered import size
from lossyfl.types import Vector
from lossyfl.wire.vectors import block_bounds


def vector(kind: str, entries: int) -> Vector:
    rng = np.random.default_rng(5)
    made = {
        "laplace": rng.laplace(size=entries),
        "spike": np.append(1e-6 * rng.normal(size=entries - 1), 1.0),
        "zeros": np.zeros(entries),
        "tiny": 1e-42 * rng.normal(size=entries),
        "steps": rng.integers(-2, 3, size=entries),
    }
    return made[kind].astype(np.float32)


@pytest.mark.parametrize("kind", ["laplace", "spike", "zeros", "tiny", "steps"])
@pytest.mark.parametrize("entries", [1000, 100_000])
@pytest.mark.parametrize("rate", [0.25, 1.0, 4.0])
def test_symbols_and_tables_keep_to_the_target(kind: str, entries: int, rate: float) -> None:
    x = vector(kind, entries)
    quantize = quantizer(f"dithered:target={rate}bit").quantize
    made = quantize(x, np.array([0, entries]), rng=stream(2))
    assert made.counts is not None
    assert np.array_equal(made.counts, np.bincount(made.symbols, minlength=made.table.alphabet))
    assert size(made) <= rate * entries


@pytest.mark.parametrize("text", ["1B", "5B", "6B"])
@pytest.mark.parametrize("kind", ["laplace", "spike", "zeros"])
def test_what_cannot_be_is_as_coarse_as_it_gets(text: str, kind: str) -> None:
    x = vector(kind, 1000)
    made = quantizer(f"dithered:target={text}").quantize(x, np.array([0, len(x)]), rng=stream(2))
    assert len(made.symbols) == 1000


@pytest.mark.parametrize("value", [0.0, 1.0, -1e-40])
def test_one_entry(value: float) -> None:
    x = np.array([value], dtype=np.float32)
    made = quantizer("dithered:target=1bit").quantize(x, np.array([0, 1]), rng=stream(2))
    assert len(made.symbols) == 1


def test_more_blocks_than_bits() -> None:
    x = vector("laplace", 1000)
    made = quantizer("dithered:target=1bit,scale=16").quantize(
        x, block_bounds(16, 1000, None), rng=stream(2)
    )
    assert len(made.symbols) == 1000


def test_a_small_budget_for_a_long_vector() -> None:
    x = vector("laplace", 1_000_000)
    compressor = budgeted("1kB", quantizer("dithered"))
    _, frame = compressor.make(x, SendContext(meta=FrameMeta(), rng=stream(0)))
    assert 0.97 * 1000 <= len(frame) <= 1000


@pytest.mark.parametrize("factor", [1e-37, 1e-39, 1e30])
def test_the_error_does_not_depend_on_the_unit(factor: float) -> None:
    x = (factor * np.random.default_rng(1).normal(size=3000)).astype(np.float32)
    frame = encode(x, quantizer("dithered:target=4bit"), rng=stream(0))
    wide = x.astype(np.float64)
    error = decode(frame).astype(np.float64) - wide
    assert error @ error / (wide @ wide) < 0.01


def test_tiny_blocks_cost_the_others_nothing() -> None:
    rng = np.random.default_rng(1)
    usual, tiny = rng.normal(size=20_000), 1e-38 * rng.normal(size=20_000)
    x = np.concatenate([usual, tiny]).astype(np.float32)
    quantize = quantizer("dithered:target=4bit,scale=tensor")
    frame = encode(x, quantize, rng=stream(0), tensors=(20_000, 20_000))
    error = decode(frame)[:20_000].astype(np.float64) - x[:20_000]
    assert error @ error / 20_000 < 0.01


@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_the_target_is_used(rate: float) -> None:
    x = vector("laplace", 100_000)
    made = quantizer(f"dithered:target={rate}bit").quantize(x, np.array([0, len(x)]), rng=stream(2))
    assert size(made) >= 0.98 * rate * len(x)


def test_threads_change_nothing() -> None:
    x = vector("laplace", 300_000)
    one, two = (
        quantizer("dithered:target=1bit").quantize(
            x, np.array([0, 100_001, len(x)]), rng=stream(2), threads=threads
        )
        for threads in (1, 2)
    )
    assert np.array_equal(one.symbols, two.symbols)
    assert one.counts is not None
    assert two.counts is not None
    assert np.array_equal(one.counts, two.counts)


def test_entries_too_large_for_a_step_more() -> None:
    x = vector("laplace", 100)
    x *= np.float32(1e38) / np.abs(x).max()
    with pytest.raises(
        InputError, match="entries of Dithered must be small enough for a step more"
    ):
        encode(x, quantizer("dithered:step=20"), rng=stream(0))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("step=0", "step of Dithered must be a number above 0, got 0"),
        ("step=wide", "step of Dithered must be a number above 0, got wide"),
        ("step=2,target=2kB", "step of Dithered must be left out: a target or budget sets it"),
        ("target=2KB", 'target of Dithered must be .*did you mean "2kB"'),
    ],
)
def test_what_it_refuses(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        quantizer(f"dithered:{spec}")
