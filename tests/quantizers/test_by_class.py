"""Symbols by what they cost in their row and column: less error for the bytes, and nothing else changed."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.agree import natives

from lossyfl import decode, encode, inspect, quantizer, stream
from lossyfl.errors import NotFinite, OutOfReach
from lossyfl.kernels.class_cells import search_by_class
from lossyfl.kernels.native import reference
from lossyfl.quantizers import by_class, class_cells
from lossyfl.types import Shape, Vector
from lossyfl.wire.codec import ShapedQuantizer, quantize
from lossyfl.wire.frame import pack
from lossyfl.wire.header import FrameMeta
from lossyfl.wire.shapes import lengths_of
from lossyfl.wire.values import values

SHAPE = (60, 100)


def structured(seed: int, shape: tuple[int, int] = SHAPE) -> Vector:
    """A matrix of busy and idle rows and columns, some of whose rows lean."""
    rng = np.random.default_rng(seed)
    size = np.exp(1.2 * rng.normal(size=(shape[0], 1)) + 0.6 * rng.normal(size=(1, shape[1])))
    lean = rng.normal(size=(shape[0], 1)) * rng.integers(0, 2)
    return (size * (rng.laplace(size=shape) + lean)).astype(np.float32).ravel()


def nmse(x: Vector, other: Vector) -> float:
    error = other.astype(np.float64) - x
    return float(error @ error / np.square(x, dtype=np.float64).sum())


def point(x: Vector, spec: str, shapes: tuple[Shape, ...] | None) -> tuple[int, float]:
    """Bytes and error of a frame."""
    frame = encode(x, quantizer(spec), rng=stream(0), tensors=shapes)
    return len(frame), nmse(x, decode(frame))


def plain_point(x: Vector, rate: float, shapes: tuple[Shape, ...]) -> tuple[int, float]:
    """Bytes and error of symbols that take no account of classes, coded by class all the same."""
    made = quantizer(f"deadzone:target={rate}bit").quantize(x, np.array([0, len(x)]), rng=stream(0))
    coded = type(made)(
        symbols=made.symbols,
        bounds=made.bounds,
        table=made.table,
        counts=made.counts,
        tensors=shapes,
    )
    return len(pack(coded, FrameMeta())), nmse(x, values(made))


def bytes_at(error: float, points: list[tuple[int, float]]) -> float:
    """The bytes at an error, between points whose errors fall."""
    sizes, errors = np.array([size for size, _ in points]), np.array([e for _, e in points])
    return float(np.exp(np.interp(-error, -errors, np.log(sizes))))


@pytest.mark.parametrize(("rate", "most"), [(0.15, 0.97), (0.5, 0.97), (1.5, 0.97)])
def test_structured_matrices_take_fewer_bytes_at_the_same_error(rate: float, most: float) -> None:
    """On average over a few: nothing is promised of one."""
    ratios: list[float] = []
    for seed in range(6):
        x, shapes = structured(seed, (120, 150)), ((120, 150),)
        around = rate * np.array([0.7, 0.9, 1.2, 1.6, 2.2, 3.0])
        points = [plain_point(x, each, shapes) for each in around]
        size, error = point(x, f"deadzone:target={rate}bit", shapes)
        assert all(b[1] < a[1] for a, b in pairwise(points))
        assert points[-1][1] <= error <= points[0][1]
        ratios.append(size / bytes_at(error, points))
    assert np.exp(np.mean(np.log(ratios))) <= most


@pytest.mark.parametrize("rate", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("kind", ["normal", "laplace", "one"])
def test_vectors_without_structure_lose_nothing(rate: float, kind: str) -> None:
    rng = np.random.default_rng(4)
    draws = {
        "normal": rng.normal,
        "laplace": rng.laplace,
        "one": lambda size: rng.choice([-1, 1], size),
    }
    x = draws[kind](size=20_000).astype(np.float32)
    size, error = point(x, f"deadzone:target={rate}bit", ((100, 200),))
    plain, left = point(x, f"deadzone:target={rate}bit", None)
    assert size <= 1.01 * plain
    assert error <= left


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6), rate=st.floats(0.02, 4),
    tensors=st.lists(st.lists(st.integers(1, 40), max_size=3).map(tuple), min_size=1, max_size=4),
)  # fmt: skip
def test_any_shapes(seed: int, rate: float, tensors: list[tuple[int, ...]]) -> None:
    """Decoding gives what the symbols stand for, no error is above that without shapes, on any threads."""
    entries = sum(lengths_of(tensors))
    x = np.random.default_rng(seed).standard_t(2, size=entries).astype(np.float32)
    chosen = quantizer(f"deadzone:target={rate}bit")
    made = quantize(x, chosen, rng=stream(0), tensors=tensors)
    frame = encode(x, chosen, rng=stream(0), tensors=tensors)
    assert np.array_equal(decode(frame), values(made))
    assert nmse(x, values(made)) <= point(x, f"deadzone:target={rate}bit", None)[1] * (1 + 1e-6)
    assert encode(x, chosen, rng=stream(0), tensors=tensors, threads=2) == frame


@pytest.mark.parametrize("rate", [0.1, 0.3, 1.0, 2.0])
def test_bits_are_those_that_the_frame_takes(rate: float) -> None:
    x, shapes = structured(1, (300, 400)), ((300, 400),)
    size, _ = point(x, f"deadzone:target={rate}bit", shapes)
    assert 8 * size == pytest.approx(rate * len(x), rel=0.05)


@pytest.mark.parametrize("error", [0.9, 0.5, 0.1, 0.01])
def test_an_error_is_met_in_fewer_bytes(error: float) -> None:
    x, shapes = structured(2, (120, 150)), ((120, 150),)
    size, left = point(x, f"deadzone:target=nmse={error}", shapes)
    assert left <= error * (1 + 1e-6)
    assert size <= point(x, f"deadzone:target=nmse={error}", lengths_of(shapes))[0]


def test_an_error_out_of_reach_is_refused() -> None:
    with pytest.raises(OutOfReach):
        encode(
            structured(1), quantizer("deadzone:target=nmse=1e-9"), rng=stream(0), tensors=[SHAPE]
        )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(bad: float) -> None:
    x = structured(1)
    x[7] = bad
    with pytest.raises(NotFinite):
        encode(x, quantizer("deadzone"), rng=stream(0), tensors=[SHAPE])


@pytest.mark.parametrize("tensors", [[()], [(1, 1)], [(2, 3), ()], [SHAPE]])
def test_zeros_stay_zeros(tensors: list[tuple[int, ...]]) -> None:
    x = np.zeros(sum(lengths_of(tensors)), np.float32)
    assert not decode(encode(x, quantizer("deadzone"), rng=stream(0), tensors=tensors)).any()


def test_the_largest_floats() -> None:
    x = structured(3)
    x[:50] = np.finfo(np.float32).max
    assert decode(encode(x, quantizer("deadzone"), rng=stream(0), tensors=[SHAPE]))[3] > 1e37


def test_without_shapes_or_with_scales_nothing_changes() -> None:
    x, chosen = structured(1), quantizer("deadzone:target=0.5bit")
    assert isinstance(chosen, ShapedQuantizer)
    plain = chosen.quantize(x, np.array([0, len(x)]), rng=stream(0))
    for tensors in (None, [len(x)], [(len(x),)]):
        made = quantize(x, chosen, rng=stream(0), tensors=tensors)
        assert np.array_equal(made.symbols, plain.symbols)
        assert made.levels is None
    scaled = quantize(x, quantizer("deadzone:scale=500"), rng=stream(0), tensors=[SHAPE])
    assert scaled.levels is None


def test_levels_go_on_to_the_frame() -> None:
    x = structured(1)
    made = quantize(x, quantizer("deadzone:target=0.3bit"), rng=stream(0), tensors=[SHAPE])
    assert made.levels is not None
    assert [len(each) for each in made.levels] == [60, 100, 60]
    assert made.table.alphabet <= 256
    assert inspect(pack(made, FrameMeta())).coding == "classes"


def test_too_many_bins_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    x, chosen = structured(1), quantizer("deadzone:target=0.3bit")
    monkeypatch.setattr(class_cells, "MOST_BINS", 9)
    assert quantize(x, chosen, rng=stream(0), tensors=[SHAPE]).levels is None


def test_same_frames_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert natives(search_by_class)
    x, chosen = structured(5), quantizer("deadzone:target=0.3bit")
    frame = encode(x, chosen, rng=stream(0), tensors=[SHAPE])
    for name in ("search_by_class", "bin_by_class", "look_up_by_class"):
        room = by_class if name == "look_up_by_class" else class_cells
        monkeypatch.setattr(room, name, reference(getattr(room, name)))
    assert encode(x, chosen, rng=stream(0), tensors=[SHAPE]) == frame


@pytest.mark.parametrize("tensors", [[(1, 2)], [(15, 17)], [(), (3, 4), ()]])
def test_tiny_vectors_are_as_without_shapes(tensors: list[tuple[int, ...]]) -> None:
    x = structured(1)[: sum(lengths_of(tensors))]
    chosen = quantizer("deadzone:target=2bit")
    plain = encode(x, chosen, rng=stream(0))
    assert encode(x, chosen, rng=stream(0), tensors=tensors) == plain
