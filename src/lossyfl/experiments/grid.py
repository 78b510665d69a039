"""Settings crossed: the values of each, and an experiment for every combination.

    tau=1,4,8                        a setting of a run, by the name that it has everywhere
    q1=1,2,5                         an option of the scheme, for those schemes that have it
    level=1,2                        what stands as {level} in the scheme, or in another text
    scheme=lossless,lfl(q1=2,q2=2)   values with commas of their own stand in parentheses

A scheme without an option that is crossed, as lossless links without q1, is one experiment
for all its values.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from lossyfl.errors import InputError, one_of
from lossyfl.protocol import schemes
from lossyfl.registry import items
from lossyfl.results.experiment import KEYS, Experiment
from lossyfl.results.settings import settings_of

OF = "a sweep"
_FIELD = re.compile(r"\{(\w+)\}")
_SETTINGS = settings_of(Experiment)
_TEXTS = tuple(name for name in KEYS if _SETTINGS[name].allowed.kind is str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A setting that is crossed with others, and its values as texts.

    >>> Axis(name="q1", values=("1", "2", "5")).numbers
    [1.0, 2.0, 5.0]
    """

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.values or "" in self.values or len(set(self.values)) != len(self.values):
            allowed = "at least one, each once, with commas between them"
            raise InputError("values", of=self.name, allowed=allowed, got=", ".join(self.values))

    @property
    def numbers(self) -> list[float] | None:
        """The values as numbers; None if one is no number."""
        try:
            return [float(value) for value in self.values]
        except ValueError:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPoint:
    """A value for each axis, in their order, and the experiment with these."""

    values: tuple[str, ...]
    experiment: Experiment


def axis(text: str) -> Axis:
    """The axis that NAME=VALUE,VALUE,... describes.

    >>> axis("scheme=lossless,lfl(q1=2,q2=2)").values
    ('lossless', 'lfl(q1=2,q2=2)')
    """
    name, equals, rest = text.partition("=")
    if not equals or not name.strip():
        allowed = "NAME=VALUE,VALUE,... as q1=1,2,5 or tau=1,4,8"
        raise InputError("setting", of=OF, allowed=allowed, got=text)
    return Axis(name=_spelt(name), values=tuple(each.strip() for each in items(rest)))


def axes_of(settings: Mapping[str, Sequence[object]]) -> list[Axis]:
    """Axes of Python's values.

    >>> axes_of({"q1": [1, 2]})
    [Axis(name='q1', values=('1', '2'))]
    """
    return [
        Axis(name=_spelt(name), values=tuple(str(value) for value in values))
        for name, values in settings.items()
    ]


def grid(axes: Sequence[Axis], base: Experiment) -> list[GridPoint]:
    """All points, the last axis first to change; raises where a name or a value is none."""
    names = [each.name for each in axes]
    if len(set(names)) != len(names) or not names:
        allowed = "at least one, each once"
        raise InputError("settings", of=OF, allowed=allowed, got=", ".join(names) or "none")
    _check_names(axes, base)
    values = list(product(*(each.values for each in axes)))
    return [
        GridPoint(values=each, experiment=_at(dict(zip(names, each, strict=True)), base))
        for each in values
    ]


def with_option(spec: str, key: str, text: str) -> str:
    """The scheme with another value of an option.

    >>> with_option("lfl:q1=2,q2=3", "q1", "5")
    'lfl:q1=5,q2=3'
    """
    name, said = schemes.parsed(spec)
    return f"{name}:{','.join(f'{k}={v}' for k, v in (said | {key: text}).items())}"


def _spelt(name: str) -> str:
    return name.strip().replace("-", "_")


def _at(values: Mapping[str, str], base: Experiment) -> Experiment:
    """The experiment of one combination."""
    said = {name: _read(name, text) for name, text in values.items() if name in KEYS}
    chosen = replace(base, **said)
    texts = {name: getattr(chosen, name) for name in _TEXTS}
    filled = {name: _fill(text, values) for name, text in texts.items() if text is not None}
    scheme = filled["scheme"]
    for name in values:
        inside = any(f"{{{name}}}" in text for text in texts.values() if text is not None)
        if name not in KEYS and not inside and name in schemes.options(scheme):
            scheme = with_option(scheme, name, values[name])
    return replace(chosen, **filled | {"scheme": scheme})


def _read(name: str, text: str) -> object:
    """A value as its setting has it; what is wrong with it is said by the setting."""
    known = _SETTINGS[name]
    try:
        value: object = known.allowed.kind(text)
    except ValueError:
        value = text
    known.check(name, known.allowed.read(value))
    return known.allowed.read(value)


def _fill(text: str, values: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            raise InputError(match[0], of=OF, allowed=one_of(values, name), got=text)
        return values[name]

    return _FIELD.sub(value, text)


def _check_names(axes: Sequence[Axis], base: Experiment) -> None:
    """Raise for a name that is neither a setting, nor in braces, nor an option of any of the schemes."""
    crossed = {each.name: each.values for each in axes}
    if "seed" in crossed:
        allowed = "left out: --seed says the first, --seeds how many"
        raise InputError("seed", of=OF, allowed=allowed, got=",".join(crossed["seed"]))
    texts = [str(value) for name in _TEXTS for value in crossed.get(name, [getattr(base, name)])]
    braced = {name for text in texts for name in _FIELD.findall(text)}
    for name in crossed.keys() - {*KEYS, *braced}:
        known = _options(crossed.get("scheme", (base.scheme,)))
        if name not in known:
            allowed = one_of({*KEYS, *braced, *known} - {"seed"}, name)
            raise InputError("setting", of=OF, allowed=allowed, got=name)


def _options(specs: Sequence[str]) -> set[str]:
    """All options of these schemes; what stands in braces is none of their names."""
    return {name for spec in specs for name in schemes.options(_FIELD.sub("0", spec))}
