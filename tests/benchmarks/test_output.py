"""What a benchmark writes and prints."""

import json
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich.console import Console

from benchmarks.output import publish
from lossyfl.report.text_table import TextTable
from lossyfl.results import machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    name: str
    ratio: float


SHEET = TextTable(title="Ratios", columns=("name", "ratio"), rows=(("coder", "4.9x"),))
ROWS = {"results": [Row(name="coder", ratio=4.9)], "others": []}


def test_everything_is_written_beside_its_machine(tmp_path: Path) -> None:
    publish(ROWS, [SHEET], json_file=tmp_path / "a.json", console=Console(file=StringIO()))
    written = json.loads((tmp_path / "a.json").read_text())
    assert written == {
        "machine": machine.describe(),
        "results": [{"name": "coder", "ratio": 4.9}],
        "others": [],
    }


def test_tables_stand_below_their_machine() -> None:
    text = StringIO()
    publish(ROWS, [SHEET], json_file=None, console=Console(file=text, width=200))
    said = text.getvalue()
    assert said.index("processor") < said.index("Ratios") < said.index("4.9x")
