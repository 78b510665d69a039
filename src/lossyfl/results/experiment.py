"""What is run: every setting that changes the result, by the name it has on the command line.

How it is run (workers, folders, checkpoints) is no part of it: the result is the same.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lossyfl.errors import InputError, one_of
from lossyfl.files.reading import read_text

if TYPE_CHECKING:
    from lossyfl.tasks.base import Defaults  # torch is not needed to check settings


LONGEST = 120
"""Characters of a folder's name: file systems take 255 bytes, people fewer."""
EVALUATE = ("server", "devices", "average")
"""Whose model may be looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The settings of a run; None is what suits the task.

    task:           name:key=value,... or package.module:function
    scheme:         the pair of links, name:key=value,...
    rounds:         how many
    devices:        M
    tau:            local steps a round
    batch:          samples a step
    optimizer:      of the local steps, name:key=value,...
    lr:             its step size: a number, or a function of the round (`tasks.steps`)
    partition:      which device has which samples (`tasks.partitions`)
    participation:  the fraction of devices that is asked to train in a round
    drop_out:       the probability that a device is away for a round: it hears and does nothing
    slow:           the probability that a reply comes too late for its round
    listen:         who hears a broadcast, "all" or the "participants"
    evaluate:       whose model is looked at, and kept at the end: that of the "server", of the "devices", or
                    the running "average" of what devices held
    evaluate_every: rounds from one look at the test set to the next
    evaluate_last:  how many rounds at the end are all looked at
    seed:           of everything random
    """

    task: str = "digits"
    scheme: str = "lfl:q1=2,q2=2"
    rounds: int | None = None
    devices: int | None = None
    tau: int | None = None
    batch: int | None = None
    optimizer: str | None = None
    lr: str | None = None
    partition: str | None = None
    participation: float = 1.0
    drop_out: float = 0.0
    slow: float = 0.0
    listen: str = "all"
    evaluate: str = "server"
    evaluate_every: int = 1
    evaluate_last: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rounds", "devices", "tau", "batch", "evaluate_every", "evaluate_last"):
            _check_int(name, getattr(self, name), 1)
        _check_int("seed", self.seed, 0)
        for name in ("task", "scheme", "optimizer", "partition", "lr"):
            _check_text(name, getattr(self, name))
        _check_float("participation", self.participation, "(0, 1]", lambda x: 0 < x <= 1)
        _check_float("drop_out", self.drop_out, "[0, 1)", lambda x: 0 <= x < 1)
        _check_float("slow", self.slow, "[0, 1)", lambda x: 0 <= x < 1)
        if self.listen not in ("all", "participants"):
            raise InputError("listen", of="a run", allowed="all or participants", got=self.listen)
        if self.evaluate not in EVALUATE:
            allowed = one_of(EVALUATE, str(self.evaluate))
            raise InputError("evaluate", of="a run", allowed=allowed, got=self.evaluate)

    def resolved(self, defaults: "Defaults") -> "Experiment":
        """The same with what suits the task where nothing was said."""
        names = [name for name in KEYS if getattr(self, name) is None]
        return replace(self, **{name: getattr(defaults, name) for name in names})

    def toml(self) -> str:
        """The settings as a TOML file that `lossyfl run` reads."""
        pairs = ((field.name, getattr(self, field.name)) for field in fields(self))
        return "".join(f"{name} = {_toml(v)}\n" for name, v in pairs if v is not None)


KEYS = tuple(field.name for field in fields(Experiment))
"""The names of all settings."""


def read_toml(path: Path) -> dict[str, object]:
    """The keys and values of a TOML file, to be merged with those of the command line."""
    return parse_toml(read_text(path, of="a run"), of=path.name)


def parse_toml(text: str, *, of: str) -> dict[str, object]:
    """The keys and values of a TOML text."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # of thousands of digits or brackets, too
        raise InputError("content", of=of, allowed="TOML", got=str(error)) from error


def experiment(settings: Mapping[str, object]) -> Experiment:
    """The experiment with these settings; unknown ones are errors that name the nearest."""
    check_keys(settings, KEYS)
    values = dict(settings)
    if type(values.get("lr")) in (int, float):
        values["lr"] = str(values["lr"])
    for name in ("participation", "drop_out", "slow"):
        if type(values.get(name)) is int:
            values[name] = float(str(values[name]))
    return Experiment(**values)  # pyright: ignore[reportArgumentType] - it checks them itself


def slug(text: str) -> str:
    """A text as the name of a folder.

    >>> slug("lfl:q1=2,q2=2")
    'lfl-q1=2-q2=2'
    """
    return re.sub(r"[^A-Za-z0-9.=+-]+", "-", text)


def named(chosen: Experiment) -> str:
    """A name for the folder of a run: task, scheme, seed, and every other setting that was said.

    >>> named(Experiment(scheme="lfl:q1=2,q2=2", rounds=50))
    'digits-lfl-q1=2-q2=2-0-rounds=50'
    """
    usual = Experiment()
    first = ("task", "scheme", "seed")
    said = [key for key in KEYS if key not in first and getattr(chosen, key) != getattr(usual, key)]
    rest = "".join(f"-{key}={getattr(chosen, key)}" for key in said)
    name = slug(f"{chosen.task}-{chosen.scheme}-{chosen.seed}{rest}")
    if len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: LONGEST - len(digest) - 1]}-{digest}"


def _toml(value: object) -> str:
    """A value as TOML writes it: as JSON, but for characters beyond 16 bits and the delete."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def check_keys(settings: Mapping[str, object], known: Sequence[str]) -> None:
    """Raise if a setting has no known name."""
    for key in settings:
        if key not in known:
            raise InputError("key", of="a run", allowed=one_of(known, key), got=key)


def _check_int(name: str, value: object, least: int) -> None:
    if value is not None and (type(value) is not int or value < least):
        raise InputError(name, of="a run", allowed=f"an int >= {least}", got=value)


def _check_text(name: str, value: object) -> None:
    if value is not None and (not isinstance(value, str) or not value):
        raise InputError(name, of="a run", allowed="a text", got=value)


def _check_float(name: str, value: object, allowed: str, holds: Callable[[float], bool]) -> None:
    if not isinstance(value, float) or not holds(value):
        raise InputError(name, of="a run", allowed=f"a number in {allowed}", got=value)
