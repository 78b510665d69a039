"""Small changes of bytes: single ones, runs of them, numbers, words, and tokens of text."""

import contextlib
import json
import math
import random
import re
import struct
from collections.abc import Callable, Sequence
from typing import TypeAlias

Mutator: TypeAlias = Callable[[bytearray, random.Random], bytearray]

TOKEN = re.compile(rb'-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|"[^"\\]*"|true|false|null|[A-Za-z_]+|\S')
DEEP: list[object] = []
for _ in range(300):
    DEEP = [DEEP]
TOKENS = (
    b"0", b"-1", b"1", b"2", b"-0.0", b"1.5", b"1e400", b"-1e400", b"NaN", b"Infinity", b"1e-400",
    b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"4294967296",
    b"1" + b"0" * 400, b"9" * 5000, b'""', b'"x"', b'"\\ud800"', b'"\\u0000"', b'"F32"', b'"U8"',
    b"null", b"true", b"false", b"[]", b"{}", b"[0]", b'{"x":1}', b"[[[[0]]]]", b"[" * 3000,
    b'{"":' * 3000, b"[" * 2000 + b"]" * 2000, b"\xff", b"\x00", b",", b":", b"\n", b"\r\n", b"=",
)  # fmt: skip
VALUES: tuple[object, ...] = (
    0, -1, 1, 2, 7, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**400, 0.5, -0.0, 1e308,
    math.inf, -math.inf, math.nan, "", "x", "0", "-1", "F32", "I64", "\ud800", "\0", "a" * 300, None, True,
    False, [], {}, [0], [[0]], {"x": 1}, [1e300] * 50, DEEP,
)  # fmt: skip
NUMBERS = (0, 1, 2, 127, 128, 255, 256, 32767, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63,
    2**64 - 1, 0x7FC00000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x3F800000)  # fmt: skip


def flip(data: bytearray, rng: random.Random) -> bytearray:
    """One to four bits."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def set_byte(data: bytearray, rng: random.Random) -> bytearray:
    """One byte, most often near the beginning, where the heads are."""
    at = rng.randrange(len(data)) if rng.random() < 0.5 else rng.randrange(min(len(data), 64))
    data[at] = rng.choice((0, 1, 2, 127, 128, 255, rng.randrange(256)))
    return data


def set_number(data: bytearray, rng: random.Random) -> bytearray:
    """A number of one to eight bytes, in either order."""
    size, order = rng.choice((1, 2, 4, 8)), rng.choice(("little", "big"))
    at = rng.randrange(len(data))
    number = rng.choice((*NUMBERS, rng.getrandbits(64), len(data))) % (1 << 8 * size)
    data[at : at + size] = number.to_bytes(size, "big" if order == "big" else "little")
    return data


def add_to_number(data: bytearray, rng: random.Random) -> bytearray:
    """A number a little larger or smaller."""
    size, at = rng.choice((1, 2, 4, 8)), rng.randrange(len(data))
    number = int.from_bytes(data[at : at + size], "little") + rng.randint(-16, 16)
    data[at : at + size] = (number % (1 << 8 * size)).to_bytes(size, "little")
    return data


def cut(data: bytearray, rng: random.Random) -> bytearray:
    """Without some bytes."""
    at = rng.randrange(len(data))
    del data[at : at + rng.choice((1, 2, 4, 8, 100, len(data)))]
    return data


def repeat(data: bytearray, rng: random.Random) -> bytearray:
    """Some bytes once more, elsewhere or in place."""
    at, to = rng.randrange(len(data)), rng.randrange(len(data))
    part = data[at : at + rng.choice((1, 2, 4, 8, 32, 200))]
    data[to : to + rng.choice((0, len(part)))] = part
    return data


def insert(data: bytearray, rng: random.Random) -> bytearray:
    """Random bytes."""
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.randbytes(rng.choice((1, 2, 4, 8, 40)))
    return data


def set_token(data: bytearray, rng: random.Random) -> bytearray:
    """A number, text or sign of JSON, TOML or CSV becomes another, goes, or comes twice."""
    found = list(TOKEN.finditer(data, 0, 20_000))
    if not found:
        return insert(data, rng)
    token, other = rng.choice(found), rng.choice(found).group()
    new = rng.choice((rng.choice(TOKENS), rng.choice(TOKENS), other, b"", token.group() * 2))
    data[token.start() : token.end()] = new
    return data


def set_value(data: bytearray, rng: random.Random) -> bytearray:
    """A value of JSON, or of one of its lines, becomes another; what is no JSON gets another token."""
    lines = bytes(data).split(b"\n")
    number = rng.randrange(max(1, len(lines) - 1))
    whole = data.startswith(b"{") and data.rstrip().endswith(b"}") and rng.random() < 0.5
    try:
        facts = json.loads(data if whole else lines[number])
        text = json.dumps(_changed(facts, rng)).encode()
    except (ValueError, RecursionError):
        return set_token(data, rng)
    if whole:
        return bytearray(text)
    lines[number] = text
    return bytearray(b"\n".join(lines))


def _changed(value: object, rng: random.Random) -> object:
    """The value, or something in it, changed; JSON in a text is changed as such."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        sizes = [
            len(str(each)) + 1 for each in value.values()
        ]  # there is more to change in the longer
        (key,) = rng.choices(list(value), sizes if rng.random() < 0.5 else None)
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return value | {key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        middle = rng.choice(([_changed(value[at], rng)],) * 8 + ([], [value[at]] * 2))
        return [*value[:at], *middle, *value[at + 1 :]]
    if isinstance(value, str) and value[:1] in ("{", "["):
        with contextlib.suppress(ValueError, RecursionError):
            return json.dumps(_changed(json.loads(value), rng))
    if isinstance(value, float) and rng.random() < 0.3:
        return value * rng.choice((-1, 2, 1e30))
    if isinstance(value, int) and rng.random() < 0.3:
        return value + rng.choice((-1, 1, 10**30))
    if isinstance(value, str) and value and rng.random() < 0.3:
        return set_byte(bytearray(value.encode()), rng).decode(errors="replace")
    return rng.choice(VALUES)


PLAIN: tuple[Mutator, ...] = (flip, set_byte, set_number, add_to_number, cut, repeat, insert)
TEXT: tuple[Mutator, ...] = (*(set_value,) * 6, set_token, set_token, cut, repeat, set_byte)


def in_head(mutate: Mutator) -> Mutator:
    """The same within a head of text whose length stands before it in eight bytes, as in safetensors."""

    def change(data: bytearray, rng: random.Random) -> bytearray:
        length = int.from_bytes(data[:8], "little")
        if not 0 < length <= len(data) - 8:
            return mutate(data, rng)
        head = mutate(data[8 : 8 + length], rng)
        return bytearray(struct.pack("<Q", len(head)) + head + data[8 + length :])

    return change


def behind_choice(mutate: Mutator) -> Mutator:
    """The same behind a first byte, which chooses what the rest is for."""

    def change(data: bytearray, rng: random.Random) -> bytearray:
        return data[:1] + mutate(data[1:] or bytearray(1), rng)

    return change


HEADED: tuple[Mutator, ...] = (*map(in_head, TEXT), flip, set_number, cut)
BEHIND: tuple[Mutator, ...] = tuple(map(behind_choice, HEADED))


def mutated(
    data: bytes, other: bytes, words: Sequence[bytes], how: Sequence[Mutator], rng: random.Random
) -> bytes:
    """The data after one to five changes; sometimes with words in it, or the end of another input."""
    new = bytearray(data)
    if other and rng.random() < 0.1:
        new = new[: rng.randrange(len(new) + 1)] + other[rng.randrange(len(other)) :]
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if words and rng.random() < 0.1:
            at, word = rng.randrange(len(new) + 1), rng.choice(words)
            new[at : at + rng.choice((0, len(word)))] = word
        else:
            new = rng.choice(how)(new or bytearray(1), rng)
    return bytes(new)
