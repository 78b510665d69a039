"""A setting, said once: the field of a dataclass with its default, what it means and what it may be.

Checks, the options of the command line and the help of every command are made of that.

>>> @dataclass(frozen=True, kw_only=True)
... class Walk:
...     steps: int = setting(10, "How far.", whole_number(1))
>>> build(Walk, {"steps": 3})
Walk(steps=3)
>>> check_settings(Walk(steps=0))
Traceback (most recent call last):
...
lossyfl.errors.InputError: steps of a run must be an int >= 1, got 0
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, cast

from lossyfl.errors import InputError, one_of

T = TypeVar("T")

_KEY = "setting"


def _as_it_is(value: object) -> object:
    return value


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """What a setting may be.

    kind:  what the command line reads
    words: how an error says it
    holds: whether a value is allowed
    names: all that is allowed, where it is one of some words
    read:  the value of a file or a command line in the type of the setting; what is wrong stays as it is
    """

    kind: type
    words: str
    holds: Callable[[object], bool]
    names: tuple[str, ...] = ()
    read: Callable[[object], object] = _as_it_is


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is known of a setting beside its name and its type.

    default: None where it depends on something else
    help:    a line of the help
    usual:   what the help says is the default; empty for the default itself
    flags:   its options where they are not just the name, as --out and -o
    """

    default: object
    help: str
    allowed: Allowed
    usual: str = ""
    flags: tuple[str, ...] = ()

    def check(self, name: str, value: object) -> None:
        """Raise if a value is not allowed; None is where it is the default."""
        if (value is None and self.default is None) or self.allowed.holds(value):
            return
        names = self.allowed.names
        words = one_of(names, str(value)) if names else self.allowed.words
        raise InputError(name, of="a run", allowed=words, got=value)

    @property
    def shown_default(self) -> str:
        """What the help says is the default; empty for nothing."""
        if self.usual or self.default is None or self.default is False:
            return self.usual
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)


def setting(
    default: T, help: str, allowed: Allowed, *, usual: str = "", flags: tuple[str, ...] = ()
) -> T:
    """The field of a dataclass that is a setting; its help also has the words that are allowed."""
    words = f"{help.removesuffix('.')}: {', '.join(allowed.names)}." if allowed.names else help
    made = Setting(default=default, help=words, allowed=allowed, usual=usual, flags=flags)
    return field(default=default, metadata={_KEY: made})


def settings_of(group: type[Any]) -> dict[str, Setting]:
    """All settings of a dataclass by their names."""
    return {each.name: each.metadata[_KEY] for each in fields(group)}


def check_settings(group: object) -> None:
    """Raise if a setting of a group, the dataclass of some, is not what it may be."""
    for name, each in settings_of(type(group)).items():
        each.check(name, getattr(group, name))


def check_keys(settings: Mapping[str, object], known: Sequence[str]) -> None:
    """Raise if a setting has no known name."""
    for key in settings:
        if key not in known:
            raise InputError("key", of="a run", allowed=one_of(known, key), got=key)


BEYOND_FLOATS = 1 << 1023


def build(group: Callable[..., T], said: Mapping[str, object]) -> T:
    """The group of these settings, as people write them; an error for an unknown one names the nearest."""
    known = settings_of(cast("type[T]", group))
    check_keys(said, tuple(known))
    return group(**{name: known[name].allowed.read(value) for name, value in said.items()})


def whole_number(least: int) -> Allowed:
    """An int that is not below the least; True is none."""
    return Allowed(
        kind=int,
        words=f"an int >= {least}",
        holds=lambda value: type(value) is int and value >= least,
    )


def _as_float(value: object) -> object:
    """A float for an int; one beyond all floats stays what it is, and is refused."""
    return float(value) if type(value) is int and abs(value) < BEYOND_FLOATS else value


def number(words: str, holds: Callable[[float], bool]) -> Allowed:
    """A float for which something holds; a file may have an int in its place."""
    return Allowed(
        kind=float,
        words=words,
        holds=lambda value: isinstance(value, float) and holds(value),
        read=_as_float,
    )


def one_of_words(*names: str) -> Allowed:
    """One of some words."""
    return Allowed(kind=str, words="", holds=lambda value: value in names, names=names)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


TEXT = Allowed(kind=str, words="a text", holds=_is_text)
"""Not empty; its words are checked by what reads it."""
TEXT_OR_NUMBER = Allowed(
    kind=str,
    words="a text",
    holds=_is_text,
    read=lambda value: str(value) if type(value) in (int, float) else value,
)
"""A text that may be a number, which a file need not quote."""
FLAG = Allowed(kind=bool, words="true or false", holds=lambda value: type(value) is bool)
PATH = Allowed(
    kind=Path,
    words="a path",
    holds=lambda value: isinstance(value, Path),
    read=lambda value: Path(value) if isinstance(value, str) else value,
)
