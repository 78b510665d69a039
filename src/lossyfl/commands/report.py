"""`lossyfl report`: what came of runs, as a page, tables and figures."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast, get_args

import typer

from lossyfl.commands.output import FIGURES, can_write, echo
from lossyfl.errors import InputError, one_of

if TYPE_CHECKING:
    from lossyfl.report.groups import Group
    from lossyfl.report.link import LinkSpeeds
    from lossyfl.report.payload import Options

EVERY = 3.0
"""Seconds from one page to the next with --watch."""


class Outputs(NamedTuple):
    """The files to write."""

    out: Annotated[Path, typer.Option("--out", "-o", help="The page.")] = Path("report.html")
    markdown: Annotated[Path | None, typer.Option(help="Also a table as Markdown.")] = None
    csv: Annotated[Path | None, typer.Option(help="Also the results as CSV.")] = None
    rounds_csv: Annotated[Path | None, typer.Option(help="Also every round as CSV.")] = None
    figure: Annotated[
        list[Path] | None,
        typer.Option(
            help="Also a figure, .png, .svg or .pdf; may be repeated.", show_default=False
        ),
    ] = None
    x: Annotated[str, typer.Option("--x", help="X axis: rounds, bytes or savings.")] = "rounds"

    @property
    def figures(self) -> Sequence[Path]:
        """Of all kinds."""
        return self.figure or ()


class Rates(NamedTuple):
    """The link that times are told for."""

    downlink: Annotated[str, typer.Option(help="Rate of the link down, as 1Mbit.")] = "1Mbit"
    uplink: Annotated[str, typer.Option(help="Rate of a device's link up.")] = "250kbit"
    latency: Annotated[str, typer.Option(help="Latency of the link, each way.")] = "50ms"

    def link(self) -> "LinkSpeeds":
        """The link of these rates; raises if they are none."""
        from lossyfl.report.link import LinkSpeeds
        from lossyfl.report.units import rate, seconds

        return LinkSpeeds(
            downlink=rate(self.downlink, name="downlink"),
            uplink=rate(self.uplink, name="uplink"),
            latency=seconds(self.latency, name="latency"),
        )


class Words(NamedTuple):
    """What is written beside the curves."""

    title: Annotated[str | None, typer.Option(help="Title of page and figures.")] = None
    caption: Annotated[str | None, typer.Option(help="Text below figures.")] = None


def report(
    folders: Annotated[list[Path], typer.Argument(help="Results directories, or folders of some.")],
    *,
    outputs: Outputs,
    rates: Rates,
    words: Words,
    watch: Annotated[bool, typer.Option("--watch", help="Write again while runs go on.")] = False,
) -> None:
    """Runs as one interactive page that needs no network, and as tables and figures.

    Runs that differ only in their seed are drawn as one curve with a band.
    """
    from lossyfl.report.figure import X, draw
    from lossyfl.report.payload import Options

    link, x = rates.link(), outputs.x
    if x not in get_args(X):
        raise InputError("x", of="a figure", allowed=one_of(get_args(X), x), got=x)
    _check(outputs)
    options = Options(title=words.title, link=link, note=words.caption or "")
    groups = _follow(folders, outputs, options) if watch else _write(folders, outputs, options)
    _tables(groups, outputs, options)
    for path in outputs.figures:
        draw(groups, path, x=cast("X", x), title=words.title, caption=words.caption)
    runs = sum(len(group.runs) for group in groups)
    echo(f"{runs} run{'' if runs == 1 else 's'} in {outputs.out}; open it in a browser")


def _check(outputs: Outputs) -> None:
    """Raise before the work if a file cannot be written."""
    can_write(outputs.out, (".html", ".htm"))
    can_write(outputs.markdown)
    can_write(outputs.csv)
    can_write(outputs.rounds_csv)
    for path in outputs.figures:
        can_write(path, FIGURES)


def _follow(folders: Sequence[Path], outputs: Outputs, options: "Options") -> "list[Group]":
    """Write the page again and again until nothing goes on any more, or until Ctrl-C."""
    live = replace(options, reload=EVERY)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # Ctrl-C ends only the watching
    try:
        _write(folders, outputs, live)
        echo(f"watching, open {outputs.out} in a browser; Ctrl-C ends", err=True)
        while any(_is_busy(folder) for folder in folders):
            time.sleep(EVERY)
            _write(folders, outputs, live)
    except KeyboardInterrupt:
        echo("stopped watching", err=True)
    return _write(folders, outputs, options)


def _is_busy(folder: Path) -> bool:
    """Whether a run or a comparison goes on in a folder or below."""
    from lossyfl.results.directory import is_locked

    return any(is_locked(lock.parent) for lock in folder.rglob(".lock"))


def _write(folders: Sequence[Path], outputs: Outputs, options: "Options") -> "list[Group]":
    """Write the page."""
    from lossyfl.files.atomic import write_atomically
    from lossyfl.report.groups import group
    from lossyfl.report.page import page
    from lossyfl.report.runs import find

    groups = group(find(folders))
    write_atomically(outputs.out, [page(groups, options).encode()])
    return groups


def _tables(groups: "Sequence[Group]", outputs: Outputs, options: "Options") -> None:
    """Write the tables."""
    from lossyfl import report
    from lossyfl.files.atomic import write_atomically

    for path, text in (
        (outputs.markdown, report.markdown(groups, options.note, options.link)),
        (outputs.csv, report.csv_of_groups(groups)),
        (outputs.rounds_csv, report.csv_of_rounds(groups)),
    ):
        if path is not None:
            write_atomically(path, [text.encode()])
