"""The golden frames: name, input, quantizer. Inputs are made of stream bits by exact arithmetic."""

from dataclasses import dataclass

import numpy as np

from lossyfl import (
    Codebook,
    FrameMeta,
    Kind,
    Quantized,
    Quantizer,
    Rotated,
    Stochastic,
    Stream,
    quantizer,
    stream,
)
from lossyfl.types import Bounds, Scale, Shape, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """A quantizer with a codebook: the sign, with the mean magnitude of the block."""

    scale: Scale = "model"
    unbiased = False
    errors_grow = False

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        del rng, threads
        mean = np.add.reduceat(np.abs(x), bounds[:-1]) / np.diff(bounds).astype(np.float32)
        table = Codebook(values=np.stack([-mean, mean], axis=1).astype(np.float32))
        return Quantized(symbols=(x >= 0).astype(np.uint8), bounds=bounds, table=table)

    def error_bound(self, entries: int) -> None:
        del entries

    def nominal_bits(self, entries: int, blocks: int) -> float:
        return 32 * blocks + entries


@dataclass(frozen=True, slots=True, kw_only=True)
class Unshaped:
    """A quantizer that takes no account of shapes, even if it could."""

    inner: Quantizer
    scale: Scale = "model"
    unbiased = False
    errors_grow = False

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        return self.inner.quantize(x, bounds, rng=rng, threads=threads)

    def error_bound(self, entries: int) -> None:
        del entries

    def nominal_bits(self, entries: int, blocks: int) -> float:
        return self.inner.nominal_bits(entries, blocks)


PLAIN = FrameMeta()


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`power` 1 gives uniform magnitudes, more gives sparser symbols; `zero` puts a zero in.

    busy:    in each row of so many entries a third is idle, and what is busy has one sign in every second row
    written: whether frames are still made so; those that an encoder no longer chooses are only read
    """

    name: str
    entries: int
    quantizer: Quantizer
    power: int = 3
    zero: bool = True
    tensors: tuple[Shape, ...] | None = None
    busy: int = 0
    meta: FrameMeta = PLAIN
    written: bool = True

    def vector(self) -> Vector:
        bits = stream(2020, purpose="golden").bits(0, self.entries)
        unit = bits.view(np.int32).astype(np.float32) / np.float32(2**31)
        x = np.ones_like(unit)
        for _ in range(self.power):
            x *= unit
        if self.busy:
            place = np.arange(self.entries)
            row, column = place // self.busy, place % self.busy
            x[(column % 3 == 0) | (row % 5 == 0)] *= np.float32(1 / 64)
            x = np.where(row % 2, np.abs(x), x)
        if self.zero:
            x[0] = 0
        return x


CASES = (
    Case(name="raw", entries=2, quantizer=Stochastic(levels=5), zero=False),
    Case(name="radix", entries=10, quantizer=Stochastic(levels=2)),
    Case(name="one-symbol", entries=1000, quantizer=Stochastic(levels=2), power=0, zero=False),
    Case(name="ternary", entries=3001, quantizer=Stochastic(levels=1)),
    Case(name="paper-q2", entries=5000, quantizer=Stochastic(levels=2)),
    Case(name="paper-q2-sign-of-zero", entries=5000, quantizer=Stochastic(levels=2), zero=False),
    Case(name="paper-q5", entries=4097, quantizer=Stochastic(levels=5)),
    Case(name="q50", entries=4000, quantizer=Stochastic(levels=50)),
    Case(name="wide-q1000", entries=20_000, quantizer=Stochastic(levels=1000)),
    Case(name="equal-frequencies", entries=2500, quantizer=Stochastic(levels=400), power=1),
    Case(name="sparse", entries=30_000, quantizer=Stochastic(levels=2), power=40),
    Case(name="segments", entries=150_000, quantizer=Stochastic(levels=1), power=2),
    Case(name="blocks", entries=3000, quantizer=Stochastic(levels=2, scale=256)),
    Case(
        name="tensors",
        entries=3000,
        quantizer=Stochastic(levels=3, scale="tensor"),
        tensors=(100, 1, 2399, 500),
    ),
    Case(name="rotated", entries=1500, quantizer=Rotated(inner=Stochastic(levels=50))),
    Case(
        name="rotated-without-signs",
        entries=1500,
        quantizer=Rotated(inner=Stochastic(levels=50), signs="none"),
    ),
    Case(name="scaled", entries=3000, quantizer=quantizer("deadzone:target=1bit,scale=256")),
    Case(name="dithered", entries=2001, quantizer=quantizer("dithered:step=1,scale=500")),
    Case(name="rotated-dithered", entries=700, quantizer=quantizer("rotated+dithered:step=0.5")),
    Case(name="deadzone", entries=4000, quantizer=quantizer("deadzone:target=0.5bit")),
    Case(name="eden", entries=1500, quantizer=quantizer("eden:bits=2")),
    Case(name="natural", entries=1500, quantizer=quantizer("natural")),
    Case(name="codebook", entries=999, quantizer=Sign(scale=333)),
    Case(
        name="address",
        entries=100,
        quantizer=Stochastic(levels=2),
        meta=FrameMeta(kind=Kind.REPLY, round=70_000, digest=0x0123456789ABCDEF),
    ),
    Case(
        name="predicted",
        entries=4000,
        quantizer=quantizer("deadzone:target=0.5bit"),
        meta=FrameMeta(kind=Kind.UPDATE, round=7, digest=0x0123456789ABCDEF, gain=105),
    ),
    Case(
        name="classes",
        entries=6060,
        quantizer=Unshaped(inner=quantizer("deadzone:target=0.5bit")),
        tensors=((60, 100), (60,)),
        busy=100,
    ),
    Case(
        name="classes-by-cost",
        entries=6060,
        quantizer=quantizer("deadzone:target=0.5bit"),
        tensors=((60, 100), (60,)),
        busy=100,
        written=False,
    ),
    Case(
        name="classes-by-cost-in-turns",
        entries=6060,
        quantizer=quantizer("deadzone:target=0.5bit"),
        tensors=((60, 100), (60,)),
        busy=100,
    ),
    Case(
        name="classes-segments",
        entries=200_000,
        quantizer=Stochastic(levels=5, scale=1000),
        power=2,
        tensors=((200, 100, 5, 2),),
        busy=1000,
        meta=FrameMeta(kind=Kind.UPDATE, round=7, digest=0x0123456789ABCDEF, gain=105),
    ),
    Case(
        name="merged",
        entries=4000,
        quantizer=quantizer("deadzone:target=0.5bit"),
        meta=FrameMeta(
            kind=Kind.MERGED,
            round=70_000,
            digest=0x0123456789ABCDEF,
            since=69_991,
            result=2**64 - 2,
        ),
    ),
    Case(
        name="trend",
        entries=2,
        quantizer=Stochastic(levels=5),
        zero=False,
        meta=FrameMeta(kind=Kind.TREND, round=7, digest=0x0123456789ABCDEF),
    ),
)
