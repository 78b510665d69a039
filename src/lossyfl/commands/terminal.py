"""A terminal of rich's that only shows: no word that it is given is markup, an emoji or an escape sequence.

Tables quote files, frames and peers. What is laid out is made of strings here, cells and titles as well as
lines, and all of them come through `render_str`; colours are for those who write `Text`.
"""

from typing import Any

from rich.console import Console
from rich.text import Text

from lossyfl.errors import printable


class Terminal(Console):
    """Shows strings as they are, and spells out what would move the cursor."""

    def __init__(self, **how: Any) -> None:  # noqa: ANN401
        super().__init__(markup=False, emoji=False, highlight=False, **how)

    def render_str(self, text: str, **how: Any) -> Text:  # noqa: ANN401
        """The text, on its way to the screen."""
        return super().render_str(printable(text), **how)
