"""One table for a terminal and for Markdown."""

import io

from rich.console import Console

from lossyfl.report.text_table import TextTable

TABLE = TextTable(title="Sizes", columns=("scheme", "bytes"), rows=[("lfl", "12"), ("lb", "3")])


def test_on_a_terminal() -> None:
    out = io.StringIO()
    TABLE.show(Console(file=out, width=60))
    lines = out.getvalue().splitlines()
    assert "Sizes" in lines[0]
    (row,) = [line for line in lines if "lfl" in line]
    assert row.index("lfl") < row.index("12")


def test_in_markdown() -> None:
    assert TABLE.markdown().splitlines() == [
        "**Sizes**",
        "",
        "| scheme | bytes |",
        "|---:|---:|",
        "| lfl | 12 |",
        "| lb | 3 |",
    ]
