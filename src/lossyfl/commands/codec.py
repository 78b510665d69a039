"""`lossyfl codec`: vectors and models to frames and back."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lossyfl.commands.output import can_write, console, echo, echo_json
from lossyfl.errors import InputError

if TYPE_CHECKING:
    from lossyfl.wire.codec import FrameInfo

app = typer.Typer(help="Vectors and models to frames and back.", no_args_is_help=True)

Threads = Annotated[int, typer.Option(help="Threads to use.", min=1)]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the output file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Limit = Annotated[int, typer.Option(help="Refuse frames with more entries.", min=1)]

MAX_ENTRIES = 1 << 24  # as in wire.header, which is too heavy to import here; a test compares


@app.command()
def encode(
    source: Annotated[Path, typer.Argument(help="A .npy array or a .safetensors model.")],
    output: Annotated[
        Path | None,
        typer.Option("--out", "-o", "--output", help="Default: SOURCE with .lfl added."),
    ] = None,
    quantizer: Annotated[
        str, typer.Option("--quantizer", "-Q", help="name:key=value,...")
    ] = "stochastic:levels=2,scale=model",
    seed: Annotated[int, typer.Option(help="Seed of the quantizer's randomness.", min=0)] = 0,
    threads: Threads = 1,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Quantize and entropy-code a file."""
    from lossyfl.files.bundle import encode_file
    from lossyfl.quantizers import quantizer as build
    from lossyfl.streams import stream

    if not source.is_file():
        raise InputError("file", of="codec encode", allowed="one that exists", got=str(source))
    target = output or source.with_name(source.name + ".lfl")
    _free(target, force, source=source)
    result = encode_file(source, target, build(quantizer), rng=stream(seed), threads=threads)
    if as_json:
        echo_json({"file": str(target), **asdict(result)})
    if as_json or quiet:
        return
    ratio = result.source / result.target
    echo(f"{target}: {result.target:,} bytes, {ratio:.2f}x smaller than {result.source:,}")
    if result.exact:
        echo(f"of these, {result.exact:,} bytes are tensors that were kept exactly")


@app.command()
def decode(
    source: Annotated[Path, typer.Argument(help="A frame or bundle that `encode` wrote.")],
    output: Annotated[
        Path, typer.Option("--out", "-o", "--output", help="A .npy or .safetensors file.")
    ],
    max_entries: Limit = MAX_ENTRIES,
    threads: Threads = 1,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Turn a frame back into floats."""
    from lossyfl.files.bundle import decode_file

    _free(output, force, source=source)
    entries = decode_file(source, output, max_entries=max_entries, threads=threads)
    if not quiet:
        echo(f"{output}: {entries:,} entries")


@app.command()
def inspect(
    source: Annotated[Path, typer.Argument(help="A frame or bundle that `encode` wrote.")],
    max_entries: Limit = MAX_ENTRIES,
    as_json: Json = False,
) -> None:
    """Show what a frame is made of, and what it costs."""
    from lossyfl.files.bundle import read_frame
    from lossyfl.wire.codec import inspect as inspect_frame

    info = inspect_frame(read_frame(source), max_entries=max_entries)
    if as_json:
        more = {"bits_per_entry": info.bits_per_entry, "ratio": info.ratio}
        echo_json(asdict(info) | more)
    else:
        _print_info(info)


@app.command()
def demo(as_json: Json = False) -> None:
    """Encode and decode a real model update and print the table of sizes."""
    from lossyfl.experiments.codec_demo import LEGEND, measure, table

    rows = measure()
    if as_json:
        echo_json([asdict(row) for row in rows])
        return
    console().print(table(rows))
    echo(LEGEND)


def _free(path: Path, force: bool, *, source: Path) -> None:
    """Raise if a file would be overwritten that should not be."""
    can_write(path)
    if path.exists() and path.samefile(source):
        raise InputError(
            "output", of="codec", allowed="another file than the source", got=str(path)
        )
    if path.exists() and not force:
        raise InputError("output", of="codec", allowed="a new file, or --force", got=str(path))


def _classes(info: "FrameInfo") -> list[tuple[str, str]]:
    """What a frame of symbols coded by class says of its classes."""
    if not info.classes:
        return []
    per_entry = info.class_entropy_bits / info.entries
    return [
        ("classes", f"{info.classes}, told and tabled in {info.side_bytes:,} bytes"),
        (
            "entropy by class",
            f"{info.class_entropy_bits / 8:,.1f} bytes, {per_entry:.4f} bits per entry",
        ),
    ]


def _print_info(info: "FrameInfo") -> None:
    from rich.table import Table

    per_entry = info.entropy_bits / info.entries
    rows = [
        (
            "frame",
            f"version {info.version}, {info.kind}, round {info.round}, digest {info.digest:016x}"
            + (f", predicted with {info.gain:.2f} of the trend" if info.gain else "")
            + (f", from that of round {info.since}" if info.kind == "merged" else ""),
        ),
        ("entries", f"{info.entries:,} in {max(info.blocks, 1):,} block(s)"),
        ("coding", info.coding + (f", {info.letters} symbol(s) a letter" if info.letters else "")),
        *_classes(info),
        ("segments", f"{info.segments}"),
        ("symbols", f"{info.used:,} in use of {info.alphabet:,}"),
        ("most frequent", _top(info)),
        ("entropy", f"{info.entropy_bits / 8:,.1f} bytes, {per_entry:.4f} bits per entry"),
        ("real size", f"{info.nbytes:,} bytes, {info.bits_per_entry:.4f} bits per entry"),
        ("of these", f"{info.header_bytes:,} bytes of header and tables"),
        ("over the entropy" + " by class" * bool(info.classes), f"{100 * info.over_entropy:.2f} %"),
        ("against 32 bits", f"{info.ratio:.2f}x smaller"),
    ]
    if info.paper_bits is not None:
        paper = (
            f"{info.paper_bits / 8:,.1f} bytes, {info.paper_bits / info.entries:.4f} bits per entry"
        )
        rows.insert(8, (f"paper's R_Q (q = {info.levels})", paper))
    table = Table(show_header=False, box=None)
    for name, text in rows:
        table.add_row(name, text)
    console().print(table)


def _top(info: "FrameInfo", most: int = 6) -> str:
    """The most frequent symbols and their shares."""
    ranked = sorted(enumerate(info.counts), key=lambda pair: -pair[1])[:most]
    total = sum(info.counts)
    return ", ".join(f"{symbol}: {n / total:.2%}" for symbol, n in ranked if n) or "none"
