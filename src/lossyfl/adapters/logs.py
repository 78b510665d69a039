"""The words of strangers, fit for a log: on one line, not long, nothing that moves a cursor.

Errors quote what somebody has sent. So facts are spelled out and cut where they are logged, and no caller has
to think of it.
"""

LONGEST_SHOWN = 200
"""Characters of one thing of somebody else's."""
LONGEST_LINE = 1000
"""Characters of an error, which may quote several."""


def shown(value: object, longest: int = LONGEST_SHOWN) -> str:
    r"""What somebody else has sent, fit for a log: on one line, and not long.

    >>> print(shown("a" + chr(10) + "b"))
    a\nb
    """
    text = str(value)[: 2 * longest]
    plain = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    return plain if len(plain) <= longest else f"{plain[:longest]}..."
