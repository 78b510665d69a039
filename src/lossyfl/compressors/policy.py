"""Which quantizer a link uses for a vector: the same throughout, by the round, or by a budget."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lossyfl.kernels.parallel import useful_threads
from lossyfl.streams import Stream
from lossyfl.types import Quantized, Quantizer, Vector
from lossyfl.wire import frame
from lossyfl.wire.codec import quantize
from lossyfl.wire.header import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Where a frame belongs, and how to make it.

    address: for the frame's header
    rng:     the stream for this round and sender
    tensors: lengths of the model's tensors, for quantizers with a scale per tensor
    bound:   the largest norm of what the frame decodes to
    """

    address: Address
    rng: Stream
    tensors: Sequence[int] | None = None
    threads: int = 1
    bound: float = math.inf


class Policy(Protocol):
    """Makes the frames of a link."""

    @property
    def quantizers(self) -> tuple[Quantizer, ...]:
        """All that may be used."""
        ...

    @property
    def damped(self) -> bool:
        """Whether what an unbiased quantizer gives is made smaller by the variance it adds."""
        ...

    def check(self, tensors: Sequence[int], rounds: int | None = None) -> None:
        """Raise if vectors of tensors of these lengths cannot be sent in so many rounds."""
        ...

    def make(self, x: Vector, message: Message) -> tuple[Quantized, bytes]:
        """Symbols and table of `x`, and their frame."""
        ...


def quantized(x: Vector, quantizer: Quantizer, message: Message) -> Quantized:
    """Symbols and table of `x`, as the message says."""
    threads = useful_threads(message.threads, len(x))
    return quantize(x, quantizer, rng=message.rng, tensors=message.tensors, threads=threads)


def packed(made: Quantized, message: Message) -> bytes:
    """The frame of symbols and table."""
    threads = useful_threads(message.threads, len(made.symbols))
    return frame.pack(made, message.address, threads=threads)
