"""Symbols of the grammar by class, docs/adr/0009-class-coded-frames.md, with faults among them.

Written from the document; the numbers' adaptive bits and the frequencies of letters come from the package,
whose arithmetic is part of the format.
"""

import struct
from itertools import pairwise

import numpy as np
from tests.fuzz.choices import Choices
from tests.fuzz.coding import NARROW, push, to_letters, varint, written

from lossyfl.kernels.class_tables import count_at, nearest_place
from lossyfl.wire.model import build
from lossyfl.wire.numbers import Writer

SHAPES, COLUMNS_OF, RUNS, ROWS, COLUMNS, LEANS, CUTS, GROUPS, COMMONEST, TABLES = range(10)
MATRICES = ((4, 4, 2), (8, 8, 1), (3, 5, 9), (2, 6, 4), (1, 8, 5), (16, 1, 5))


def classed(symbols: list[int], alphabet: int, choices: Choices) -> bytes:
    """Side information, segments, lengths of segments, segments."""
    rng, writer = choices.rng, Writer()
    shapes = _shapes(len(symbols), choices)
    keys, turned = _levels(shapes, writer, choices)
    order = sorted(range(len(symbols)), key=lambda i: keys[i])
    keyed = [alphabet - 1 - symbols[i] if turned[i] else symbols[i] for i in order]
    parts = _classes([keys[i] for i in order], keyed, writer, choices)
    letters, frequencies, starts = _tables(parts, alphabet, writer, choices)
    side = writer.data()
    if choices.wrong("side"):
        at = rng.randrange(len(side))
        side = rng.choice(
            (side[:at], side + b"\1", side[:at] + bytes([rng.randrange(256)]) + side[at + 1 :])
        )
    length = rng.choice((0, len(side) + 1, 1 << 40)) if choices.wrong("side length") else len(side)
    return varint(length) + side + _segments(letters, frequencies, starts, choices)


def _shapes(entries: int, choices: Choices) -> list[tuple[int, int, int]]:
    """Tensors that fill the vector: matrices that are worth it, and what is left in single rows."""
    found: list[tuple[int, int, int]] = []
    left = entries
    while left:
        shape = choices.rng.choice(MATRICES)
        size = shape[0] * shape[1] * shape[2]
        if size > left:
            shape = (1, 1, choices.rng.choice((left, choices.rng.randint(1, left))))
            size = shape[2]
        found.append(shape)
        left -= size
    return found


def _levels(
    shapes: list[tuple[int, int, int]], writer: Writer, choices: Choices
) -> tuple[list[int], list[bool]]:
    """Write shapes and levels; the key of every entry, and whether it is turned round."""
    rng, most = choices.rng, choices.rng.choice((1, 3, 16))
    numbers: list[list[int]] = [[], [], []]
    rows, columns, leans = list[int](), list[int](), list[int]()
    keys, turned = list[int](), list[bool]()
    last_rows = last_run = 1
    for count, across, run in shapes:
        numbers[0].append(count - 1)
        numbers[1].append(across - (1 if count == 1 else last_rows))
        numbers[2].append(run - (last_rows if count == 1 else last_run))
        if count > 1:
            last_rows, last_run = count, run
        own = [rng.randrange(most) for _ in range(count)]
        other = [rng.randrange(most) if across > 1 else 8 for _ in range(across)]
        lean = [rng.randint(-2, 2) if rng.random() < 0.3 else 0 for _ in range(count)]
        rows, leans, columns = rows + own, leans + lean, columns + other * (across > 1)
        for r in range(count):
            keys += [31 * abs(lean[r]) + own[r] + level for level in other for _ in range(run)]
            turned += [lean[r] < 0] * (across * run)
    wrong_shape = choices.wrong("shape")
    if wrong_shape:
        rng.choice(numbers)[rng.randrange(len(shapes))] += rng.choice((-1, 1, 1 << 39, -(1 << 30)))
    tensors = rng.choice((0, len(shapes) + 1, 1 << 38)) if choices.wrong("tensors") else len(shapes)
    writer.add(SHAPES, [tensors, *numbers[0]])
    writer.add(COLUMNS_OF, numbers[1])
    writer.add(RUNS, numbers[2])
    if choices.wrong("level"):
        rows[rng.randrange(len(rows))] = rng.choice((-1, 16, 1 << 35))
    if choices.wrong("lean"):
        leans[rng.randrange(len(leans))] = rng.choice((-3, 3, 1 << 35))
    for family, levels in ((ROWS, rows), (COLUMNS, columns)):
        writer.add(family, [b - a for a, b in pairwise([8, *levels])])
    writer.add(LEANS, leans)
    return keys, turned


def _classes(
    keys: list[int], keyed: list[int], writer: Writer, choices: Choices
) -> list[list[int]]:
    """Cut the keys that occur into classes; the symbols of each."""
    rng, bits = choices.rng, choices.rng.choice((4, 7))
    present = sorted(set(keys))
    begins = [True, *(rng.random() < 0.4 for _ in present[1:])]
    class_of = dict(zip(present, np.cumsum(begins).tolist(), strict=True))
    parts: list[list[int]] = [[] for _ in range(sum(begins))]
    for key, symbol in zip(keys, keyed, strict=True):
        parts[class_of[key] - 1].append(symbol)
    cuts = [bits, *map(int, begins[1:])]
    if choices.wrong("class"):
        cuts[rng.randrange(len(cuts))] = rng.choice((-1, 2, 5))
    writer.add(CUTS, cuts)
    choices.bits = bits
    return parts


def _tables(
    parts: list[list[int]], alphabet: int, writer: Writer, choices: Choices
) -> tuple[list[int], list[int], list[int]]:
    """Write the tables of all classes; all letters, and frequency and start of each letter of each class."""
    rng, bits = choices.rng, choices.bits
    groups = [rng.choice([k for k in range(1, 9) if alphabet**k <= 256]) for _ in parts]
    tops = [rng.randrange(alphabet) for _ in parts]
    numbers, letters, frequencies, starts = list[int](), list[int](), list[int](), list[int]()
    weights, last = [0] * alphabet, 0
    for c, part in enumerate(parts):
        size, before = len(part), weights
        places = [nearest_place(part.count(s), bits) for s in range(alphabet)]
        for s in range(alphabet):
            expected = nearest_place(int(before[s] * size / last), bits) if last else 0
            if s != tops[c]:
                numbers.append(places[s] - expected)
        weights = [count_at(place, bits) for place in places]
        weights[tops[c]] = max(size - sum(weights) + weights[tops[c]], 1)
        model, last = build(np.array(weights, np.uint64), groups[c]), size
        letters += [256 * c + letter for letter in to_letters(part, alphabet, groups[c])]
        own = model.frequencies.tolist()
        frequencies += own + [0] * (256 - len(own))
        starts += (np.cumsum(model.frequencies) - model.frequencies).tolist() + [0] * (
            256 - len(own)
        )
    if numbers and choices.wrong("place"):
        numbers[rng.randrange(len(numbers))] += rng.choice((-100, 100, 1 << 38))
    for name, family, values, first in (
        ("letters", GROUPS, groups, 0),
        ("commonest", COMMONEST, tops, alphabet // 2),
    ):
        if choices.wrong(name):
            values[rng.randrange(len(values))] = rng.choice((-1, 0, 9, 256, 1 << 36))
        writer.add(family, [b - a for a, b in pairwise([first, *values])])
    writer.add(TABLES, numbers)
    return letters, frequencies, starts


def _segments(
    letters: list[int], frequencies: list[int], starts: list[int], choices: Choices
) -> bytes:
    """How many segments, their lengths and words."""
    rng = choices.rng
    count = rng.choice((1, 1, 1, 2, 3))
    share = -(-len(letters) // (4 * count)) * 4
    if share * (count - 1) >= len(letters):
        count, share = 1, -(-len(letters) // 4) * 4
    parts = [
        push(letters[i * share : (i + 1) * share], frequencies, starts, NARROW)
        for i in range(count)
    ]
    body = written(parts, NARROW, choices)
    if choices.wrong("segments"):
        count = rng.choice((0, count + 1, 65_535))
    return struct.pack("<H", count) + body
