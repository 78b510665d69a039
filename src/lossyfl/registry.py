"""Things by name: `stochastic:levels=2,scale=model`, or a user's own `package.module:Name`.

Inside the options of another thing the same is written `stochastic(levels=2,scale=model)`.
"""

import importlib
import inspect
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Generic, TypeVar, cast

from lossyfl.errors import InputError, one_of

T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., object])


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
        name, options = _split(spec, self._makers)
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
