"""Quantizers as the texts that make the same: settings are texts, in files and on command lines."""

from dataclasses import fields, is_dataclass

from lossyfl.errors import InputError
from lossyfl.types import Quantizer


def spelt(made: Quantizer, name: str | None) -> str:
    """The text of a dataclass of plain fields: a name, and the fields that are not their defaults.

    name: that it is registered under; None for what must be imported from its module
    """
    kind = type(made)
    if not is_dataclass(made) or not (name or kind.__qualname__.isidentifier()):
        allowed = "a text, or a dataclass of a module"
        raise InputError("quantizer", of="a scheme", allowed=allowed, got=repr(made))
    parts: list[str] = []
    for each in fields(made):
        value = getattr(made, each.name)
        if each.init and value != each.default:
            parts.append(f"{each.name}={_option(value)}")
    called = name or f"{kind.__module__}:{kind.__qualname__}"
    return f"{called}({','.join(parts)})" if parts else called


def _option(value: object) -> str:
    if isinstance(value, bool | int | float | str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    allowed = "a number or a text (else a text for all of it)"
    raise InputError("option", of="a quantizer", allowed=allowed, got=repr(value))
