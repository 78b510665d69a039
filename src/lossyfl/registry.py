"""Things by name: `stochastic:levels=2,scale=model`, or a user's own `package.module:Name`.

Inside the options of another thing the same is written `stochastic(levels=2,scale=model)`.

Naming something to import runs code, so only a person at this machine may do it, in code or on a command
line. What a message or a file says is data, to be built inside `from_outside`: registered names only, and
those own ones that the person has allowed.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from lossyfl.errors import InputError, LossyflError, one_of

T = TypeVar("T")
C = TypeVar("C", bound=Callable[..., object])

_PATH = re.compile(r"\b[^\W\d][\w.]*:[^\W\d]\w*+(?!\s*=)")
LONGEST = 1000
"""Characters of a spec that comes from outside: far more than any needs."""
PLAIN = ("None", "bool", "int", "float", "str", "bytes", "list", "tuple", "dict", "set")
"""What no factory of ours says that it returns."""


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
    """Classes or functions by name, called with options from text: their keyword parameters.

    kind:    what they make, in a word
    makes:   the same as errors say it, with the type
    methods: that everything made has, so that a class without them need not be called
    values:  that it has besides
    """

    def __init__(
        self, kind: str, *, makes: str, methods: Sequence[str] = (), values: Sequence[str] = ()
    ) -> None:
        self.kind, self.makes = kind, makes
        self.methods, self.values = tuple(methods), tuple(values)
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

    def names(self, *, method: str = "") -> list[str]:
        """All registered names, sorted; with a method, those of what has it."""
        return sorted(
            n for n, maker in self._makers.items() if not method or hasattr(maker, method)
        )

    def parse(self, spec: str) -> tuple[str, dict[str, str]]:
        """The name that a spec says, and its options as texts."""
        return _split(spec, self._makers)

    def options(self, spec: str) -> dict[str, str]:
        """The options that a spec says, as texts."""
        return self.parse(spec)[1]

    def canonical(self, spec: str) -> str:
        """One spelling for all of the same thing, also in later versions: what is no default, sorted."""
        name, options = _split(spec, self._makers)
        maker = self._own(name) if ":" in name else self._makers[name]
        known = inspect.signature(maker).parameters
        said = [
            f"{key}={''.join(text.split())}"
            for key, text in sorted(options.items())
            if key not in known or not _is_default(known[key].default, _value(text))
        ]
        return f"{name}:{','.join(said)}" if said else name

    def build(self, spec: str, given: Mapping[str, object] | None = None) -> T:
        """The object that `name:key=value,key=value` describes.

        given: values for those parameters of these names that the spec leaves open
        """
        name, maker, values = self._call(spec, given or {})
        try:
            made = maker(**values)
        except LossyflError:
            raise
        except TypeError as error:
            raise _wrong_options(name, error) from error
        except (Exception, SystemExit) as error:
            if ":" not in name:  # one of ours: it should not
                raise
            got = f"{type(error).__name__}: {error}"
            raise InputError("result", of=name, allowed=self.makes, got=got) from error
        return self._checked(made, name)

    def about(self, name: str) -> str:
        """The first line of what is said of a registered name."""
        return (inspect.getdoc(self._makers[name]) or "").partition("\n")[0]

    def name_of(self, kind: type) -> str | None:
        """The name that a class is registered under; None for somebody's own."""
        return next((name for name, maker in self._makers.items() if maker is kind), None)

    def _checked(self, made: object, name: str) -> T:
        """The same; raises if it lacks what all of the kind have."""
        lacks = [each for each in self.methods if not callable(getattr(made, each, None))]
        lacks += [each for each in self.values if not hasattr(made, each)]
        if lacks:
            got = f"{type(made).__name__}, without {lacks[0]}"
            raise InputError("result", of=name, allowed=self.makes, got=got)
        return cast("T", made)

    def _own(self, path: str) -> Callable[..., object]:
        """The class or function at `package.module:Name`, unless it obviously makes something else."""
        found = _load(path, self.kind)
        lacks = isinstance(found, type) and [m for m in self.methods if not hasattr(found, m)]
        if lacks or _is_foreign(found):
            allowed = f"a class or function that makes {self.makes}"
            raise InputError("path", of=self.kind, allowed=allowed, got=path)
        return found

    def check(self, spec: str) -> None:
        """Raise if `build` would not even get as far as to make the object; nothing is imported.

        Somebody's own, `package.module:Name`, is not checked.
        """
        if ":" not in self.parse(spec)[0]:
            self._call(spec, {})

    def _call(
        self, spec: str, given: Mapping[str, object]
    ) -> tuple[str, Callable[..., object], dict[str, object]]:
        """What a spec names, and what to call it with."""
        name, maker, options = self._named(spec)
        known = inspect.signature(maker).parameters
        for key in options:
            if key not in known:
                allowed = one_of(known, key) if known else f"left out: {name} has no options"
                raise InputError("option", of=name, allowed=allowed, got=key)
        values = {key: value for key, value in given.items() if key in known}
        values |= {key: _value(text) for key, text in options.items()}
        try:
            inspect.signature(maker).bind(**values)
        except TypeError as error:
            raise _wrong_options(name, error) from error
        return name, maker, values

    def takes(self, spec: str) -> list[str]:
        """The names of all options that what a spec names can have."""
        return list(inspect.signature(self._named(spec)[1]).parameters)

    def _named(self, spec: str) -> tuple[str, Callable[..., object], dict[str, str]]:
        """What a spec names, what makes it, and the options that it says."""
        outside = _outside.get()
        if outside is not None and (len(spec) > LONGEST or not spec.isprintable()):
            allowed = f"at most {LONGEST} characters, all printable"
            raise InputError("text", of=self.kind, allowed=allowed, got=repr(spec[:80]))
        name, options = _split(spec, self._makers)
        if ":" in name and outside is not None and name not in outside.allow:
            allowed = f"a registered one, or allowed here: {outside.how.format(name)}"
            raise InputError("name", of=self.kind, allowed=allowed, got=name)
        maker = self._own(name) if ":" in name else self._makers.get(name)
        if maker is None:
            raise InputError("name", of=self.kind, allowed=one_of(self._makers, name), got=name)
        return name, maker, options


def _wrong_options(name: str, error: TypeError) -> InputError:
    allowed = "those that it takes and needs"
    return InputError("options", of=name, allowed=allowed, got=str(error))


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
    except (Exception, SystemExit) as error:  # whatever a user's module does when it is imported
        allowed = "a class that can be imported as package.module:Name"
        got = f"{path} ({type(error).__name__}: {error})"
        raise InputError("path", of=kind, allowed=allowed, got=got) from error
    try:
        if inspect.isbuiltin(found):  # none of them makes anything of ours
            raise TypeError(path)
        inspect.signature(found)
    except (TypeError, ValueError) as error:  # no function, or one of C's
        allowed = "a class or function whose parameters can be seen"
        raise InputError("path", of=kind, allowed=allowed, got=path) from error
    return found


def _is_foreign(found: Callable[..., object]) -> bool:
    """Whether it can be seen without a call that this makes nothing of ours."""
    defined = inspect.isroutine(found) or isinstance(found, type)
    if defined and str(found.__module__).partition(".")[0] in sys.stdlib_module_names:
        return True
    if inspect.iscoroutinefunction(found) or inspect.isgeneratorfunction(found):
        return True
    says = inspect.signature(found).return_annotation
    # Of a class it is what __init__ returns.
    return inspect.isroutine(found) and str(getattr(says, "__name__", says)) in PLAIN


def _is_default(default: object, value: str | float) -> bool:
    """Whether an option says what holds without it; a default may be anything, as an array."""
    return isinstance(default, str | int | float) and default == value


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
