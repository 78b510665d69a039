"""Runs, read from their results directories; also from those that still grow."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import cast

from lossyfl.errors import InputError
from lossyfl.report.longest import longest_replies
from lossyfl.simulation.experiment import Experiment, experiment, read_toml
from lossyfl.simulation.records import Round, Seconds, Traffic, read_rounds
from lossyfl.simulation.results import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What run.json says of a run.

    state:   as `Results.state` says, or "unknown" if nothing is said
    command: that made or resumed it
    machine: processor, system and versions, by name
    """

    state: str = "unknown"
    command: str = ""
    machine: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One results directory.

    name:    the folder, as it was given
    longest: reply of each round, in bytes
    """

    name: str
    settings: Experiment
    about: About
    rounds: tuple[Round, ...]
    longest: tuple[float, ...]


def find(folders: Iterable[Path]) -> list[Run]:
    """The runs in these folders and below, each once, in the order of their names."""
    found: dict[Path, Path] = {}
    for folder in folders:
        inside = _results(folder)
        if not inside:
            allowed = "a results directory (config.toml and rounds.jsonl), or a folder with some"
            raise InputError("folder", of="a report", allowed=allowed, got=str(folder))
        for path in inside:
            found.setdefault(path.resolve(), path)
    return [read(path) for path in sorted(found.values(), key=str)]


def read(folder: Path) -> Run:
    """The run of one results directory."""
    try:
        rounds = read_rounds(folder / "rounds.jsonl")
        for record in rounds:
            _check(record)
        return Run(
            name=str(folder).encode(errors="replace").decode(),  # any bytes may name a folder
            settings=experiment(read_toml(folder / "config.toml")),
            about=replace(_about(folder / "run.json"), state=Results(folder).state() or "unknown"),
            rounds=tuple(rounds),
            longest=longest_replies(folder / "ledger.csv", rounds),
        )
    except (InputError, UnicodeDecodeError) as error:
        allowed = "those that lossyfl wrote"
        raise InputError("results", of=str(folder), allowed=allowed, got=str(error)) from error


def _results(folder: Path) -> list[Path]:
    """All results directories in a folder; the folder itself, if it is one."""
    if not folder.is_dir():
        return []
    found = [path.parent for path in folder.rglob("config.toml")]
    return [path for path in found if (path / "rounds.jsonl").is_file()]


def _about(path: Path) -> About:
    if not path.is_file():
        return About()
    try:
        facts = json.loads(path.read_text())
        machine = cast("Mapping[object, object]", facts.get("machine", {}))
        return About(
            state=str(facts.get("state", "unknown")),
            command=str(facts.get("command", "")),
            machine={str(name): str(value) for name, value in machine.items()},
        )
    except (ValueError, AttributeError) as error:
        raise InputError("content", of=path.name, allowed="JSON", got=str(error)) from error


def _check(record: Round) -> None:
    """Raise if a round has a text where a number belongs."""
    parts: tuple[Traffic, Traffic, Seconds] = (record.down, record.up, record.seconds)
    numbers = [record.round, record.distance, record.replies, record.late]
    for part in parts:
        numbers += astuple(part)
    seen = [record.accuracy, record.test_loss, record.train_loss, record.eps]
    numbers += [value for value in seen if value is not None]
    for value in numbers:
        if type(value) not in (int, float):
            raise InputError("values", of="rounds.jsonl", allowed="numbers", got=value)
