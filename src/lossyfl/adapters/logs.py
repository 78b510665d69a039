"""Flower's log, fit for the words of strangers: on one line, not long, nothing that moves a cursor.

Errors quote what somebody has sent. So facts are spelled out and cut where they are logged, and no caller has
to think of it.
"""

import traceback
from logging import WARNING

from flwr.supercore import log as flower_log

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


def log(level: int, message: str, *facts: object) -> None:
    """Log a message of ours; its facts may be anybody's."""
    safe = (f if isinstance(f, int | float) else shown(f, LONGEST_LINE) for f in facts)
    flower_log(level, message, *safe)


def log_traceback(error: BaseException) -> None:
    """Log where an error comes from: of an answer's, since it shows a check that is missing."""
    for entry in traceback.format_tb(error.__traceback__):
        for line in entry.rstrip().split("\n"):
            log(WARNING, "\t%s", line)
