"""One way to get a data set, and what it raises when it fails."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lossyfl.data.dataset import AnyDataset
from lossyfl.errors import LossyflError


class SourceError(LossyflError):
    """A source that does not give its data set; the message says why, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSource:
    """One way to get a data set.

    title: what is tried, as the user reads it
    get:   the data set of this name, unchecked; it may fill the empty folder that it is given
    """

    title: str
    get: Callable[[str, Path], AnyDataset]
