"""Who says what in a text of plays.

    First Citizen:
    Before we proceed any further, hear me speak.

    All:
    Speak, speak.

A line that ends in a colon and is the first, or follows an empty one, names a speaker. What follows up to the
next name is said by that speaker. Names are taken as they are written, whatever the play.
"""

import re

from lossyfl.errors import InputError


def speeches(text: str) -> dict[str, str]:
    r"""All that each speaker says, in the order of first appearance; those who say nothing are left out.

    >>> speeches("ANNE:\nNo.\n\nBEN:\nYes!\n\nANNE:\nWhy?\n")
    {'ANNE': 'No.\nWhy?', 'BEN': 'Yes!'}
    """
    said: dict[str, list[str]] = {}
    lines: list[str] = []  # what comes before the first name is nobody's
    for paragraph in re.split(r"\n{2,}", text.strip("\n")):
        first, _, rest = paragraph.partition("\n")
        named = len(first) > 1 and first.endswith(":")
        if named:
            lines = said.setdefault(first[:-1], [])
        if words := rest if named else paragraph:
            lines.append(words)
    found = {name: "\n".join(lines) for name, lines in said.items() if lines}
    if not found:
        allowed = "at least one, a line such as ROMEO: with words below it"
        raise InputError("speakers", of="the text", allowed=allowed, got="none")
    return found
