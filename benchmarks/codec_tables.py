"""What the codec's benchmark finds out about a vector, and the tables that it prints."""

import math
from dataclasses import dataclass

from lossyfl.report.text_table import TextTable

UNIFORM = 0.0
"""The share of zeros of a vector whose symbols are equally frequent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Sizes of one vector, in bits per entry; the limits are those the project sets itself.

    constriction:  of the words alone, without the distribution that its decoder needs
    entropy_limit: entropy + 0.5 % + 64 bytes + 12 bits for every symbol in use
    paper_limit:   R_Q + 0.5 % + 64 bytes
    """

    ours: float
    entropy: float
    paper: float
    constriction: float
    zstd1: float
    zstd9: float
    entropy_limit: float
    paper_limit: float

    @property
    def over_entropy(self) -> float:
        """Our size above the entropy, in percent."""
        return 100 * (self.ours / self.entropy - 1)

    @property
    def holds(self) -> bool:
        """Whether both limits are kept."""
        return self.ours <= self.entropy_limit and self.ours <= self.paper_limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How many times as fast as something else; all from one run.

    coder_*:  our entropy coder against constriction's, both from symbols to bytes and back
    whole_*:  vector to frame and back against the same with constriction inside
    copy_*:   the same against memcpy of the vector
    cores_*:  all cores against one
    quantize: our quantizer against the NumPy reference
    zstd*_*:  our coder against zstandard on packed symbols, packing left out
    """

    coder_encode: float
    coder_decode: float
    whole_encode: float
    whole_decode: float
    copy_encode: float
    copy_decode: float
    cores_encode: float
    cores_decode: float
    quantize: float
    zstd1_encode: float
    zstd1_decode: float
    zstd9_encode: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Peak extra memory, in bytes per entry."""

    encode: float
    decode: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One vector: length, the paper's q, share of zero symbols (0 for uniform symbols)."""

    entries: int
    levels: int
    zero_share: float
    letters: int
    segments: int
    size: Size
    speed: Speed
    memory: Memory


def label(share: float) -> str:
    """How a share of zeros is written."""
    return "uniform" if share == UNIFORM else f"{share:g}"


def _case(result: Result) -> tuple[str, str, str]:
    power = round(math.log10(result.entries), 1)
    return f"10^{power:g}", f"{result.levels}", label(result.zero_share)


def sizes_table(results: list[Result]) -> TextTable:
    """Bits per entry, ours and others'."""
    names = ("entropy", "ours", "over %", "limits", "paper", "constriction", "zstd 1", "zstd 9")
    rows = [
        (
            *_case(r),
            f"{r.size.entropy:.4f}",
            f"{r.size.ours:.4f}",
            f"{r.size.over_entropy:.2f}",
            "kept" if r.size.holds else "BROKEN",
            f"{r.size.paper:.3f}",
            f"{r.size.constriction:.4f}",
            f"{r.size.zstd1:.3f}",
            f"{r.size.zstd9:.3f}",
        )
        for r in results
    ]
    return TextTable(title="Size, bits per entry", columns=("d", "q", "zeros", *names), rows=rows)


def speeds_table(results: list[Result]) -> TextTable:
    """How many times as fast as constriction and memcpy, and all cores as one."""
    title = (
        "Speed, encode / decode, as a multiple of others': one thread, then all cores against one"
    )
    names = ("k", "coder : constriction", "whole : constriction", "whole : memcpy", "all cores")
    rows = [
        (
            *_case(r),
            f"{r.letters}",
            f"{r.speed.coder_encode:.1f} / {r.speed.coder_decode:.1f}",
            f"{r.speed.whole_encode:.1f} / {r.speed.whole_decode:.1f}",
            f"{r.speed.copy_encode:.3f} / {r.speed.copy_decode:.3f}",
            f"{r.speed.cores_encode:.2f} / {r.speed.cores_decode:.2f}",
        )
        for r in results
    ]
    return TextTable(title=title, columns=("d", "q", "zeros", *names), rows=rows)


def peers_table(results: list[Result]) -> TextTable:
    """How many times as fast as other peers, and peak memory."""
    title = "Speed against other peers, and peak memory in bytes per entry, encode / decode"
    names = ("coder : zstd 1", "coder : zstd 9", "quantizer : NumPy", "memory")
    rows = [
        (
            *_case(r),
            f"{r.speed.zstd1_encode:.1f} / {r.speed.zstd1_decode:.1f}",
            f"{r.speed.zstd9_encode:.1f}",
            f"{r.speed.quantize:.1f}",
            f"{r.memory.encode:.2f} / {r.memory.decode:.2f}",
        )
        for r in results
    ]
    return TextTable(title=title, columns=("d", "q", "zeros", *names), rows=rows)
