"""`lossyfl list`: what there is by name."""
# pyright: reportUnknownMemberType=false
# Typer leaves parameters of its own functions without types.

import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from lossyfl.commands.options import Json
from lossyfl.commands.output import echo, echo_json
from lossyfl.extras import require


class Listed(StrEnum):
    """What can be listed."""

    SCHEMES = "schemes"
    QUANTIZERS = "quantizers"
    TASKS = "tasks"
    STRATEGIES = "strategies"


def listing(
    what: Annotated[Listed, typer.Argument(help="What to list.", show_default=False)],
    *,
    as_json: Json = False,
) -> None:
    """What there is by name: schemes, quantizers, tasks, strategies; a line each.

    Strategies are those of Flower, which lossyfl[flower] brings. Yours need no name: package.module:Name.
    """
    found = _LISTS[what]()
    if as_json:
        echo_json(found)
        return
    width = max(map(len, found)) + 2
    for name, words in found.items():
        echo(f"{name:<{width}}{words}")


def _schemes() -> dict[str, str]:
    from lossyfl.protocol import schemes

    return {name: schemes.about(name) for name in schemes.names()}


def _quantizers() -> dict[str, str]:
    from lossyfl import quantizers

    return {name: quantizers.about(name) for name in quantizers.names()}


def _tasks() -> dict[str, str]:
    from lossyfl import tasks

    return {name: tasks.about(name) for name in tasks.names()}


def _strategies() -> dict[str, str]:
    """Flower's own, in the order of their names."""
    module = require("flwr.serverapp.strategy", extra="flower")
    kinds = {name: getattr(module, name) for name in sorted(module.__all__)}
    return {
        name: (inspect.getdoc(kind) or "").partition("\n")[0]
        for name, kind in kinds.items()
        if inspect.isclass(kind)
        and issubclass(kind, module.Strategy)
        and kind is not module.Strategy
    }


_LISTS: dict[Listed, Callable[[], dict[str, str]]] = {
    Listed.SCHEMES: _schemes,
    Listed.QUANTIZERS: _quantizers,
    Listed.TASKS: _tasks,
    Listed.STRATEGIES: _strategies,
}
