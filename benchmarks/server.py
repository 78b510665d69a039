"""`lossyfl bench server`: replies decoded and aggregated, memory, and the rotation.

replies   `Server.accept` of real reply frames, against memcpy of the same floats and against
decoding to a vector and adding it in NumPy
memory    the peak of a whole round, replies in order and in the reverse order
rotation  the fast transform against SciPy's matrix and a plain NumPy one
"""

import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from benchmarks.output import publish
from benchmarks.server_tables import (
    Replies,
    Rotations,
    Rounds,
    Sums,
    replies_table,
    rotations_table,
    rounds_table,
    sums_table,
)
from benchmarks.timing import ratio, side_by_side
from lossyfl.extras import require
from lossyfl.protocol.adapter_server import AdapterServer
from lossyfl.protocol.schemes import scheme
from lossyfl.quantizers.stochastic import Stochastic
from lossyfl.streams import stream
from lossyfl.types import Vector
from lossyfl.wire.adding import Letters, open_addend
from lossyfl.wire.codec import decode, encode
from lossyfl.wire.frame import with_digest
from lossyfl.wire.rotation import hadamard

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTHS = (10**5, 10**6, 10**7)
COUNTS = (10, 100, 1000, 10_000)
POWERS = (10, 12, 14, 17, 20, 23)
DISTINCT = 8
"""Different replies, of which every device sends one; a frame does not name its device."""


def run(json_file: Path | None, *, quick: bool, console: Console) -> None:
    """Measure and print everything."""
    lengths = LENGTHS[:2] if quick else LENGTHS
    counts = COUNTS[:3] if quick else COUNTS
    powers = POWERS[:3] if quick else POWERS
    with console.status("replies"):
        replies = [measure_replies(entries) for entries in lengths]
    with console.status("sums"):
        sums = [measure_sums(entries) for entries in lengths]
    with console.status("rounds"):
        rounds = [measure_round(10**5, devices) for devices in counts]
    with console.status("rotation"):
        rotations = [measure_rotation(1 << power) for power in powers]
    measured = {"replies": replies, "sums": sums, "rounds": rounds, "rotations": rotations}
    sheets = (
        replies_table(replies),
        sums_table(sums),
        rounds_table(rounds),
        rotations_table(rotations),
    )
    publish(measured, sheets, json_file=json_file, console=console)


def _server(entries: int, devices: int) -> tuple[AdapterServer, list[bytes]]:
    """A server with an open round, and replies that fit it."""
    theta = np.zeros(entries, dtype=np.float32)
    server = AdapterServer(
        theta, scheme("lfl:q1=2,q2=2"), samples=dict.fromkeys(range(devices), 10)
    )
    server.open_round()
    meta = server.reply_meta(0)
    rng = np.random.default_rng(0)
    frames = [
        encode(
            rng.laplace(size=entries).astype(np.float32),
            Stochastic(levels=2),
            rng=stream(i),
            meta=meta,
        )
        for i in range(DISTINCT)
    ]
    server.compare({0: frames[0]})  # as after the first round, in which replies wait for others
    return server, frames


def measure_replies(entries: int) -> Replies:
    """Decode and add one reply."""
    _, frames = _server(entries, 1)
    total, target = np.zeros(entries, np.float32), np.zeros(entries, np.float32)
    vector = decode(frames[0], max_entries=entries)

    def add_in_numpy() -> None:
        np.add(total, np.float32(10) * decode(frames[1], max_entries=entries), out=total)

    jobs: dict[str, Callable[[], object]] = {
        "memcpy": lambda: np.copyto(target, vector),
        "fused": lambda: open_addend(frames[0], max_entries=entries).terms.add_to(total, 10),
        "numpy": add_in_numpy,
    }
    times = side_by_side(jobs, 15 if entries < 10**7 else 5)
    seconds = float(np.median(times["fused"]))
    return Replies(
        entries=entries,
        frame_bytes=len(frames[0]),
        per_second=1 / seconds,
        gigabytes=4 * entries / seconds / 1e9,
        memcpy=ratio(times, "memcpy", "fused"),
        numpy=ratio(times, "numpy", "fused"),
    )


def measure_sums(entries: int) -> Sums:
    """A reply in its turn, one that waits, and one added to a fixed-point sum."""
    _, frames = _server(entries, 1)
    total, fixed = np.zeros(entries, np.float32), np.zeros(entries, np.int64)
    terms = open_addend(frames[0], max_entries=entries).terms
    assert isinstance(terms, Letters)
    integers = np.round(terms.values.astype(np.float64) * 10 * 2**24).astype(np.int64)

    def in_turn() -> None:
        open_addend(frames[0], max_entries=entries).terms.add_to(total, 10)

    def waiting() -> None:
        open_addend(frames[0], max_entries=entries)
        in_turn()

    def any_order() -> None:
        terms = open_addend(frames[0], max_entries=entries).terms
        assert isinstance(terms, Letters)
        fixed[:] += integers[terms.letters].reshape(-1)[:entries]

    jobs = {"in turn": in_turn, "waiting": waiting, "fixed": any_order}
    times = side_by_side(jobs, 15 if entries < 10**7 else 5)
    return Sums(
        entries=entries,
        waiting=ratio(times, "waiting", "in turn"),
        fixed=ratio(times, "fixed", "in turn"),
    )


def measure_round(entries: int, devices: int) -> Rounds:
    """A whole round of accepted replies, timed, and its memory in both orders of arrival."""
    server, frames = _server(entries, devices)
    start = time.perf_counter()
    _play(server, frames, range(devices))
    seconds = time.perf_counter() - start
    return Rounds(
        entries=entries,
        devices=devices,
        per_second=devices / seconds,
        peak_in_order=_peak(entries, range(devices)) / (4 * entries),
        peak_reversed=_peak(entries, range(devices - 1, -1, -1)) / (4 * entries),
        waiting=sum(len(frames[m % DISTINCT]) for m in range(devices)) / (4 * entries),
    )


def _play(server: AdapterServer, frames: list[bytes], order: range) -> None:
    """All replies in this order, and the end of the round."""
    for m in order:
        server.accept(m, with_digest(frames[m % DISTINCT], server.reply_meta(m).digest))
    server.close_round()


def _peak(entries: int, order: range) -> int:
    """Peak bytes from the first reply to the end of the round."""
    server, frames = _server(entries, len(order))
    tracemalloc.start()
    try:
        _play(server, frames, order)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measure_rotation(entries: int) -> Rotations:
    """The fast transform against the matrix and against NumPy."""
    x = np.random.default_rng(0).normal(size=entries).astype(np.float32)
    jobs: dict[str, Callable[[], object]] = {
        "ours": lambda: hadamard(x),
        "numpy": lambda: _plain_hadamard(x),
    }
    small = entries <= 1 << 12
    if small:
        dense = require("scipy.linalg", extra="sim").hadamard(entries).astype(np.float32)
        jobs["scipy"] = lambda: dense @ x
    times = side_by_side(jobs, 7)
    return Rotations(
        entries=entries,
        scipy=ratio(times, "scipy", "ours") if small else 0.0,
        numpy=ratio(times, "numpy", "ours"),
    )


def _plain_hadamard(x: Vector) -> Vector:
    """The transform stage by stage in NumPy."""
    stride = 1
    while stride < len(x):
        pairs = x.reshape(-1, 2, stride)
        x = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        stride *= 2
    return x * np.float32(1 / np.sqrt(len(x)))
