"""Tasks by name: what is learned, on which data, by which model.

A task is a function that returns a `Task`; register it here, or name a function of your own as
`package.module:make_task`. Names and options can be checked without torch, which takes seconds to import.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from lossyfl.registry import Registry

if TYPE_CHECKING:
    from lossyfl.tasks.base import Defaults, Metric, Samples, Task

__all__ = [
    "Defaults",
    "Metric",
    "Samples",
    "Task",
    "about",
    "check",
    "check_data",
    "names",
    "register",
    "task",
]

_OF_BASE = ("Defaults", "Metric", "Samples", "Task")
_registry: "Registry[Task]" = Registry(
    "task",
    makes="a task (lossyfl.tasks.Task)",
    values=("name", "train", "test", "model", "prepare", "loss", "metrics", "defaults", "parts"),
)
register = _registry.register


def task(spec: str, data_dir: Path | None = None) -> "Task":
    """The task that `name:key=value,...` describes, its data loaded."""
    _load_builtin()
    return _registry.build(spec, given={"data_dir": data_dir})


def check(spec: str) -> None:
    """Raise if a spec names no task, or options that it does not have."""
    _load_builtin()
    _registry.check(spec)


def check_data(spec: str, data_dir: Path | None = None) -> None:
    """Raise if the data of a built-in task is not there; other tasks are not checked."""
    from lossyfl.tasks import needs

    needs.check_data(*_registry.parse(spec), data_dir)


def names() -> list[str]:
    """The names of all tasks."""
    _load_builtin()
    return _registry.names()


def about(name: str) -> str:
    """A line about a task."""
    _load_builtin()
    return _registry.about(name)


def _load_builtin() -> None:
    for module in ("images", "shakespeare"):  # they register themselves
        import_module(f"lossyfl.tasks.{module}")


def __getattr__(name: str) -> object:
    if name not in _OF_BASE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("lossyfl.tasks.base"), name)
