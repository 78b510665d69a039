"""rANS through all classes as one row of letters: the reference of class_coder.c.

Each class has its own frequencies and letters (`class_tables.py`), and one row of letters runs through all
classes, so that four states of the coder do for all. The coder is that of `rans.py`.
"""

import numpy as np

from lossyfl.kernels.levels import KEYS, Bytes, Ints
from lossyfl.kernels.model import LETTER_BITS, MAX_LETTERS, Frequencies, letters_of
from lossyfl.kernels.native import native
from lossyfl.kernels.rans import LOWEST, SLOTS, STATE_WORDS, digit_table, gather


def _letter_starts(
    alphabet: int, starts: Ints, groups: Bytes, frequencies: Frequencies, entries: int
) -> list[int] | None:
    """The first letter of every class and the number of all; None if classes are not possible."""
    if not 1 <= len(groups) <= KEYS or len(starts) != len(groups) + 1:
        return None
    if len(frequencies) != len(groups) * MAX_LETTERS or starts[0] != 0 or starts[-1] != entries:
        return None
    if (np.diff(starts) < 0).any():
        return None
    found = [0]
    for size, group, row in zip(
        np.diff(starts).tolist(), groups.tolist(), frequencies.reshape(-1, MAX_LETTERS), strict=True
    ):
        letters = letters_of(alphabet, group)
        if letters < 0 or int(row[:letters].max()) > SLOTS or sum(row[:letters].tolist()) != SLOTS:
            return None
        found.append(found[-1] - (-size // group))
    return found


def _are_segments(letters: int, share: int, number: int, segments: int) -> bool:
    """Whether there are segments so many from `number` on, each of `share` letters or what is left."""
    if number < 0 or not 1 <= share <= letters + 3 or segments > letters or number > letters:
        return False
    return number + segments - 1 <= (letters - 1) // share


@native("u8[] i i64[] u8[] u8[] u64[] i i i u8[]! i64[]! -> i")
def push_classes(
    keyed: Bytes,
    alphabet: int,
    starts: Ints,
    groups: Bytes,
    fillers: Bytes,
    frequencies: Frequencies,
    share: int,
    number: int,
    threads: int,
    words: Bytes,
    first: Ints,
) -> int:
    """Code the segments from `number` on, of `share` letters each; -1 if sizes do not fit.

    starts: where each class begins among the symbols by key, and the last one ends
    words:  as in `push_segments`, and `first` too
    """
    del threads
    begins = _letter_starts(alphabet, starts, groups, frequencies, len(keyed))
    if begins is None or len(fillers) != len(groups) or len(first) < 1:
        return -1
    width = words.size // len(first)
    if (
        not _are_segments(begins[-1], share, number, len(first))
        or width % 2
        or width // 2 < share + STATE_WORDS + 1
    ):
        return -1
    coded: list[tuple[int, int]] = []
    for c, (group, row) in enumerate(
        zip(groups.tolist(), frequencies.reshape(-1, MAX_LETTERS), strict=True)
    ):
        letters = gather(keyed[starts[c] : starts[c + 1]], alphabet, group, int(fillers[c]))
        edges = np.cumsum(row) - row
        coded += zip(row[letters].tolist(), edges[letters].tolist(), strict=True)
    if any(not f for f, _ in coded):
        return -1
    for i in range(len(first)):
        data = _pushed(coded[(number + i) * share : (number + i + 1) * share])
        first[i] = width - len(data)
        words[i * width + first[i] : (i + 1) * width] = data
    return 0


def _pushed(coded: list[tuple[int, int]]) -> Bytes:
    """The states and words of letters with such frequencies and starts."""
    states, words = [LOWEST] * 4, list[int]()
    for i in range(len(coded) - 1, -1, -1):
        x, (f, start) = states[i % 4], coded[i]
        if x >= f << (32 - LETTER_BITS):
            words.append(x & 0xFFFF)
            x >>= 16
        high, low = divmod(x, f)
        states[i % 4] = (high << LETTER_BITS) + low + start
    head = np.array(states, dtype="<u4").view(np.uint8)
    return np.concatenate([head, np.array(words[::-1], dtype="<u2").view(np.uint8)])


@native("u8[] i64[] i i64[] u8[] u64[] i i i u8[]! -> i")
def pop_classes(
    data: Bytes,
    edges: Ints,
    alphabet: int,
    starts: Ints,
    groups: Bytes,
    frequencies: Frequencies,
    share: int,
    number: int,
    threads: int,
    out: Bytes,
) -> int:
    """Fill `out` with the symbols by key of segments from `number` on.

    Segment i is the words [edges[i], edges[i + 1]) of `data`. Returns the first that no encoder wrote, -1
    if there is none, -2 if sizes do not fit.
    """
    del threads
    begins = _letter_starts(alphabet, starts, groups, frequencies, len(out))
    if begins is None or len(edges) < 2 or edges[0] < 0 or (np.diff(edges) < 0).any():
        return -2
    segments = len(edges) - 1
    if edges[-1] > len(data) // 2 or not _are_segments(begins[-1], share, number, segments):
        return -2
    tables = [
        _Table.of(row, alphabet, group)
        for row, group in zip(frequencies.reshape(-1, MAX_LETTERS), groups.tolist(), strict=True)
    ]
    for i in range(segments):
        taker = _Words(data[2 * edges[i] : 2 * edges[i + 1]].tobytes())
        low = (number + i) * share
        for c, table in enumerate(tables):
            a = max(low, begins[c]) - begins[c]
            b = min(low + share, begins[c + 1]) - begins[c]
            letters = [taker.take(table) for _ in range(b - a)]
            group = int(groups[c])
            target = out[starts[c] : starts[c + 1]][a * group : max(b, a) * group]
            target[:] = table.digits[letters].ravel()[: len(target)] if letters else 0
        if not taker.is_whole:
            return i
    return -1


class _Table:
    """What letters of a class are popped with."""

    def __init__(
        self, frequencies: list[int], starts: list[int], slots: list[int], digits: Ints
    ) -> None:
        self.frequencies, self.starts, self.slots, self.digits = frequencies, starts, slots, digits

    @classmethod
    def of(cls, row: Frequencies, alphabet: int, group: int) -> "_Table":
        own = row[: letters_of(alphabet, group)]
        slots = np.repeat(np.arange(len(own)), own.astype(np.int64)).tolist()
        return cls(
            own.tolist(), (np.cumsum(own) - own).tolist(), slots, digit_table(alphabet, group)
        )


class _Words:
    """The states and words of one segment."""

    def __init__(self, data: bytes) -> None:
        fits = len(data) >= 2 * STATE_WORDS
        self._states: list[int] = np.frombuffer(data, "<u4", 4).tolist() if fits else [0] * 4
        self._words: list[int] = (
            np.frombuffer(data, "<u2", offset=16).tolist()[::-1] if fits else []
        )
        self._right, self._turn = min(self._states) >= LOWEST, 0

    @property
    def is_whole(self) -> bool:
        """Whether it ends as it began to be written."""
        return self._right and not self._words and self._states == [LOWEST] * 4

    def take(self, table: _Table) -> int:
        """The next letter; any letter where something is wrong."""
        k, self._turn = self._turn % 4, self._turn + 1
        slot = self._states[k] % SLOTS
        letter = table.slots[slot]
        x = (
            table.frequencies[letter] * (self._states[k] >> LETTER_BITS)
            + slot
            - table.starts[letter]
        )
        if x < LOWEST:
            self._right = self._right and bool(self._words)
            x = x << 16 | (self._words.pop() if self._words else LOWEST)
        self._states[k] = x & 0xFFFFFFFF
        return letter
