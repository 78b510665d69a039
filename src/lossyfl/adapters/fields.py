"""The fields of a record that somebody else has sent, each checked before it is used.

A field that is not as it must be raises ValueError or KeyError, which `envelope` makes one error of ours.
"""

import math
import re
from collections.abc import Mapping

from lossyfl.adapters.logs import shown

Fields = Mapping[str, object]
"""A record of anybody's."""
Value = str | int | float | bytes | list[str] | list[int]
"""A field of ours: every framework can carry these."""

ANY_TEXT = re.compile(".*", re.DOTALL)
SHORT = re.compile(r"[^\x00-\x1f]{1,1000}")


def text(
    fields: Fields, name: str, form: re.Pattern[str] = SHORT, default: str | None = None
) -> str:
    """A text of this form."""
    value = fields[name] if default is None else fields.get(name, default)
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ValueError(f"{name} is {shown(value)}")
    return value


def seconds(fields: Fields, name: str) -> float:
    """How long something took."""
    value = fields[name]
    if not isinstance(value, float) or not 0 <= value < 1e9:
        raise ValueError(f"{name} is {shown(value)}")
    return value


def bound(fields: Fields) -> float:
    """A norm above zero; infinity if there is none."""
    if "bound" not in fields:
        return math.inf
    value = fields["bound"]
    if not isinstance(value, float) or not 0 < value < math.inf:
        raise ValueError(f"bound is {shown(value)}")
    return value


def number(fields: Fields, name: str, low: int, high: int) -> int:
    """A whole number of at least `low`, and below `high`."""
    value = fields[name]
    if type(value) is not int or not low <= value < high:
        raise ValueError(f"{name} is {shown(value)}")
    return value
