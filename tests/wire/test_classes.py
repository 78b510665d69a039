"""Symbols coded by class: shorter where rows and columns differ, never longer, refused when wrong."""

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.golden.cases import Unshaped
from tests.helpers import seal

from lossyfl import FrameError, InputError, decode, encode, inspect, quantizer, stream
from lossyfl.types import Shape, UniformTable, Vector
from lossyfl.wire import class_side, frame
from lossyfl.wire.adding import open_addend
from lossyfl.wire.codec import quantize
from lossyfl.wire.facts import facts
from lossyfl.wire.header import Coding, FrameMeta
from lossyfl.wire.numbers import Writer
from lossyfl.wire.shapes import lengths_of
from lossyfl.wire.tables import varint

NETWORK: tuple[Shape, ...] = ((16, 3, 3, 3), (16,), (24, 16, 3, 3), (24,), 100, (10, 384), ())
SPECS = (
    "deadzone:target=0.3bit", "deadzone:target=1bit,scale=tensor", "deadzone:target=1bit,scale=256",
    "stochastic:levels=20", "dithered", "natural", "topk:keep=0.02",
)  # fmt: skip


def structured(tensors: tuple[Shape, ...] = NETWORK, seed: int = 1) -> Vector:
    """A vector of tensors with busy and idle rows and columns, whose rows lean."""
    rng, parts = np.random.default_rng(seed), list[np.ndarray]()
    for each in tensors:
        shape = (1, 1, each) if isinstance(each, int) else (*each, 1, 1)
        rows, columns = rng.normal(size=(shape[0], 1)), rng.normal(size=(1, shape[1]))
        size = np.exp(1.5 * (rows + columns)).reshape(shape[0], shape[1], 1)
        values = rng.normal(size=(shape[0], shape[1], int(np.prod(shape[2:]))))
        parts.append((size * (values + rng.normal(size=(shape[0], 1, 1)))).ravel())
    return np.concatenate(parts).astype(np.float32)


def both(x: Vector, spec: str, tensors: tuple[Shape, ...], threads: int = 1) -> tuple[bytes, bytes]:
    """The frame without shapes, and with them, of the same symbols."""
    made = quantizer(spec)
    made = made if made.scale != "model" else Unshaped(inner=made)
    plain = encode(x, made, rng=stream(0), tensors=lengths_of(tensors), threads=threads)
    return plain, encode(x, made, rng=stream(0), tensors=tensors, threads=threads)


@pytest.mark.parametrize("spec", SPECS)
def test_same_symbols_in_fewer_bytes(spec: str) -> None:
    plain, classed = both(structured(), spec, NETWORK)
    assert inspect(classed).coding == "classes"
    assert inspect(classed).version == 5
    assert len(classed) < len(plain)
    assert np.array_equal(decode(classed), decode(plain))


@pytest.mark.parametrize("spec", SPECS)
def test_noise_is_coded_as_without_shapes(spec: str) -> None:
    x = np.random.default_rng(1).normal(size=sum(lengths_of(NETWORK))).astype(np.float32)
    plain, classed = both(x, spec, NETWORK)
    assert len(classed) <= len(plain)
    assert np.array_equal(decode(classed), decode(plain))


@given(
    seed=st.integers(0, 10**6), spec=st.sampled_from(SPECS),
    tensors=st.lists(st.lists(st.integers(1, 12), max_size=4).map(tuple), min_size=1, max_size=5),
)  # fmt: skip
def test_any_shapes_round_trip_and_lengthen_no_frame(
    seed: int, spec: str, tensors: list[tuple[int, ...]]
) -> None:
    x = structured(tuple(tensors), seed)
    plain, classed = both(x, spec, tuple(tensors))
    assert len(classed) <= len(plain)
    assert np.array_equal(decode(classed), decode(plain))


@pytest.mark.parametrize("threads", [1, 2])
def test_segments_and_threads_change_no_byte(threads: int) -> None:
    tensors: tuple[Shape, ...] = ((700, 400), (700,))
    plain, classed = both(structured(tensors), "deadzone:target=1bit", tensors)
    assert inspect(classed).segments > 1
    assert both(structured(tensors), "deadzone:target=1bit", tensors, threads=threads)[1] == classed
    assert np.array_equal(decode(classed, threads=threads), decode(plain))


def test_rotated_vectors_have_no_rows() -> None:
    plain, classed = both(structured(), "rotated+stochastic:levels=3", NETWORK)
    assert plain == classed


def test_inspect_tells_classes_and_both_entropies() -> None:
    plain, classed = map(inspect, both(structured(), "deadzone:target=1bit", NETWORK))
    assert classed.counts == plain.counts
    assert classed.entropy_bits == plain.entropy_bits == plain.class_entropy_bits
    assert classed.class_entropy_bits < classed.entropy_bits
    assert classed.classes > 1
    assert 0 < classed.side_bytes < classed.nbytes
    assert (plain.classes, plain.side_bytes, classed.letters) == (0, 0, 0)
    assert 8 * classed.nbytes > classed.class_entropy_bits


def test_frames_are_added_as_they_decode() -> None:
    for spec in SPECS:
        _, classed = both(structured(), spec, NETWORK)
        total = np.zeros(sum(lengths_of(NETWORK)), np.float32)
        open_addend(classed).terms.add_to(total, 1.0)
        assert np.array_equal(total, decode(classed))
        assert facts(classed).entropy_bits < 8 * len(classed)


@pytest.mark.parametrize("tensors", [[(4, 5)], [(40, 50), 1], [(-40, 50)]])
def test_shapes_that_do_not_fit_are_refused(tensors: list[Shape]) -> None:
    with pytest.raises(InputError, match="tensors of encode"):
        encode(structured(((40, 50),)), quantizer("natural"), rng=stream(0), tensors=tensors)


def made_by_hand(numbers: list[tuple[int, list[int]]], rest: bytes = b"\1\0" + bytes(16)) -> bytes:
    """A frame of version 5 with such side information, of 1,000 entries of three symbols."""
    writer = Writer()
    for family, values in numbers:
        writer.add(family, values)
    side = writer.data()
    code = Coding.CLASSES | UniformTable.form << 4
    head = struct.pack("<3sBBBHQIIQBf", b"LFL", 5, 0, code, 2, 1000, 0, 0, 0, 0, 1.0)
    return seal(head + varint(len(side)) + side + rest)


MATRIX = [(class_side.SHAPES, [1, 9]), (class_side.COLUMNS_OF, [9]), (class_side.RUNS, [9])]
FLAT = [
    *MATRIX,
    (class_side.ROWS, [0] * 10),
    (class_side.COLUMNS, [0] * 10),
    (class_side.LEAN, [0] * 10),
]
ONE_CLASS = [*FLAT, (class_side.CUTS, [4]), (class_side.GROUPS, [1])]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([(class_side.SHAPES, [2**38])], "a number of tensors"),
        ([(class_side.SHAPES, [1, 2**39]), *MATRIX[1:]], "shapes of tensors"),
        ([(class_side.SHAPES, [1, 9]), (class_side.COLUMNS_OF, [-10]), MATRIX[2]], "shapes of tensors"),
        ([*MATRIX, (class_side.ROWS, [8] + [0] * 9)], "levels below"),
        ([*MATRIX, (class_side.ROWS, [2**39] * 10)], "levels below"),
        ([*FLAT[:-1], (class_side.LEAN, [3] + [0] * 9)], "leans of at most"),
        ([*FLAT, (class_side.CUTS, [5])], "classes of keys"),
        ([*FLAT, (class_side.CUTS, [4]), (class_side.GROUPS, [9])], "numbers of classes"),
        ([*ONE_CLASS, (class_side.COMMONEST, [2])], "numbers of classes"),
        (
            [*ONE_CLASS, (class_side.COMMONEST, [0]), (class_side.TABLES, [2**30, 0])],
            "tables of counts that sum up",
        ),
        (FLAT, "side information"),
    ],
)  # fmt: skip
def test_hostile_side_information_is_refused_before_anything_large_is_made(
    numbers: list[tuple[int, list[int]]], expected: str
) -> None:
    data = made_by_hand(numbers)
    tracemalloc.start()
    try:
        with pytest.raises(FrameError, match=expected):
            decode(data)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_every_changed_byte_is_refused_or_read() -> None:
    """With a right checksum: anything but FrameError, or floats that are not finite, would be raised here."""
    _, classed = both(structured(((20, 30), (20,))), "deadzone:target=1bit", ((20, 30), (20,)))
    for at in range(33, len(classed) - 4):
        wrong = bytearray(classed[:-4])
        wrong[at] ^= 1 << at % 8
        try:
            assert np.isfinite(decode(seal(bytes(wrong)))).all()
        except FrameError:
            continue


def test_vectors_beyond_bytes_have_no_classes() -> None:
    x = structured()
    made = quantize(x, quantizer("stochastic:levels=300"), rng=stream(0), tensors=NETWORK)
    assert made.table.alphabet > 256
    assert inspect(frame.pack(made, FrameMeta())).coding != "classes"
