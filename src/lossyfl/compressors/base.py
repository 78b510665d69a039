"""What a compressor is: it decides, per round, which quantizer makes the frame of a link."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lossyfl.kernels.parallel import useful_threads
from lossyfl.streams import Stream
from lossyfl.types import Quantized, Quantizer, Shape, Vector
from lossyfl.wire import frame
from lossyfl.wire.codec import quantize
from lossyfl.wire.header import FrameMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class SendContext:
    """Where a frame belongs, and how to make it.

    meta:    what the frame's header says: kind, round, digest
    rng:     the stream for this round and sender
    tensors: shapes of the model's tensors, which make frames shorter; lengths do for a scale per tensor
    bound:   the largest norm of what the frame decodes to
    """

    meta: FrameMeta
    rng: Stream
    tensors: Sequence[Shape] | None = None
    threads: int = 1
    bound: float = math.inf


class Compressor(Protocol):
    """Makes the frames of a link."""

    @property
    def quantizers(self) -> tuple[Quantizer, ...]:
        """All that may be used."""
        ...

    @property
    def damped(self) -> bool:
        """Whether what an unbiased quantizer gives is made smaller by the variance it adds."""
        ...

    def check(self, tensors: Sequence[Shape], rounds: int | None = None) -> None:
        """Raise if vectors of tensors of these shapes cannot be sent in so many rounds."""
        ...

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """Symbols and table of `x`, and their frame."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AbstractWrapper:
    """A compressor that changes, or refuses, what another one makes."""

    inner: Compressor

    @property
    def quantizers(self) -> tuple[Quantizer, ...]:
        """Those of the inner compressor."""
        return self.inner.quantizers

    def check(self, tensors: Sequence[Shape], rounds: int | None = None) -> None:
        """As the inner compressor does."""
        self.inner.check(tensors, rounds)


def quantized(x: Vector, quantizer: Quantizer, context: SendContext) -> Quantized:
    """Symbols and table of `x`, as the context says."""
    threads = useful_threads(context.threads, len(x))
    return quantize(x, quantizer, rng=context.rng, tensors=context.tensors, threads=threads)


def packed(made: Quantized, context: SendContext) -> bytes:
    """The frame of symbols and table."""
    threads = useful_threads(context.threads, len(made.symbols))
    return frame.pack(made, context.meta, threads=threads)
