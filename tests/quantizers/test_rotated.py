"""Any quantizer behind a rotation: what it is given, and what comes back."""

from dataclasses import replace

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import InputError, Stochastic, decode, encode, quantizer, stream
from lossyfl.quantizers.deadzone import Deadzone
from lossyfl.quantizers.eden import Eden
from lossyfl.quantizers.rotated import Rotated, Signs
from lossyfl.quantizers.sign import Sign
from lossyfl.quantizers.targets import Target

FINE = Stochastic(levels=30_000)


@pytest.mark.parametrize("signs", ["fresh", "fixed", "none"])
@pytest.mark.parametrize("entries", [1, 64, 1000])
def test_the_decoder_turns_it_back(signs: Signs, entries: int) -> None:
    x = laplace(entries)
    decoded = decode(encode(x, Rotated(inner=FINE, signs=signs), rng=stream(3)))
    assert np.linalg.norm(decoded - x) <= 1e-3 * np.linalg.norm(x)


def test_signs_are_new_in_every_frame_or_always_the_same() -> None:
    x = laplace(64)

    def turned(signs: Signs, t: int) -> bytes:
        return Rotated(inner=FINE, signs=signs).rotate(x, stream(1, round=t)).tobytes()

    assert turned("fresh", 0) != turned("fresh", 1)
    assert turned("fresh", 0) == turned("fresh", 0)
    assert turned("fixed", 0) == turned("fixed", 1) != turned("none", 0) == turned("none", 1)


def test_the_inner_quantizer_is_given_the_rotated_vector() -> None:
    """Its blocks are blocks of that, which is padded to a power of two."""
    x, chosen = laplace(1000), quantizer("rotated+sign:scale=100")
    made = chosen.quantize(x, np.array([0, 1000]), rng=stream(1))
    assert len(made.symbols) == 1024
    assert len(made.bounds) == 12
    assert made.rotation is not None
    assert made.rotation.entries == 1000
    assert np.array_equal(
        made.symbols,
        Sign(scale=100)
        .quantize(Rotated(inner=Sign()).rotate(x, stream(1)), made.bounds, rng=stream(1))
        .symbols,
    )


def test_one_large_entry_is_spread() -> None:
    """On the entries as they are, a single scale leaves most of the small ones nothing."""
    x = laplace(4096)
    x[5] = 500
    errors = [
        float(np.square(decode(encode(x, each, rng=stream(0))) - x).sum())
        for each in (Stochastic(levels=4), Rotated(inner=Stochastic(levels=4)))
    ]
    assert errors[1] < errors[0] / 4


def test_it_is_as_unbiased_as_the_inner_quantizer() -> None:
    assert Rotated(inner=FINE).unbiased
    assert not Rotated(inner=Sign()).unbiased


def test_bounds_and_bits_are_those_of_the_padded_vector() -> None:
    inner = Stochastic(levels=4)
    assert Rotated(inner=inner).error_bound(1000) == inner.error_bound(1024)
    assert Rotated(inner=inner).nominal_bits(1000, 1) == inner.nominal_bits(1024, 1)


@pytest.mark.parametrize("signs", ["fresh", "fixed", "none"])
def test_a_target_is_the_inner_ones_and_the_signs_stay(signs: Signs) -> None:
    chosen = Rotated(inner=Deadzone(), signs=signs)
    assert chosen.with_target(Target(nmse=0.5)) == replace(
        chosen, inner=Deadzone(target="nmse=0.5")
    )
    with pytest.raises(InputError, match=r"one whose size can be set: .*, got sign"):
        Rotated(inner=Sign(), signs=signs).with_target(Target(rate=1))


@pytest.mark.parametrize("inner", [Eden(), Rotated(inner=Sign())])
def test_what_rotates_by_itself_is_refused(inner: Eden | Rotated) -> None:
    with pytest.raises(InputError, match="inner of Rotated must be one that does not rotate"):
        Rotated(inner=inner)


def test_what_else_it_refuses() -> None:
    with pytest.raises(InputError, match=r"signs of a rotation must be .*did you mean fresh"):
        Rotated(inner=Sign(), signs="fresch")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"scale of Rotated must be .* has no tensors"):
        Rotated(inner=Sign(scale="tensor"))
    with pytest.raises(InputError, match="entry 1 of the vector must be finite"):
        encode(np.array([1, np.nan], np.float32), Rotated(inner=Sign()), rng=stream(0))
