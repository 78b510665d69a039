"""What every compressor is made of, and one from outside the package."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import FrameMeta, InputError, Kind, Stochastic, decode, encode, inspect, stream
from lossyfl.compressors import Compressor, Damped, Schedule, SendContext, VarianceGuard
from lossyfl.compressors.base import packed, quantized
from lossyfl.compressors.budgeted import budgeted
from lossyfl.links import ErrorFeedback
from lossyfl.quantizers.deadzone import Deadzone
from lossyfl.types import Quantized, Quantizer, Shape, Vector

BY_TENSOR = Stochastic(levels=3, scale="tensor")


def context(threads: int = 1) -> SendContext:
    meta = FrameMeta(kind=Kind.REPLY, round=7)
    return SendContext(meta=meta, rng=stream(1), tensors=(1000, 2000), threads=threads)


def test_a_frame_is_made_as_the_context_says() -> None:
    x = laplace(3000)
    made = quantized(x, BY_TENSOR, context())
    data = packed(made, context())
    assert made.bounds.tolist() == [0, 1000, 3000]
    expected = encode(x, BY_TENSOR, rng=stream(1), tensors=(1000, 2000), meta=context().meta)
    assert data == expected
    assert (inspect(data).kind, inspect(data).round) == ("reply", 7)


def test_threads_change_no_byte() -> None:
    x = laplace(3000)
    one, many = (packed(quantized(x, BY_TENSOR, each), each) for each in (context(), context(5)))
    assert one == many


@pytest.mark.parametrize("wrapper", [Damped, VarianceGuard])
def test_a_wrapper_has_the_inner_quantizers_and_checks(
    wrapper: type[Damped] | type[VarianceGuard],
) -> None:
    outer = wrapper(inner=budgeted("600B/3rounds", Deadzone(), of="mine"))
    assert outer.quantizers == (Deadzone(),)
    outer.check([5000], 3)
    with pytest.raises(InputError, match="budget of mine must be for as many rounds"):
        outer.check([5000], 4)
    with pytest.raises(InputError, match="budget of mine must be between"):
        outer.check([20])


@dataclass(frozen=True, slots=True)
class Halved:
    """A compressor of somebody else's: half of the vector per round, the even rounds the first."""

    quantizers: tuple[Quantizer, ...] = (Stochastic(levels=30_000),)
    damped: bool = False

    def check(self, tensors: Sequence[Shape], rounds: int | None = None) -> None:
        del tensors, rounds

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        part = np.zeros_like(x)
        part[context.meta.round % 2 :: 2] = x[context.meta.round % 2 :: 2]
        made = quantized(part, self.quantizers[0], context)
        return made, packed(made, context)


@pytest.mark.parametrize(
    "compressor", [Halved(), Damped(inner=Halved()), VarianceGuard(inner=Halved())]
)
def test_one_from_outside_the_package(compressor: Compressor) -> None:
    """With kept errors all arrives in two rounds."""
    link, x = ErrorFeedback(compressor=compressor), laplace(3000)
    state, total = link.init(x), np.zeros_like(x)
    for t, update in enumerate((x, np.zeros_like(x))):
        note = SendContext(meta=FrameMeta(kind=Kind.REPLY, round=t), rng=stream(1, round=t))
        sent = link.send(update, state, note)
        state = sent.state
        total += decode(sent.frame)
    assert np.linalg.norm(total - x) < 1e-3 * np.linalg.norm(x)


def test_a_schedule_checks_nothing() -> None:
    Schedule.constant(BY_TENSOR).check([1, 2], 3)
