"""Values on a grid: near enough, multiples of a power of two, and the bytes as before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32, laplace

from lossyfl import FrameMeta, InputError, Quantized, UniformTable, decode, quantizer, stream
from lossyfl.compressors import Rounded, Schedule, SendContext, Snapped
from lossyfl.compressors.snapped import EXACT, MORE, nearest_power, power_above, snapped
from lossyfl.types import Codebook
from lossyfl.wire.grid import MOST, step_of
from lossyfl.wire.values import values
from lossyfl.wire.vectors import nmse

CONTEXT = SendContext(meta=FrameMeta(), rng=stream(1))
ALL = np.array([0, 3], dtype=np.int64)


def book(*row: float) -> Quantized:
    symbols = np.arange(len(row), dtype=np.uint8)
    bounds = np.array([0, len(row)], dtype=np.int64)
    return Quantized(symbols=symbols, bounds=bounds, table=Codebook(values=f32(row)[None]))


@given(st.floats(2.0**-140, 2.0**120))
def test_nearest_power(x: float) -> None:
    power = nearest_power(x)
    assert np.frexp(power)[0] == 0.5
    assert 0.75 * power <= x * (1 + 1e-12)
    assert x < 1.5 * power * (1 + 1e-12)


@given(st.floats(2.0**-126, 2.0**120, width=32))
def test_power_above(x: float) -> None:
    power = power_above(f32([-x, 0]))
    assert power / 2 < x <= power


class TestSnapped:
    def test_the_smallest_magnitude_is_the_step(self) -> None:
        table = snapped(book(-2.6, -1.1, 0, 0.9, 2.4)).table
        assert table.rows(0, 1)[0].tolist() == [-3, -1, 0, 1, 2]

    @given(st.lists(st.floats(2.0**-60, 2.0**60, width=32), min_size=1, max_size=9))
    def test_no_value_is_off_by_more_than_a_third(self, row: list[float]) -> None:
        near = snapped(book(0, *row)).table.rows(0, 1)[0, 1:]
        assert (np.abs(near - f32(row)) <= f32(row) / 3 * (1 + 1e-6)).all()
        assert step_of(near) >= nearest_power(min(row))

    def test_what_is_on_a_grid_stays(self) -> None:
        dyadic = quantizer("dyadic:levels=5,scale=100").quantize(
            laplace(300), np.array([0, 100, 200, 300]), rng=stream(0)
        )
        assert snapped(dyadic, least=2.0**10).table is dyadic.table  # it is right in the mean
        once = snapped(book(-2.6, 0, 0.9))
        assert snapped(once).table.rows(0, 1).tobytes() == once.table.rows(0, 1).tobytes()

    def test_a_least_step(self) -> None:
        row = snapped(book(-5, -1, 0, 1, 3.1), least=4).table.rows(0, 1)[0]
        assert row.tolist() == [-4, 0, 0, 0, 4]
        assert not np.signbit(row[1])

    @pytest.mark.parametrize(
        "spec", ["deadzone:target=0.2bit", "deadzone:target=3bit", "qsgd", "topk"]
    )
    def test_hardly_more_error_than_without(self, spec: str) -> None:
        for seed in range(5):
            x = laplace(4000, seed)
            made = quantizer(spec).quantize(x, np.array([0, 4000]), rng=stream(0))
            near = snapped(made, x)
            assert near.symbols is made.symbols
            assert nmse(x, values(near)) <= MORE * nmse(x, values(made)) + 1e-6

    def test_even_steps_stay_even(self) -> None:
        table = UniformTable(low=f32([0]), high=f32([3.3]), alphabet=7)
        made = Quantized(symbols=np.zeros(3, np.uint8), bounds=ALL, table=table)
        assert snapped(made).table.rows(0, 1)[0].tolist() == [-3, -2, -1, 0, 1, 2, 3]

    def test_zeros_stay(self) -> None:
        assert not snapped(book(0, 0)).table.rows(0, 1).any()

    @pytest.mark.parametrize(
        ("spec", "why"),
        [
            ("dithered", "one with dither"), ("eden", "one with a rotation"), ("rotated+sign", "a rotation"),
            ("stochastic:levels=3", "another kind of table"), ("qsgd:scale=100", "another kind of table"),
        ],
    )  # fmt: skip
    def test_what_has_no_grid_is_refused(self, spec: str, why: str) -> None:
        chosen = quantizer(spec)
        bounds = np.array([0, 100, 256] if chosen.scale == 100 else [0, 256], dtype=np.int64)
        made = chosen.quantize(laplace(256), bounds, rng=stream(0))
        with pytest.raises(InputError, match=rf"quantizer of grid must be .* got .*{why}"):
            snapped(made)


def test_symbols_and_bytes_are_those_of_the_inner_compressor() -> None:
    x = laplace(5000)
    inner = Schedule.constant(quantizer("deadzone:target=0.5bit"))
    (plain, before), (made, after) = (
        each.make(x, CONTEXT) for each in (inner, Snapped(inner=inner))
    )
    assert made.symbols.tobytes() == plain.symbols.tobytes()
    assert len(after) == len(before)
    assert step_of(decode(after)) >= 0.25


class TestRounded:
    def test_an_exact_vector_goes_to_the_nearest_point(self) -> None:
        x = laplace(5000)
        _, frame = Rounded().make(x, CONTEXT)
        near, step = decode(frame), EXACT * power_above(x)
        assert step_of(near) == step
        assert np.abs(near - x).max() <= step / 2
        assert not np.signbit(near[near == 0]).any()
        assert len(frame) < 2 * len(x)

    @pytest.mark.parametrize(
        "entries", [[0, -0.0], [2.0**-149, 0], [1], [-1, 2.0**-20], [2.0**100]]
    )
    def test_the_ends_of_floats(self, entries: list[float]) -> None:
        made, frame = Rounded().make(f32(entries), CONTEXT)
        assert np.abs(decode(frame)).max() <= MOST * 2.0**87
        assert made.table.blocks == 1
