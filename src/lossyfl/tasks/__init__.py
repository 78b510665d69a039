"""Tasks by name: what is learned, on which data, by which model.

A task is a function that returns a `Task`; register it here, or name a function of your own as
`package.module:make_task`.
"""

from importlib import import_module
from pathlib import Path

from lossyfl.registry import Registry
from lossyfl.tasks.base import Defaults, Samples, Task

__all__ = ["Defaults", "Samples", "Task", "names", "register", "task"]

_registry: "Registry[Task]" = Registry("task")
register = _registry.register


def task(spec: str, data_dir: Path | None = None) -> Task:
    """The task that `name:key=value,...` describes, its data loaded."""
    _load_builtin()
    return _registry.build(spec, given={"data_dir": data_dir})


def names() -> list[str]:
    """The names of all tasks."""
    _load_builtin()
    return _registry.names()


def _load_builtin() -> None:
    import_module("lossyfl.tasks.images")  # they register themselves
