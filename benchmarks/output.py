"""What a benchmark leaves: everything measured in a file, and tables below the machine they are of."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from lossyfl.report.text_table import TextTable
from lossyfl.results import machine

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def publish(
    measured: "Mapping[str, Sequence[DataclassInstance]]",
    sheets: Iterable[TextTable],
    *,
    json_file: Path | None,
    console: Console,
) -> None:
    """Write what was measured, by name, if a file is wanted; print machine and tables."""
    facts = machine.describe()
    if json_file is not None:
        report = {name: [asdict(each) for each in rows] for name, rows in measured.items()}
        json_file.write_text(json.dumps({"machine": facts, **report}, indent=1))
    for name, fact in facts.items():
        console.print(f"{name:13} {fact}")
    for sheet in sheets:
        sheet.show(console)
