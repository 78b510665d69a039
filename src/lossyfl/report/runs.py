"""Runs, read from their results directories; also from those that still grow."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from lossyfl.errors import InputError
from lossyfl.files.reading import parse_json, read_text
from lossyfl.report.longest import longest_replies
from lossyfl.report.per_device import Stretch, per_device
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment, experiment, read_toml
from lossyfl.results.handed import as_sent
from lossyfl.results.records import Round, read_rounds
from lossyfl.results.task_facts import UNSAID, TaskFacts, parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What run.json says of a run.

    state:   as `Results.state` says, or "unknown" if nothing is said
    why:     it was stopped, empty if that is not known or it was not
    command: that made or resumed it
    machine: processor, system and versions, by name
    task:    its own name and its metrics
    """

    state: str = "unknown"
    why: str = ""
    command: str = ""
    machine: Mapping[str, str] = field(default_factory=dict[str, str])
    task: TaskFacts = UNSAID


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One results directory.

    name:    the folder, as it was given
    longest: reply of each round, in bytes
    devices: the bytes of each, from its ledger
    """

    name: str
    settings: Experiment
    about: About
    rounds: tuple[Round, ...]
    longest: tuple[float, ...]
    devices: tuple[Stretch, ...] = ()


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
        rounds = read_rounds(Results(folder).rounds)
        settings = experiment(read_toml(folder / "config.toml"))
        return Run(
            name=str(folder).encode(errors="replace").decode(),  # any bytes may name a folder
            settings=settings,
            about=replace(
                read_about(folder / "run.json"), state=Results(folder).state() or "unknown"
            ),
            rounds=as_sent(rounds, folder / "ledger.csv", listen=settings.listen),
            longest=longest_replies(folder / "ledger.csv", rounds),
            devices=per_device(folder / "ledger.csv", settings.devices),
        )
    except (InputError, OSError) as error:
        allowed = "those that lossyfl wrote"
        raise InputError("results", of=str(folder), allowed=allowed, got=str(error)) from error


def _results(folder: Path) -> list[Path]:
    """All results directories in a folder; the folder itself, if it is one."""
    if not folder.is_dir():
        return []
    found = [path.parent for path in folder.rglob("config.toml")]
    return [path for path in found if Results(path).has_rounds]


def read_about(path: Path) -> About:
    """What a run.json says; nothing is known without one."""
    if not path.is_file():
        return About()
    facts = _items(parse_json(read_text(path, of="a run"), of=path.name), of=path.name)
    machine = _items(facts.get("machine", {}), of=path.name)
    return About(
        why=_text(facts.get("why", "")),
        command=_text(facts.get("command", "")),
        machine={_text(name): _text(value) for name, value in machine.items()},
        task=parsed(facts["task"], of=path.name) if "task" in facts else UNSAID,
    )


def _items(facts: object, *, of: str) -> dict[str, object]:
    if not isinstance(facts, dict):
        raise InputError("content", of=of, allowed="names and values", got="others")
    return cast("dict[str, object]", facts)


def _text(value: object) -> str:
    """A text that any file can hold, or a number as text."""
    if not isinstance(value, str | int | float):
        raise InputError("values", of="run.json", allowed="texts", got="others")
    return str(value).encode(errors="replace").decode()
