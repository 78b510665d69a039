"""What the server's benchmark finds out, and the tables that it prints."""

from dataclasses import dataclass

from lossyfl.report.text_table import TextTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """One length: accept and add a reply, as multiples of memcpy and of NumPy; GB/s of float32."""

    entries: int
    frame_bytes: int
    per_second: float
    gigabytes: float
    memcpy: float
    numpy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """One length: time of a reply, as a multiple of one that is decoded and added in its turn.

    waiting: decoded when it comes, and again when it is its turn
    fixed:   added on arrival to a sum of 64-bit integers, the scale given
    """

    entries: int
    waiting: float
    fixed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """One number of devices: replies a second, and peak bytes for each float of the model.

    waiting: the bytes of all replies, which wait encoded when they come in the reverse order
    """

    entries: int
    devices: int
    per_second: float
    peak_in_order: float
    peak_reversed: float
    waiting: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotations:
    """One length: how many times as fast as SciPy's matrix product (0: too large) and NumPy."""

    entries: int
    scipy: float
    numpy: float


def replies_table(results: list[Replies]) -> TextTable:
    """A row per length of a reply."""
    rows = [
        (
            f"{r.entries:,}",
            f"{r.frame_bytes:,}",
            f"{r.per_second:,.0f}",
            f"{r.gigabytes:.2f}",
            f"{r.memcpy:.2f}",
            f"{r.numpy:.2f}",
        )
        for r in results
    ]
    columns = ("d", "frame bytes", "replies/s", "GB/s of float32", ": memcpy", ": decode and add")
    return TextTable(title="Decode and add one reply, one thread", columns=columns, rows=rows)


def sums_table(results: list[Sums]) -> TextTable:
    """A row per length: what waiting costs, and adding in any order."""
    rows = [(f"{r.entries:,}", f"{r.waiting:.2f}", f"{r.fixed:.2f}") for r in results]
    title = "Time of a reply against one that is added in its turn"
    return TextTable(title=title, columns=("d", "waiting", "fixed point, any order"), rows=rows)


def rounds_table(results: list[Rounds]) -> TextTable:
    """A row per number of devices."""
    rows = [
        (
            f"{r.devices:,}",
            f"{r.per_second:,.0f}",
            f"{r.peak_in_order:.2f}",
            f"{r.peak_reversed:.2f}",
            f"{r.waiting:.2f}",
        )
        for r in results
    ]
    columns = ("devices", "replies/s", "peak, in order", "peak, reversed", "encoded replies")
    title = "One round of d = 100,000; memory in models of 4 d bytes"
    return TextTable(title=title, columns=columns, rows=rows)


def rotations_table(results: list[Rotations]) -> TextTable:
    """A row per length of the transform."""
    rows = [
        (f"{r.entries:,}", f"{r.scipy:.1f}" if r.scipy else "-", f"{r.numpy:.1f}") for r in results
    ]
    title = "Walsh-Hadamard transform, as a multiple of others' speed"
    return TextTable(title=title, columns=("n", ": SciPy's matrix", ": NumPy"), rows=rows)
