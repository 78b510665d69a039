"""Objects in the place of an experiment's words: a task or a scheme that somebody made in Python.

Settings are texts, in files and on command lines. An object without one is called `object:NAME@DIGEST` there:
its name, and a digest of what it is made of, so that a results directory tells it from another of that name.
Such a run is repeated and resumed by whoever hands over the same object again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType
from typing import Any, cast

import numpy as np
import xxhash

from lossyfl.errors import InputError
from lossyfl.protocol.scheme import Scheme
from lossyfl.tasks.base import Task

OBJECT = "object:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The objects of an experiment; None where its words say what there is."""

    task: Task | None = None
    scheme: Scheme | None = None


WORDS_ONLY = Given()


def word_of_task(task: Task) -> str:
    """What settings call a task that was given as an object."""
    return f"{OBJECT}{task.name}@{_digest(_pieces(task, set()))}"


def word_of_scheme(scheme: Scheme) -> str:
    """The text that a scheme was made of, or what settings call one that was put together by hand."""
    if scheme.spec:
        return scheme.spec
    return f"{OBJECT}{scheme.name}@{_digest(iter([repr(scheme).encode()]))}"


def check_is_word(text: str, what: str) -> None:
    """Raise for the name of an object that is not there any more."""
    if text.startswith(OBJECT):
        allowed = f"handed over again as an object, lossyfl.run(..., {what}=...), from Python"
        raise InputError(what, of="a run", allowed=allowed, got=text)


def _digest(pieces: Iterator[bytes]) -> str:
    digest = xxhash.xxh3_64()
    for piece in pieces:
        digest.update(len(piece).to_bytes(8, "little"))
        digest.update(piece)
    return digest.hexdigest()


def _pieces(thing: object, seen: set[int]) -> Iterator[bytes]:
    """What a task is made of: numbers, texts, samples, and the code of functions and classes.

    What a function calls in turn is not followed: a change there goes unseen.
    """
    if id(thing) in seen:
        return
    match thing:
        case None | bool() | int() | float() | str() | bytes():
            yield repr(thing).encode()
        case np.ndarray():
            yield f"{thing.dtype}{thing.shape}".encode()
            yield np.ascontiguousarray(thing).tobytes()
        case CodeType():
            yield thing.co_code
            yield from _each([*thing.co_names, *thing.co_consts], seen)
        case partial():
            called = cast("partial[Any]", thing)
            yield from _each([called.func, *called.args, *called.keywords.items()], seen)
        case FunctionType():
            closed = [cell.cell_contents for cell in thing.__closure__ or ()]
            yield from _each([thing.__code__, *(thing.__defaults__ or ()), *closed], seen)
        case tuple() | list():
            yield from _each(list(thing), seen)  # pyright: ignore[reportUnknownArgumentType]
        case type() if thing.__module__ != "builtins":
            seen.add(id(thing))
            yield f"{thing.__module__}.{thing.__qualname__}".encode()
            own = vars(thing).items()
            yield from _each([part for _, part in own if isinstance(part, FunctionType)], seen)
        case _ if hasattr(thing, "__dataclass_fields__"):
            names = list(getattr(thing, "__dataclass_fields__"))  # noqa: B009
            yield from _each([getattr(thing, name) for name in names], seen)
        case _:
            yield str(getattr(thing, "__qualname__", type(thing).__qualname__)).encode()


def _each(things: list[Any], seen: set[int]) -> Iterator[bytes]:
    for thing in things:
        yield from _pieces(thing, seen)
