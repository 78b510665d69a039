"""Options of a scheme as Python has them: numbers, truth values, quantizers."""

from collections.abc import Mapping
from typing import cast

import numpy as np

from lossyfl.errors import InputError
from lossyfl.quantizers import spec_of
from lossyfl.types import Quantizer

Option = str | int | float | bool | Quantizer | None
"""What an option of a scheme may be in Python; None is as if it were left out."""


def with_options(spec: str, said: Mapping[str, str], options: Mapping[str, Option]) -> str:
    """A spec that says some options with more of them, those that are None left out."""
    parts: list[str] = []
    for key, value in options.items():
        if key in said:
            allowed = "given once, in the text or beside it"
            raise InputError(key, of=spec, allowed=allowed, got=str(value))
        if value is not None:
            parts.append(f"{key}={_option(key, value)}")
    between = "," if said else ":"
    return f"{spec}{between}{','.join(parts)}" if parts else spec


def _option(key: str, value: Option) -> str:
    """An option as text: budgets are written with their unit, quantizers by their names."""
    plain = cast("Option", value.item()) if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return str(plain).lower()
    if isinstance(plain, int | float):
        return f"{plain:.15g}B" if key.endswith("_budget") else str(plain)
    return plain if isinstance(plain, str) else spec_of(cast("Quantizer", plain))
