"""A terminal shows what it is given, and obeys none of it."""

import re
from io import StringIO

import pytest
from rich.table import Table
from tests.commands.test_output import EVIL

from lossyfl.commands.terminal import Terminal
from lossyfl.errors import printable


@pytest.mark.parametrize("text", [EVIL, "a [bold]b[/bold] :heart: [link=http://c]d[/link]"])
def test_a_terminal_obeys_no_word(text: str) -> None:
    shown = StringIO()
    Terminal(file=shown, force_terminal=True, width=200).print(text, Table(text, title=text))
    written = re.sub(r"\x1b\[[0-9;]*m", "", shown.getvalue())  # the table's own colours
    assert written.count(printable(text)) == 3
    assert "\x1b" not in written
