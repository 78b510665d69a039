"""Things by name: `stochastic:levels=2,scale=model`, or a user's own `package.module:Name`."""

import dataclasses
import importlib
from collections.abc import Callable
from typing import Generic, TypeVar

from lossyfl.errors import InputError, one_of

T = TypeVar("T")
C = TypeVar("C", bound=type)


class Registry(Generic[T]):
    """Classes by name, built from text; every class is a dataclass whose fields are its options."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._classes: dict[str, type] = {}

    def register(self, name: str) -> Callable[[C], C]:
        """Make a class known under `name`."""

        def add(cls: C) -> C:
            if name in self._classes:
                free = f"a name that is not taken ({', '.join(self.names())})"
                raise InputError("name", of=self.kind, allowed=free, got=name)
            self._classes[name] = cls
            return cls

        return add

    def names(self) -> list[str]:
        """All registered names, sorted."""
        return sorted(self._classes)

    def build(self, spec: str) -> T:
        """The object that `name:key=value,key=value` describes."""
        name, options = _split(spec)
        cls = _load(name, self.kind) if "." in name else self._classes.get(name)
        if cls is None:
            raise InputError("name", of=self.kind, allowed=one_of(self._classes, name), got=name)
        fields = {field.name for field in dataclasses.fields(cls)}
        for key in options:
            if key not in fields:
                raise InputError("option", of=name, allowed=one_of(fields, key), got=key)
        return cls(**{key: _value(text) for key, text in options.items()})


def _split(spec: str) -> tuple[str, dict[str, str]]:
    """Name and options of a spec; a dotted name keeps its own colon."""
    name, _, rest = spec.partition(":")
    if "." in name:
        attribute, _, rest = rest.partition(":")
        name = f"{name}:{attribute}"
    options: dict[str, str] = {}
    for item in filter(None, rest.split(",")):
        key, equals, text = item.partition("=")
        if not equals or key.strip() in options:
            raise InputError("option", of=name, allowed="key=value, each key once", got=item)
        options[key.strip()] = text.strip()
    return name, options


def _load(path: str, kind: str) -> type:
    """The dataclass at `package.module:Name`."""
    module, _, attribute = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        allowed = "a class that can be imported as package.module:Name"
        raise InputError("path", of=kind, allowed=allowed, got=f"{path} ({error})") from error
    if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise InputError("path", of=kind, allowed="a dataclass", got=path)
    return found


def _value(text: str) -> str | int | float | bool:
    """Text as the number or truth value it spells, else as itself."""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
