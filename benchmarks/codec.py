"""`lossyfl bench codec`: our encode and decode beside memcpy, NumPy, constriction and zstandard.

The vectors have magnitudes u^g with u uniform in [0, 1] and random signs: g sets the share of
entries that Q(x, q) sends to zero, from dense (0.3) to sparse (0.99), with a tail that reaches
every level. `uniform` is the worst case for an entropy coder: every symbol equally frequent.
"""

import os
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks import by_class
from benchmarks.codec_tables import (
    UNIFORM,
    Memory,
    Result,
    Size,
    Speed,
    label,
    peers_table,
    sizes_table,
    speeds_table,
)
from benchmarks.output import publish
from benchmarks.timing import ratio, side_by_side
from lossyfl.extras import require
from lossyfl.kernels.rans import gather
from lossyfl.quantizers.stochastic import Stochastic, reference
from lossyfl.results import machine
from lossyfl.streams import stream
from lossyfl.types import Quantized, UniformTable, Vector
from lossyfl.wire import body
from lossyfl.wire.codec import decode, encode, inspect
from lossyfl.wire.histogram import entropy
from lossyfl.wire.vectors import block_bounds

ZERO_SHARES = (0.3, 0.5, 0.7, 0.9, 0.95, 0.99)
LEVELS = (1, 2, 5, 50, 1000)
ENTRIES = (10**5, 10**6, 10**7)
REPEATS = {10**5: 21, 10**6: 11, 10**7: 5}


def run(
    json_file: Path | None,
    markdown_file: Path | None,
    *,
    quick: bool,
    console: Console,
    progress: Console,
) -> None:
    """Measure, print the tables, and write everything to the files."""
    results: list[Result] = []
    cases = list(_cases(quick=quick))
    with progress.status("") as status:
        for number, (entries, levels, share) in enumerate(cases, 1):
            case = f"{number}/{len(cases)}: d = {entries:,}, q = {levels}, zeros {label(share)}"
            status.update(case)
            if not progress.is_terminal:
                progress.print(case)
            results.append(measure(entries, levels, share))
        by_classes = list(by_class.measure_all(quick=quick))
    sheets = [
        speeds_table(results),
        peers_table(results),
        sizes_table(results),
        by_class.table(by_classes),
    ]
    measured = {"results": results, "by_class": by_classes}
    publish(measured, sheets, json_file=json_file, console=console)
    if markdown_file is not None:
        listing = "\n".join(f"- {name}: {fact}" for name, fact in machine.describe().items())
        tables = "\n\n".join(sheet.markdown() for sheet in sheets)
        markdown_file.write_text(f"{listing}\n\n{tables}\n")
    kept = sum(result.size.holds for result in results)
    console.print(f"size limits kept in {kept} of {len(results)} cases")


def _cases(*, quick: bool) -> Iterator[tuple[int, int, float]]:
    for entries in ENTRIES[:2] if quick else ENTRIES:
        for levels in (1, 2, 50) if quick else LEVELS:
            for share in (0.5, 0.99) if quick else (*ZERO_SHARES, UNIFORM):
                yield entries, levels, share


def vector(entries: int, levels: int, zero_share: float, *, seed: int = 0) -> Vector:
    """A vector whose symbols have the given share of zeros, or are uniform."""
    rng = np.random.default_rng(seed)
    if zero_share == UNIFORM:
        table = UniformTable(
            low=np.zeros(1, np.float32), high=np.ones(1, np.float32), alphabet=2 * levels + 1
        )
        return table.rows(0, 1)[0][rng.integers(0, 2 * levels + 1, entries)]
    magnitude = rng.random(entries) ** _exponent(levels, zero_share)
    magnitude[magnitude < 1e-30] = 0  # no update has them, and denormals slow every processor down
    x = (magnitude * rng.choice([-1.0, 1.0], entries)).astype(np.float32)
    x[0], x[-1] = 0, 1
    return x


def _exponent(levels: int, zero_share: float) -> float:
    """G with P(level 0) = q^(-1/g) g / (g + 1) equal to the share, by bisection."""
    low, high = 1e-3, 1e6
    for _ in range(200):
        g = (low * high) ** 0.5
        low, high = (g, high) if levels ** (-1 / g) * g / (g + 1) < zero_share else (low, g)
    return low


def measure(entries: int, levels: int, zero_share: float) -> Result:
    """Sizes, speeds and memory for one vector."""
    x = vector(entries, levels, zero_share)
    quantizer = Stochastic(levels=levels)
    rng = stream(0)
    quantized = quantizer.quantize(x, block_bounds("model", entries, None), rng=rng)
    frame = encode(x, quantizer, rng=rng)
    info = inspect(frame, max_entries=entries)
    packed = _packed(quantized)
    return Result(
        entries=entries,
        levels=levels,
        zero_share=zero_share,
        letters=info.letters,
        segments=info.segments,
        size=_measure_size(quantized, len(frame), packed),
        speed=_measure_speed(x, quantizer, quantized, frame, packed),
        memory=Memory(
            encode=_peak(lambda: encode(x, quantizer, rng=rng)) / entries,
            decode=_peak(lambda: decode(frame, max_entries=entries)) / entries,
        ),
    )


def _measure_size(quantized: Quantized, nbytes: int, packed: bytes) -> Size:
    zstandard = require("zstandard", extra="bench")
    counts = quantized.counts
    assert counts is not None
    entries, levels = len(quantized.symbols), (quantized.table.alphabet - 1) // 2
    entropy_bits = entropy(counts)
    paper_bits = Stochastic(levels=levels).nominal_bits(entries, 1)
    header = 64 * 8
    return Size(
        ours=8 * nbytes / entries,
        entropy=entropy_bits / entries,
        paper=paper_bits / entries,
        constriction=32 * len(_Constriction(quantized).words) / entries,
        zstd1=8 * len(zstandard.compress(packed, 1)) / entries,
        zstd9=8 * len(zstandard.compress(packed, 9)) / entries,
        entropy_limit=(1.005 * entropy_bits + header + 12 * np.count_nonzero(counts)) / entries,
        paper_limit=(1.005 * paper_bits + header) / entries,
    )


Jobs = dict[str, Callable[[], object]]


def _measure_speed(
    x: Vector, quantizer: Stochastic, quantized: Quantized, frame: bytes, packed: bytes
) -> Speed:
    ours = _our_jobs(x, quantizer, quantized, frame)
    times = side_by_side(
        ours | _peer_jobs(x, quantizer, quantized) | _zstandard_jobs(packed), REPEATS.get(len(x), 5)
    )
    tight = require("zstandard", extra="bench").ZstdCompressor(level=9)
    slow = side_by_side(
        {
            "reference": lambda: reference(x, quantized.bounds, quantizer.levels, rng=stream(0)),
            "zstd9": lambda: tight.compress(packed),
            "quantize": ours["quantize"],
            "coder_encode": ours["coder_encode"],
        },
        1,
    )
    return Speed(
        coder_encode=ratio(times, "peer_coder_encode", "coder_encode"),
        coder_decode=ratio(times, "peer_coder_decode", "coder_decode"),
        whole_encode=ratio(times, "peer_encode", "encode"),
        whole_decode=ratio(times, "peer_decode", "decode"),
        copy_encode=ratio(times, "memcpy", "encode"),
        copy_decode=ratio(times, "memcpy", "decode"),
        cores_encode=ratio(times, "encode", "encode_cores"),
        cores_decode=ratio(times, "decode", "decode_cores"),
        quantize=ratio(slow, "reference", "quantize"),
        zstd1_encode=ratio(times, "zstd1_encode", "coder_encode"),
        zstd1_decode=ratio(times, "zstd1_decode", "coder_decode"),
        zstd9_encode=ratio(slow, "zstd9", "coder_encode"),
    )


def _our_jobs(x: Vector, quantizer: Stochastic, quantized: Quantized, frame: bytes) -> Jobs:
    """Quantizer, coder and the whole, with one thread and with all cores."""
    counts, alphabet, symbols = quantized.counts, quantized.table.alphabet, quantized.symbols
    assert counts is not None
    bounds, rng, cores = quantized.bounds, stream(0), os.cpu_count() or 1

    def code() -> bytes:
        return b"".join(body.encode(symbols, alphabet, counts, body.plan(counts), 1))

    coded, target = memoryview(code()), np.empty_like(x)
    return {
        "memcpy": lambda: np.copyto(target, x),
        "quantize": lambda: quantizer.quantize(x, bounds, rng=rng),
        "coder_encode": code,
        "coder_decode": lambda: body.open_coded(coded, alphabet, len(x), offset=0).symbols(1),
        "encode": lambda: encode(x, quantizer, rng=rng),
        "decode": lambda: decode(frame, max_entries=len(x)),
        "encode_cores": lambda: encode(x, quantizer, rng=rng, threads=cores),
        "decode_cores": lambda: decode(frame, max_entries=len(x), threads=cores),
    }


def _peer_jobs(x: Vector, quantizer: Stochastic, quantized: Quantized) -> Jobs:
    """The same by constriction, behind our quantizer."""
    peer, row = _Constriction(quantized), quantized.table.rows(0, 1)[0]

    def encode_whole() -> object:
        made = quantizer.quantize(x, quantized.bounds, rng=stream(0))
        return peer.encode(made.symbols.astype(np.int32))

    return {
        "peer_coder_encode": lambda: peer.encode(peer.symbols),
        "peer_coder_decode": peer.decode,
        "peer_encode": encode_whole,
        "peer_decode": lambda: row[peer.decode()],
    }


def _zstandard_jobs(packed: bytes) -> Jobs:
    zstandard = require("zstandard", extra="bench")
    small = zstandard.compress(packed, 1)
    return {
        "zstd1_encode": lambda: zstandard.compress(packed, 1),
        "zstd1_decode": lambda: zstandard.decompress(small, max_output_size=len(packed)),
    }


class _Constriction:
    """The peer: constriction's ANS coder with the symbols' own distribution."""

    def __init__(self, quantized: Quantized) -> None:
        self._stack = require("constriction", extra="bench").stream.stack
        model = require("constriction", extra="bench").stream.model
        assert quantized.counts is not None
        share = (quantized.counts / quantized.counts.sum()).astype(np.float32)
        self._model = model.Categorical(share, perfect=False)
        self.symbols: NDArray[np.int32] = quantized.symbols.astype(np.int32)
        self.words = self.encode(self.symbols)
        assert (self.decode() == self.symbols).all()

    def encode(self, symbols: NDArray[np.int32]) -> Any:  # noqa: ANN401
        coder = self._stack.AnsCoder()
        coder.encode_reverse(symbols, self._model)
        return coder.get_compressed()

    def decode(self) -> Any:  # noqa: ANN401
        return self._stack.AnsCoder(self.words).decode(self._model, len(self.symbols))


def _packed(quantized: Quantized) -> bytes:
    """Symbols as a general compressor likes them best: as many as fit a byte, or 16-bit."""
    symbols, alphabet = quantized.symbols, quantized.table.alphabet
    if alphabet > 256:
        return symbols.tobytes()
    group = next(k for k in range(8, 0, -1) if alphabet**k <= 256)
    return gather(symbols, alphabet, group, 0).tobytes()


def _peak(job: Callable[[], object]) -> int:
    """Peak bytes that a job allocates."""
    tracemalloc.start()
    try:
        job()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
