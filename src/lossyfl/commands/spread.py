"""Commands with few parameters and many options: a group is one parameter, and its fields are options.

A group is a dataclass whose fields are written as typer's parameters are, or `Said`, the settings that are
said on the command line. `of` says which settings those are: their help, default and type are those of the
settings themselves, the same in every command.

    def train(said: Annotated[Said, of("task", "rounds")], shown: Output) -> None: ...

    app.command()(spread(train))
"""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, TypeAlias, get_args, get_type_hints

import typer

from lossyfl.commands.execution import SETTINGS

Said: TypeAlias = dict[str, object]
"""Settings by their names, only those that are said."""
Values: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Settings:
    """Stands behind `Said`: the settings that are options here, and the defaults that help shows for them."""

    usual: Mapping[str, str]

    def parameters(self) -> list[inspect.Parameter]:
        """One for each."""
        return [self._parameter(name, shown) for name, shown in self.usual.items()]

    def made(self, values: Values) -> Said:
        """Those that are said; a flag that is left out says nothing."""
        mine = {name: values[name] for name in self.usual}
        return {name: v for name, v in mine.items() if v is not None and v is not False}

    @staticmethod
    def _parameter(name: str, shown: str) -> inspect.Parameter:
        kind = SETTINGS[name].allowed.kind
        default, hint = (False, bool) if kind is bool else (None, kind | None)
        return _parameter(name, Annotated[hint, option(name, shown)], default=default)


@dataclass(frozen=True, slots=True)
class _Group:
    """A dataclass whose fields are options."""

    kind: type[Any]

    def parameters(self) -> list[inspect.Parameter]:
        """One for each field."""
        hints = get_type_hints(self.kind, include_extras=True)
        return [
            _parameter(
                each.name,
                hints[each.name],
                default=inspect.Parameter.empty if each.default is MISSING else each.default,
            )
            for each in fields(self.kind)
        ]

    def made(self, values: Values) -> object:
        """The group with what was said."""
        return self.kind(**{each.name: values[each.name] for each in fields(self.kind)})


@dataclass(frozen=True, slots=True)
class _Single:
    """A parameter that is one option or argument."""

    parameter: inspect.Parameter

    def parameters(self) -> list[inspect.Parameter]:
        """Itself."""
        return [self.parameter]

    def made(self, values: Values) -> object:
        """Its value."""
        return values[self.parameter.name]


def of(*names: str, **usual: str) -> _Settings:
    """These settings as options; `usual` are more of them, with what the help shows as their default here."""
    return _Settings({name: SETTINGS[name].shown_default for name in names} | usual)


def option(name: str, shown: str) -> typer.models.OptionInfo:
    """The option of a setting, with what the help shows as its default.

    Any number or text is taken: what is wrong with it is said by the setting, as for one of a file.
    """
    known = SETTINGS[name]
    flags = known.flags or (f"--{name.replace('_', '-')}",)
    words = f"{known.help} Default: {shown}." if shown else known.help
    return typer.Option(*flags, help=words, show_default=False)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer takes it, with one parameter for every option."""
    hints = get_type_hints(command, include_extras=True)
    parts = {
        name: _part(parameter.replace(annotation=hints[name]))
        for name, parameter in inspect.signature(command).parameters.items()
    }

    def called(**values: object) -> None:
        command(**{name: part.made(values) for name, part in parts.items()})

    flat = [parameter for part in parts.values() for parameter in part.parameters()]
    known = {
        "__name__": command.__name__,
        "__doc__": command.__doc__,
        "__module__": command.__module__,
        "__annotations__": {each.name: each.annotation for each in flat},
        "__signature__": inspect.Signature(flat),
    }
    for name, value in known.items():
        setattr(called, name, value)
    return called


def _part(parameter: inspect.Parameter) -> _Settings | _Group | _Single:
    hint = parameter.annotation
    for extra in get_args(hint)[1:]:
        if isinstance(extra, _Settings):
            return extra
    if isinstance(hint, type) and is_dataclass(hint):
        return _Group(hint)
    return _Single(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))


def _parameter(name: str, hint: object, *, default: object) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
