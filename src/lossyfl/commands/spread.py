"""Commands with few parameters and many options: a group is one parameter, and its fields are options.

A group is a named tuple whose fields are written as typer's parameters are, or `Said`, the settings that are
said on the command line. `of` says which settings those are: their help, default and type are those of the
settings themselves, the same in every command.

    def train(said: Annotated[Said, of("task", "rounds")], shown: Output) -> None: ...

    app.command()(spread(train))
"""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from operator import itemgetter
from typing import Annotated, Any, NamedTuple, TypeAlias, get_args

import typer

from lossyfl.commands.execution import SETTINGS

Said: TypeAlias = dict[str, object]
"""Settings by their names, only those that are said."""
Values: TypeAlias = Mapping[str, object]
PANELS = {
    "What is trained": ("task", "rounds", "tau", "batch", "optimizer", "lr", "seed"),
    "What is sent": ("scheme", "downlink_budget", "uplink_budget", "first_budget"),
    "Devices": ("devices", "partition", "participation", "drop_out", "slow", "listen"),
    "What is measured": (
        "evaluate",
        "evaluate_every",
        "evaluate_last",
        "tensorboard",
        "save_updates",
    ),
}
"""Settings in groups of a help text; those in none are among the options of how it is done."""


class _Part(NamedTuple):
    """What becomes of a parameter: its options, and what it is made of their values."""

    options: list[inspect.Parameter]
    made: Callable[[Values], object]


class _Settings:
    """Stands behind `Said`: which settings are options here, with the defaults that the help shows."""

    def __init__(self, usual: Mapping[str, str]) -> None:
        self.usual = usual

    def part(self) -> _Part:
        """One option for each."""
        return _Part([_of_setting(name, shown) for name, shown in self.usual.items()], self._said)

    def _said(self, values: Values) -> Said:
        """Those that are said; a flag that is left out says nothing."""
        mine = {name: values[name] for name in self.usual}
        return {name: v for name, v in mine.items() if v is not None and v is not False}


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
    panel = next((title for title, names in PANELS.items() if name in names), None)
    return typer.Option(*flags, help=words, show_default=False, rich_help_panel=panel)


@cache  # commands share most of them
def _of_setting(name: str, shown: str) -> inspect.Parameter:
    kind = SETTINGS[name].allowed.kind
    default, hint = (False, bool) if kind is bool else (None, kind | None)
    return _parameter(name, Annotated[hint, option(name, shown)], default)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer takes it, with one parameter for every option."""
    hints = inspect.get_annotations(command, eval_str=True)
    parts = {
        name: _part(name, hints[name], parameter.default)
        for name, parameter in inspect.signature(command).parameters.items()
    }

    def called(**values: object) -> None:
        command(**{name: part.made(values) for name, part in parts.items()})

    flat = [option for part in parts.values() for option in part.options]
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


def _part(name: str, hint: object, default: object) -> _Part:
    for extra in get_args(hint)[1:]:
        if isinstance(extra, _Settings):
            return extra.part()
    if hasattr(hint, "_field_defaults"):
        return _group(hint)
    return _Part([_parameter(name, hint, default)], itemgetter(name))


def _group(kind: Any) -> _Part:  # noqa: ANN401
    """One option for each field of a named tuple."""
    hints: dict[str, object] = inspect.get_annotations(kind, eval_str=True)
    usual: Values = kind._field_defaults
    options = [
        _parameter(name, hint, usual.get(name, inspect.Parameter.empty))
        for name, hint in hints.items()
    ]

    def made(values: Values) -> object:
        return kind(**{name: values[name] for name in hints})

    return _Part(options, made)


def _parameter(name: str, hint: object, default: object) -> inspect.Parameter:
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, default=default, annotation=hint)
