"""What is run: every setting that changes the result, by the name it has on the command line.

How it is run (workers, folders, checkpoints) is no part of it: the result is the same. The command line makes
its options of these settings, so what takes time to import is imported where it is used.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lossyfl.errors import InputError
from lossyfl.results.settings import (
    TEXT,
    TEXT_OR_NUMBER,
    build,
    check_settings,
    number,
    one_of_words,
    setting,
    whole_number,
)

if TYPE_CHECKING:
    from lossyfl.tasks.base import Defaults  # torch is not needed to check settings


LONGEST = 120
"""Characters of a folder's name: file systems take 255 bytes, people fewer."""
_POSITIVE = whole_number(1)
_PROBABILITY = number("a number in [0, 1)", lambda x: 0 <= x < 1)
_OF_TASK = "the task's"


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The settings of a run; None is what suits the task."""

    task: str = setting(
        "digits", "digits, mnist, shakespeare, ... or package.module:function.", TEXT
    )
    scheme: str = setting("lfl:q1=2,q2=2", "lossless, lb, lfl, lgm, ltgm, lean with options.", TEXT)
    rounds: int | None = setting(None, "How many rounds.", _POSITIVE, usual=_OF_TASK)
    devices: int | None = setting(None, "How many devices.", _POSITIVE, usual=_OF_TASK)
    tau: int | None = setting(None, "Local steps per round.", _POSITIVE, usual=_OF_TASK)
    batch: int | None = setting(None, "Samples per local step.", _POSITIVE, usual=_OF_TASK)
    optimizer: str | None = setting(
        None, "Optimizer of local steps: sgd:momentum=0.9, adam:moments=kept.", TEXT, usual=_OF_TASK
    )
    lr: str | None = setting(
        None, "Step size: 0.1, 0.1@0/0.01@50, cosine:start=...", TEXT_OR_NUMBER, usual=_OF_TASK
    )
    partition: str | None = setting(
        None,
        "Which device has which samples: paper, iid, dirichlet:alpha=0.5, shards:k=2, natural.",
        TEXT,
        usual=_OF_TASK,
    )
    participation: float = setting(
        1.0,
        "Fraction of devices that train in a round.",
        number("a number in (0, 1]", lambda x: 0 < x <= 1),
    )
    drop_out: float = setting(0.0, "Probability that a device is away for a round.", _PROBABILITY)
    slow: float = setting(
        0.0, "Probability that a reply comes too late for its round.", _PROBABILITY
    )
    listen: str = setting("all", "Who hears broadcasts.", one_of_words("all", "participants"))
    evaluate: str = setting(
        "server",
        "Whose model is evaluated, and kept at the end.",
        one_of_words("server", "devices", "average"),
    )
    evaluate_every: int = setting(1, "Rounds from one evaluation to the next.", _POSITIVE)
    evaluate_last: int = setting(1, "Rounds at the end that are all evaluated.", _POSITIVE)
    seed: int = setting(0, "Of everything random.", whole_number(0))

    def __post_init__(self) -> None:
        check_settings(self)

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
    from lossyfl.files.reading import read_text

    return parse_toml(read_text(path, of="a run"), of=path.name)


def parse_toml(text: str, *, of: str) -> dict[str, object]:
    """The keys and values of a TOML text."""
    import tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # of thousands of digits or brackets, too
        raise InputError("content", of=of, allowed="TOML", got=str(error)) from error


def experiment(settings: Mapping[str, object]) -> Experiment:
    """The experiment with these settings; unknown ones are errors that name the nearest."""
    return build(Experiment, settings)


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
    import hashlib

    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: LONGEST - len(digest) - 1]}-{digest}"


def _toml(value: object) -> str:
    """A value as TOML writes it: as JSON, but for characters beyond 16 bits and the delete."""
    import json

    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
