"""Things by name: `stochastic:levels=2,scale=model`, or a user's own `package.module:Name`.

Inside the options of another thing the same is written `stochastic(levels=2,scale=model)`.

Naming something to import runs code, so only a person at this machine may do it, in code or on a command
line. What a message or a file says is data, to be built inside `from_outside`: registered names only, and
those own ones that the person has allowed.
"""

import importlib
import inspect
import re
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from lossyfl.errors import InputError, one_of

T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., object])

_PATH = re.compile(r"\b[^\W\d][\w.]*:[^\W\d]\w*+(?!\s*=)")
LONGEST = 1000
"""Characters of a spec that comes from outside: far more than any needs."""


@dataclass(frozen=True, slots=True)
class _Outside:
    """Whose specs are built: what they may import, and what to do to allow more."""

    allow: frozenset[str]
    how: str


_outside: ContextVar[_Outside | None] = ContextVar("outside", default=None)


@contextmanager
def from_outside(allow: Iterable[str], how: str) -> Generator[None]:
    """Build specs of a message or a file: nothing is imported but what is allowed.

    It holds for specs inside of specs, however deep, and nothing inside can lift it.

    allow: own things, as `package.module:Name`, that somebody at this machine has named
    how:   what they do to allow another, with {} for its name
    """
    before, allowed = _outside.get(), frozenset(allow)
    token = _outside.set(_Outside(allowed if before is None else allowed & before.allow, how))
    try:
        yield
    finally:
        _outside.reset(token)


def paths(text: str) -> list[str]:
    """The things to import that a spec names, itself and in its options.

    >>> paths("lean:down=mine.coarse:Coarse(levels=3),up=eden")
    ['mine.coarse:Coarse']
    """
    return _PATH.findall(text)


class Registry(Generic[T]):
    """Classes or functions by name, called with options from text: their keyword parameters."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._makers: dict[str, Callable[..., object]] = {}

    def register(self, name: str) -> Callable[[C], C]:
        """Make a class or function known under `name`."""

        def add(maker: C) -> C:
            if name in self._makers:
                free = f"a name that is not taken ({', '.join(self.names())})"
                raise InputError("name", of=self.kind, allowed=free, got=name)
            self._makers[name] = maker
            return maker

        return add

    def names(self) -> list[str]:
        """All registered names, sorted."""
        return sorted(self._makers)

    def options(self, spec: str) -> dict[str, str]:
        """The options that a spec says, as texts."""
        return _split(spec, self._makers)[1]

    def build(self, spec: str, given: Mapping[str, object] | None = None) -> T:
        """The object that `name:key=value,key=value` describes.

        given: values for those parameters of these names that the spec leaves open
        """
        outside = _outside.get()
        if outside is not None and (len(spec) > LONGEST or not spec.isprintable()):
            allowed = f"at most {LONGEST} characters, all printable"
            raise InputError("text", of=self.kind, allowed=allowed, got=repr(spec[:80]))
        name, options = _split(spec, self._makers)
        if ":" in name and outside is not None and name not in outside.allow:
            allowed = f"a registered one, or allowed here: {outside.how.format(name)}"
            raise InputError("name", of=self.kind, allowed=allowed, got=name)
        maker = _load(name, self.kind) if ":" in name else self._makers.get(name)
        if maker is None:
            raise InputError("name", of=self.kind, allowed=one_of(self._makers, name), got=name)
        known = inspect.signature(maker).parameters
        for key in options:
            if key not in known:
                raise InputError("option", of=name, allowed=one_of(known, key), got=key)
        values = {key: value for key, value in (given or {}).items() if key in known}
        values |= {key: _value(text) for key, text in options.items()}
        try:
            inspect.signature(maker).bind(**values)
            made = maker(**values)
        except TypeError as error:
            allowed = "those that it takes and needs"
            raise InputError("options", of=name, allowed=allowed, got=str(error)) from error
        return cast("T", made)


def _split(spec: str, known: Container[str]) -> tuple[str, dict[str, str]]:
    """Name and options of a spec; the name of something to import keeps its own colon."""
    if spec.count("(") != spec.count(")"):
        raise InputError("parentheses", of=spec, allowed="closed", got=spec[-20:])
    head, bracket, inner = spec.partition("(")
    if bracket and spec.endswith(")") and "=" not in head:
        spec = f"{head}:{inner[:-1]}"
    name, _, rest = spec.partition(":")
    attribute, _, behind = rest.partition(":")
    if "." in name or (name not in known and attribute.isidentifier()):
        name, rest = f"{name}:{attribute}", behind
    options: dict[str, str] = {}
    for item in items(rest):
        key, equals, text = item.partition("=")
        if not equals or key.strip() in options:
            raise InputError("option", of=name, allowed="key=value, each key once", got=item)
        options[key.strip()] = text.strip()
    return name, options


def items(text: str) -> Iterator[str]:
    """The parts between commas that are in no parentheses, without those that are empty.

    >>> list(items("a=1,b=f(c=2,d=g(e=3)),h=4"))
    ['a=1', 'b=f(c=2,d=g(e=3))', 'h=4']
    """
    start = depth = 0
    for at, letter in enumerate(f"{text},"):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and (depth == 0 or at == len(text)):
            if text[start:at]:
                yield text[start:at]
            start = at + 1


def _load(path: str, kind: str) -> Callable[..., object]:
    """The class or function at `package.module:Name`."""
    module, _, attribute = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # whatever a user's module does when it is imported
        allowed = "a class that can be imported as package.module:Name"
        got = f"{path} ({type(error).__name__}: {error})"
        raise InputError("path", of=kind, allowed=allowed, got=got) from error
    try:
        inspect.signature(found)
    except (TypeError, ValueError) as error:  # no function, or one of C's
        allowed = "a class or function whose parameters can be seen"
        raise InputError("path", of=kind, allowed=allowed, got=path) from error
    return found


def _value(text: str) -> str | int | float | bool:
    """Text as the number or truth value it spells, else as itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
