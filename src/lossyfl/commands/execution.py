"""The settings of a run that are no setting of the experiment: how it is done, and budgets.

`SETTINGS` are all of them: what a TOML file may say, and the command line by the same names.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from lossyfl.results.experiment import KEYS, Experiment
from lossyfl.results.settings import (
    FLAG,
    PATH,
    TEXT,
    Allowed,
    Setting,
    check_settings,
    number,
    setting,
    settings_of,
    whole_number,
)


def _are_rounds(value: object) -> TypeGuard[str]:
    """Whether a text, or a list of a settings file, names rounds."""
    return all(text.isascii() and text.isdecimal() for text in _parts(value))


def _parts(value: object) -> list[str]:
    return [text.strip() for text in str(value).removeprefix("[").removesuffix("]").split(",")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How a run is done; the result is the same for all of it."""

    workers: int | None = setting(
        None,
        "Processes; the result is the same for any number.",
        whole_number(1),
        usual="one per core",
    )
    out: Path | None = setting(
        None,
        "Results directory.",
        PATH,
        usual="runs/ and a name of all that is said",
        flags=("--out", "-o"),
    )
    data_dir: Path | None = setting(
        None, "Where data sets lie.", PATH, usual="$LOSSYFL_DATA or the user's cache"
    )
    checkpoint_every: float = setting(
        30.0,
        "Seconds from one checkpoint to the next.",
        number("seconds, >= 0", lambda seconds: seconds >= 0),
    )
    tensorboard: bool = setting(False, "Also write TensorBoard events.", FLAG)
    save_updates: str | None = setting(
        None,
        "Rounds whose update vectors are kept, as 0,50,99.",
        Allowed(kind=str, words="numbers of rounds, as 0,50,99", holds=_are_rounds, read=str),
    )

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def saved(self) -> frozenset[int]:
        """The rounds whose updates are kept."""
        return rounds_of(self.save_updates)


HOW = settings_of(Execution)
BUDGETS = {
    "downlink_budget": "down_budget",
    "uplink_budget": "up_budget",
    "first_budget": "first_budget",
}
"""Settings that are options of the scheme `lean`; any of them makes it the scheme."""
_LIMITS = {
    "downlink_budget": "Largest broadcast: 20kB, 0.5bit (per entry), 6MB/300rounds; or an error, nmse=0.1.",
    "uplink_budget": "Largest reply, likewise.",
    "first_budget": "Largest initial model, likewise; any budget makes the scheme lean. Default: exact.",
}
SETTINGS = (
    settings_of(Experiment)
    | {name: Setting(default=None, help=words, allowed=TEXT) for name, words in _LIMITS.items()}
    | HOW
)
OF_MANY_RUNS = (*(key for key in KEYS if key != "scheme"), "workers", "data_dir")
"""Settings that commands of many runs take, each with several schemes."""


def rounds_of(said: object) -> frozenset[int]:
    """The rounds that a text names, or a list of a settings file; none if nothing is said.

    >>> sorted(rounds_of("0,10"))
    [0, 10]
    """
    if said is None:
        return frozenset()
    HOW["save_updates"].check("save_updates", said)
    return frozenset(map(int, _parts(said)))
