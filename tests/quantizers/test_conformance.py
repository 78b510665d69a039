"""What every registered quantizer must do; a new one is found here by its name."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.helpers import f32

from lossyfl import InputError, Quantizer, decode, encode, inspect, quantizer, stream
from lossyfl.quantizers import names
from lossyfl.quantizers.eden import Eden
from lossyfl.types import Vector
from lossyfl.wire.values import values
from lossyfl.wire.vectors import block_bounds

VECTORS: dict[str, Vector] = {
    "zeros": np.zeros(100, np.float32),
    "one entry": f32([-2.5]),
    "two entries": f32([1.0, -3.0]),
    "constant": np.full(1000, 0.25, np.float32),
    "one spike": np.eye(1, 500, 77, dtype=np.float32)[0],
    "laplace": np.random.default_rng(0).laplace(size=5000).astype(np.float32),
    "tiny": np.random.default_rng(1).normal(scale=1e-40, size=300).astype(np.float32),
    "huge": np.random.default_rng(2).normal(scale=1e37, size=300).astype(np.float32),
}

EDEN = "eden"
NAMES = [*names(), *(f"rotated+{name}" for name in names() if name != EDEN)]


def scales(name: str) -> list[str]:
    """All that a quantizer can have: a rotated vector has no tensors."""
    rotates = name == EDEN or name.startswith("rotated+")
    return ["model", "64"] if rotates else ["model", "tensor", "64"]


SPECS = [f"{name}:scale={scale}" for name in NAMES for scale in scales(name)]


def over(
    holds: Callable[[str, Quantizer, Vector], bool] = lambda *_: True,
) -> pytest.MarkDecorator:
    """Every quantizer on every vector for which something holds."""
    cases = [
        pytest.param(chosen, x, id=f"{label}-{spec}")
        for spec in SPECS
        for chosen in [quantizer(spec)]
        for label, x in VECTORS.items()
        if holds(spec, chosen, x)
    ]
    return pytest.mark.parametrize(("chosen", "x"), cases)


@over()
def test_frame_is_what_the_quantizer_said(chosen: Quantizer, x: Vector) -> None:
    lengths = (len(x) // 2, len(x) - len(x) // 2)
    bounds = block_bounds(chosen.scale, len(x), lengths)
    quantized = chosen.quantize(x, bounds, rng=stream(1))
    frame = encode(x, chosen, rng=stream(1), tensors=lengths)
    assert np.array_equal(decode(frame), values(quantized))
    assert np.isfinite(decode(frame)).all()


@over()
def test_same_address_same_bytes_on_any_threads(chosen: Quantizer, x: Vector) -> None:
    lengths = (len(x),)
    frames = {encode(x, chosen, rng=stream(2), tensors=lengths, threads=n) for n in (1, 2, 5)}
    assert len(frames) == 1


@over()
def test_input_is_not_changed(chosen: Quantizer, x: Vector) -> None:
    before = x.copy()
    encode(x, chosen, rng=stream(3), tensors=(len(x),))
    assert np.array_equal(x, before)


@over()
def test_counts_are_of_the_symbols_and_no_frame_exceeds_raw(chosen: Quantizer, x: Vector) -> None:
    bounds = block_bounds(chosen.scale, len(x), (len(x),))
    quantized = chosen.quantize(x, bounds, rng=stream(4))
    counts = np.bincount(quantized.symbols, minlength=quantized.table.alphabet)
    if quantized.counts is not None:
        assert np.array_equal(quantized.counts, counts)
    frame = encode(x, chosen, rng=stream(4), tensors=(len(x),))
    assert len(frame) <= 36 + 4 * len(x)
    info = inspect(frame)
    assert info.coding == "raw" or np.array_equal(info.counts, counts)


@over()
def test_nothing_that_is_not_finite(chosen: Quantizer, x: Vector) -> None:
    for wrong in (np.nan, np.inf, -np.inf):
        bad = x.copy()
        bad[len(x) // 2] = wrong
        with pytest.raises(InputError, match=rf"entry {len(x) // 2} of the vector must be finite"):
            encode(bad, chosen, rng=stream(5), tensors=(len(x),))


def promises(spec: str, chosen: Quantizer, x: Vector) -> bool:
    """EDEN's bound is that of a uniform rotation, not of Hadamard's."""
    return not spec.startswith(EDEN) and bool(x.any()) and chosen.error_bound(len(x)) is not None


@over(promises)
def test_error_is_within_its_bound_in_the_mean(chosen: Quantizer, x: Vector) -> None:
    bound = chosen.error_bound(len(x))
    assert bound is not None
    energy = float(np.square(x, dtype=np.float64).sum())
    tiny = np.abs(x).max() < 1e-37  # subnormal numbers have few digits
    errors = [
        float(np.square(decoded.astype(np.float64) - x).sum()) / energy
        for t in range(40)
        for decoded in [decode(encode(x, chosen, rng=stream(6, round=t), tensors=(len(x),)))]
    ]
    # One spike of 500 under a coarse random rounding has an error of a large spread: six deviations.
    slack = 6 * np.std(errors) / np.sqrt(len(errors)) + (0.05 if tiny else 1e-6)
    assert np.mean(errors) <= bound + slack


def looks_unbiased(spec: str, chosen: Quantizer, x: Vector) -> bool:
    """Subnormal numbers have too few digits; few entries do not look normal after Hadamard's rotation."""
    tiny = np.abs(x).max() < 1e-37
    return chosen.unbiased and not tiny and (not spec.startswith(EDEN) or len(x) >= 64)


@over(looks_unbiased)
def test_mean_is_the_vector_where_it_says_so(chosen: Quantizer, x: Vector) -> None:
    draws = 100
    total, squares = np.zeros(len(x)), 0.0
    for t in range(draws):
        frame = encode(x, chosen, rng=stream(7, round=t), tensors=(len(x),))
        error = decode(frame).astype(np.float64) - x
        total += error
        squares += float(error @ error)
    # E||mean error||^2 = E||error||^2 / draws; three times that by chance in less than one of 10^6 for
    # vectors of many entries. EDEN is unbiased only over all rotations, not over Hadamard's: a small rest.
    rest = 0.002 * float(np.square(x, dtype=np.float64).sum()) if isinstance(chosen, Eden) else 0.0
    expected = squares / draws**2
    floor = 1e-12 * float(np.square(x, dtype=np.float64).sum())
    assert float(total @ total) / draws**2 <= (3 if len(x) > 10 else 25) * expected + rest + floor
