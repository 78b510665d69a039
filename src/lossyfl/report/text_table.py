"""Rows of text as a table, on a terminal or in Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTable:
    """A title, column names, and rows of text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def show(self, console: Console) -> None:
        """Print the table."""
        table = Table(title=self.title)
        for column in self.columns:
            table.add_column(column, justify="right")
        for row in self.rows:
            table.add_row(*row)
        console.print(table)

    def markdown(self) -> str:
        """The table in Markdown.

        >>> print(TextTable(title="T", columns=("a", "b"), rows=[("1", "2")]).markdown())
        **T**
        <BLANKLINE>
        | a | b |
        |---:|---:|
        | 1 | 2 |
        """
        lines = [self.columns, ["---:"] * len(self.columns), *self.rows]
        text = [f"| {' | '.join(line)} |" for line in lines]
        text[1] = "|" + "---:|" * len(self.columns)
        return "\n".join([f"**{self.title}**", "", *text])
