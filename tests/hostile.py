"""Documents and bytes of anybody: whole ones with one thing changed, and such of any shape."""

import copy
import json
import string
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from lossyfl.files import safetensors, snapshot
from lossyfl.files.safetensors import File, Tensor

Json = Any
Path_ = tuple[str | int, ...]

HUGE = (10**400, -(10**400), 2**63, 2**53 + 1, -1, 1e308, float("nan"), float("inf"), "\ud800")

TEXTS = (
    "", "null", "[]", "{}", '"', "[" * 100_000, '{"a":' * 100_000, "1" * 5000, "-1e999", "\x00", "NaN",
    '[{"__proto__": 1}]', "\ufeff{}", "{" + '"a":[' * 400 + "]" * 400 + "}",
)  # fmt: skip


def anything() -> st.SearchStrategy[Json]:
    """JSON of any shape."""
    leaves = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(string.printable, max_size=8)
        | st.sampled_from(HUGE)
    )
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(string.ascii_letters, max_size=4), inner, max_size=3)
        ),
        max_leaves=6,
    )


def _places(document: Json, at: Path_ = ()) -> Iterator[Path_]:
    """Every place in a document, itself first."""
    yield at
    pairs = document.items() if isinstance(document, dict) else ()
    if isinstance(document, list):
        pairs = enumerate(document)
    for key, value in pairs:
        yield from _places(value, (*at, key))


@st.composite
def changed(draw: st.DrawFn, document: Json) -> Json:
    """A document with something else, or nothing, at one of its places."""
    place = draw(st.sampled_from([*_places(document)]))
    if not place:
        return draw(anything())
    result = copy.deepcopy(document)
    parent = result
    for key in place[:-1]:
        parent = parent[key]
    if draw(st.integers(0, 3)) == 0:
        del parent[place[-1]]
    else:
        parent[place[-1]] = draw(anything())
    return result


def texts(document: Json) -> st.SearchStrategy[str]:
    """JSON texts, most of them nearly right."""
    return st.one_of(
        changed(document).map(json.dumps), st.sampled_from(TEXTS), st.text(max_size=20)
    )


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes with some changed, cut, or added."""
    start = draw(st.integers(0, len(data)))
    stop = draw(st.integers(start, min(len(data), start + 8)))
    return data[:start] + draw(st.binary(max_size=8)) + data[stop:]


def whole(file: File) -> bytes:
    """The bytes of a safetensors file."""
    return b"".join(map(bytes, safetensors.pieces(file)))


def again(file: File, facts: str, tensors: tuple[Tensor, ...] | None = None) -> bytes:
    """A snapshot with other facts and a digest that is right."""
    own = file.tensors if tensors is None else tensors
    digest = snapshot._digest(facts, own)  # pyright: ignore[reportPrivateUsage]
    return whole(File(tensors=own, metadata=file.metadata | {"facts": facts, "digest": digest}))
