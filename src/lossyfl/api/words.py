"""What is said in Python -> an experiment's settings, and the objects that stand for some of them."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from lossyfl.errors import InputError
from lossyfl.results.experiment import Experiment, experiment
from lossyfl.results.settings import check_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from lossyfl.protocol.options import Option
    from lossyfl.protocol.scheme import Scheme
    from lossyfl.simulation.given import Given
    from lossyfl.tasks.base import Task

BUDGETS = ("down_budget", "up_budget", "first_budget")
"""Options of the scheme `lean`, which any of them makes the scheme."""


class Common(TypedDict, total=False):
    """The settings of an `Experiment`, as Python has them, but for its scheme."""

    task: "str | Task | Callable[[], Task]"
    rounds: int | None
    devices: int | None
    tau: int | None
    batch: int | None
    optimizer: str | None
    lr: str | float | None
    partition: str | None
    participation: float
    ask_recent: float
    drop_out: float
    slow: float
    listen: str
    evaluate: str
    evaluate_every: int
    evaluate_last: int
    seed: int


class OneRun(Common, total=False):
    """The settings of one run; a number for a budget is bytes."""

    scheme: "str | Scheme"
    down_budget: str | float | None
    up_budget: str | float | None
    first_budget: str | float | None


NAMES = tuple(field.name for field in fields(Experiment))


def asked(base: Experiment | None, said: Mapping[str, object]) -> "tuple[Experiment, Given]":
    """The experiment that somebody asks for, and the objects in it."""
    from lossyfl.simulation.given import Given, word_of_task

    check_keys(said, (*NAMES, *BUDGETS))
    settings = {name: plain(value) for name, value in said.items() if name not in BUDGETS}
    budgets = {name: said[name] for name in BUDGETS if said.get(name) is not None}
    if budgets:
        settings["scheme"] = _within(settings.get("scheme", "lean"), budgets)
    task = scheme = None
    if "task" in settings and not isinstance(settings["task"], str):
        task = task_of(settings["task"])
        settings["task"] = word_of_task(task)
    if "scheme" in settings:
        settings["scheme"], scheme = scheme_of(settings["scheme"])
    chosen = experiment(settings)
    if base is not None:
        kept = {name: getattr(chosen, name) for name in settings}
        chosen = replace(base, **kept)
    return chosen, Given(task=task, scheme=scheme)


def task_of(said: object) -> "Task":
    """A task, or what a function that makes one makes."""
    from lossyfl.tasks.base import Task

    made = said() if callable(said) else said
    if not isinstance(made, Task):
        allowed = "a name, a lossyfl.Task, or a function that makes one"
        raise InputError("task", of="a run", allowed=allowed, got=type(made).__name__)
    return made


def scheme_of(said: object) -> "tuple[str, Scheme | None]":
    """The word of a scheme, and the object where the word does not say all of it."""
    from lossyfl.protocol.scheme import Scheme
    from lossyfl.simulation.given import word_of_scheme

    if isinstance(said, str):
        return said, None
    if not isinstance(said, Scheme):
        allowed = "a text as lfl:q1=2,q2=2, or a lossyfl.Scheme"
        raise InputError("scheme", of="a run", allowed=allowed, got=repr(said))
    return word_of_scheme(said), None if said.spec else said


def schemes_of(said: "Sequence[str | Scheme]") -> "dict[str, Scheme | None]":
    """The words of several schemes, and their objects."""
    if isinstance(said, str):
        allowed = "a list of them"
        raise InputError("schemes", of="a comparison", allowed=allowed, got=said)
    return dict(scheme_of(each) for each in said)


def plain(value: object) -> object:
    """A number of NumPy's as one of Python's, a path as text; everything else as it is."""
    import numpy as np

    if isinstance(value, np.generic):
        return cast("object", value.item())
    return str(value) if isinstance(value, Path) else value


def _within(said: object, budgets: Mapping[str, object]) -> str:
    from lossyfl.protocol.schemes import scheme

    if not isinstance(said, str):
        allowed = "a text, or left out, where budgets are given beside it"
        raise InputError("scheme", of="a run", allowed=allowed, got=repr(said))
    return scheme(said, **cast("dict[str, Option]", dict(budgets))).spec
