"""Symbols of the grammar as bytes: digits, counts and states made the slow way, with faults among them.

Only the frequencies come from `wire.model`, whose arithmetic is part of the format.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tests.fuzz.choices import Choices

from lossyfl.wire.model import build


def radix(symbols: list[int], alphabet: int, choices: Choices) -> bytes:
    """Every n symbols as the digits of one u64, the rest in as few bytes as hold it."""
    digits = 1
    while alphabet ** (digits + 1) <= 1 << 64:
        digits += 1
    out = bytearray()
    for start in range(0, len(symbols), digits):
        part = symbols[start : start + digits]
        size = 8 if len(part) == digits else ((alphabet ** len(part) - 1).bit_length() + 7) // 8
        number = number_of(part, alphabet)
        if choices.wrong("digits"):
            number = (1 << 8 * size) - 1
        out += number.to_bytes(size, "little")
    if choices.wrong("radix length"):
        out = out[:-1] if choices.rng.random() < 0.5 else out + b"\x00"
    return bytes(out)


def rans(symbols: list[int], alphabet: int, choices: Choices) -> bytes:
    """Group, segments, counts, lengths of segments, segments."""
    rng = choices.rng
    weights, counts = _weights(symbols, alphabet, choices)
    group = rng.choice([k for k in range(9) if alphabet**k <= 256])
    segments, coded = 0, b""
    if sum(weight > 0 for weight in weights) > 1:
        segments, coded = _segments(symbols, weights, group, choices)
    if choices.wrong("group"):
        group = rng.choice((0, 1, group + 1, 9, 255))
    if choices.wrong("segments"):
        segments = rng.choice((0, 1, segments + 1, 65_535))
    return struct.pack("<BH", group, segments) + counts + coded


def _weights(symbols: list[int], alphabet: int, choices: Choices) -> tuple[list[int], bytes]:
    """Counts of the symbols and their bytes; counts that are not the real ones are as good."""
    rng = choices.rng
    if rng.random() < 0.1:
        return [1] * alphabet, b"\x80"
    weights = [0] * alphabet
    for symbol in symbols:
        weights[symbol] += rng.choice((1, 1, 1, 100))
    if rng.random() < 0.15:
        for symbol in {*symbols, rng.randrange(alphabet)}:
            weights[symbol] = rng.choice((1, 3, 127, 128, 1 << 20, 1 << 28, 1 << 33))
    while sum(weights) > 1 << 34:
        weights = [-(-weight // 2) for weight in weights]
    weights = [seven_bits(weight) for weight in weights]
    too_much = [weight << 34 for weight in weights]
    return weights, _count_bytes(too_much if choices.wrong("total") else weights, choices)


def _count_bytes(weights: list[int], choices: Choices) -> bytes:
    rng = choices.rng
    used = [i for i, weight in enumerate(weights) if weight]
    bits = gamma(len(used) + 1 + (rng.choice((-1, 1)) if choices.wrong("used") else 0))
    last, length = -1, 16
    for symbol in used:
        gap = symbol - last + (rng.choice((1, 300, 70_000)) if choices.wrong("gap") else 0)
        size = weights[symbol].bit_length()
        change = size - length + (rng.choice((1, 40, -40)) if choices.wrong("length") else 0)
        zigzag = 2 * change if change >= 0 else -2 * change - 1
        below = f"{weights[symbol] >> max(size - 7, 0):b}"[1:]
        bits += gamma(gap) + gamma(zigzag + 1) + below
        last, length = symbol, size
    if choices.wrong("bits"):
        bits = bits[: rng.randrange(len(bits))] + rng.choice(("", "0" * 50, "1" * 50))
    bits += "0" * (-len(bits) % 8)
    return int(bits or "0", 2).to_bytes(len(bits) // 8, "big")


def _segments(
    symbols: list[int], weights: list[int], group: int, choices: Choices
) -> tuple[int, bytes]:
    """Letters in segments, each with four states; returns how many, and their lengths and words."""
    rng = choices.rng
    letters = to_letters(symbols, len(weights), group or 1)
    count = rng.choice((1, 1, 1, 2, 3))
    share = -(-len(letters) // (4 * count)) * 4
    if share * (count - 1) >= len(letters):
        count, share = 1, -(-len(letters) // 4) * 4
    model = build(np.array(weights, np.uint64), group)
    frequencies = model.frequencies.tolist()
    starts = [0, *np.cumsum(model.frequencies).tolist()]
    coder = NARROW if group else WIDE
    parts = [
        push(letters[i * share : (i + 1) * share], frequencies, starts, coder) for i in range(count)
    ]
    return count, written(parts, coder, choices)


def written(parts: list[list[int]], coder: "Coder", choices: Choices) -> bytes:
    """The lengths of all segments but the last, and their words; with faults in either."""
    rng = choices.rng
    part = rng.choice(parts)
    if choices.wrong("words"):
        part[rng.randrange(len(part))] = rng.choice((0, 1, 0xFFFF))
    if choices.wrong("word missing"):
        del part[rng.randrange(len(part))]
    lengths = [len(part) for part in parts[:-1]]
    if lengths and choices.wrong("segment length"):
        lengths[0] = rng.choice((0, lengths[0] + 1, 7, 2**32 - 1))
    words = [word for part in parts for word in part]
    return struct.pack(f"<{len(lengths)}I{len(words)}{coder.letter}", *lengths, *words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coder:
    """Bits of frequencies, of words, and of a state at most; the letter that packs a word."""

    frequency: int
    word: int
    state: int
    letter: str


NARROW = Coder(frequency=15, word=16, state=32, letter="H")
WIDE = Coder(frequency=28, word=32, state=63, letter="I")


def push(letters: list[int], frequencies: list[int], starts: list[int], coder: Coder) -> list[int]:
    """The words of a segment: letters are pushed from the last to the first, onto four states in turn."""
    states, words = [1 << (coder.state - coder.word)] * 4, list[int]()
    mask, room = (1 << coder.word) - 1, coder.state - coder.frequency
    for i in range(len(letters) - 1, -1, -1):
        x, f = states[i % 4], frequencies[letters[i]]
        if x >= f << room:
            words.append(x & mask)
            x >>= coder.word
        states[i % 4] = (x // f << coder.frequency) + starts[letters[i]] + x % f
    return [half for x in states for half in (x & mask, x >> coder.word)] + words[::-1]


def to_letters(symbols: list[int], alphabet: int, group: int) -> list[int]:
    """Every `group` symbols as one letter; the last is filled up with its own first."""
    if group == 1:
        return symbols
    filled = symbols + [symbols[len(symbols) // group * group - 1]] * (-len(symbols) % group)
    return [
        number_of(filled[start : start + group], alphabet)
        for start in range(0, len(symbols), group)
    ]


def number_of(digits: Sequence[int], base: int) -> int:
    """The number with these digits, the first the highest."""
    number = 0
    for digit in digits:
        number = number * base + digit
    return number


def seven_bits(n: int) -> int:
    """N, cut to its seven leading bits."""
    drop = max(n.bit_length() - 7, 0)
    return n >> drop << drop


def gamma(n: int) -> str:
    """Elias's code: for n of b bits, b - 1 zeros and then n."""
    text = f"{max(n, 1):b}"
    return "0" * (len(text) - 1) + text


def varint(n: int) -> bytes:
    """Seven bits a byte, the lowest first; the top bit says that more follow."""
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, max(n, 0)])
