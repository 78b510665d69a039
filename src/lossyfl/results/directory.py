"""The results directory: everything about a run that is worth keeping, readable while it goes on.

config.toml        every setting; `lossyfl run config.toml` repeats the run
run.json           versions, machine, command, state, and a summary at the end
rounds.jsonl       a line per round: metrics, losses, bytes, times (`records.Round`); or rounds.jsonl.gz
ledger.csv         every frame (`ledger_file`)
model.safetensors  the model at the end
checkpoint/        what `lossyfl resume` goes on from; may be deleted when the run is done
tensorboard/       with --tensorboard
updates/           with --save-updates
"""

import fcntl
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, cast, get_args

from lossyfl.errors import InputError
from lossyfl.files import disk, safetensors
from lossyfl.files.atomic import (
    is_temporary,
    private_folder,
    remove_leftovers,
    write_atomically,
)
from lossyfl.files.reading import parse_json, read_text
from lossyfl.files.safetensors import File, Tensor
from lossyfl.protocol.ledger import Ledger
from lossyfl.results import ledger_file, machine
from lossyfl.results.experiment import Experiment, experiment, read_toml
from lossyfl.results.handed import as_sent
from lossyfl.results.records import Round, packed, read_rounds
from lossyfl.results.summary import summarize
from lossyfl.results.task_facts import UNSAID
from lossyfl.types import Vector

if TYPE_CHECKING:
    from lossyfl.tasks.flat import Place  # torch is not needed to read and write results

State = Literal["running", "interrupted", "stopped", "diverged", "done"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How long the growing files are."""

    rounds: int
    ledger: int


class Results:
    """A results directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config, self.about = folder / "config.toml", folder / "run.json"
        self.rounds, self.ledger = folder / "rounds.jsonl", folder / "ledger.csv"
        self.model, self.checkpoint = folder / "model.safetensors", folder / "checkpoint"
        self.updates = folder / "updates"
        self.task = UNSAID
        """What is written of the task; whoever runs it says so."""

    @property
    def has_rounds(self) -> bool:
        """Whether `read_rounds` finds a file."""
        return self.rounds.is_file() or packed(self.rounds).is_file()

    def create(self, settings: Experiment) -> None:
        """Write all that is known before the first round."""
        self.write_config(settings)  # first: it says that the folder is a run's
        self.close_to_others()
        write_atomically(self.rounds, [])
        write_atomically(self.ledger, [ledger_file.HEADER.encode()])
        disk.sync_folder(self.folder.absolute().parent)

    def close_to_others(self) -> None:
        """Have a folder for checkpoints that only its owner can open."""
        try:
            private_folder(self.checkpoint)
        except OSError as error:
            allowed = "a folder of one's own, and no link"
            raise InputError("checkpoint", of="a run", allowed=allowed, got=str(error)) from error

    def check_free(self, *, force: bool) -> None:
        """Raise if the folder is taken; it may hold a run without any round, with `force` any run."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError("out", of="a run", allowed="a folder", got=str(self.folder))
        inside = self.folder.iterdir() if self.folder.exists() else ()
        if all(path.name == ".lock" or self._is_leftover(path) for path in inside):
            return  # a run that was killed before it wrote its settings, at the most
        shown = shlex.quote(str(self.folder))
        if not self._holds_a_run():
            raise InputError(
                "out", of="a run", allowed="a new folder, or one that a run made", got=shown
            )
        if not force and self._holds_rounds():
            more = (
                f", or `lossyfl resume {shown}`"
                if any(self.checkpoint.glob("*.safetensors"))
                else ""
            )
            allowed = f"a new folder, or with --force{more}"
            raise InputError("out", of="a run", allowed=allowed, got=shown)

    def _holds_rounds(self) -> bool:
        """Whether anything would be lost with what is there."""
        if self.rounds.is_file():
            return self.rounds.stat().st_size > 0
        # Else somebody took the rounds away.
        return self.has_rounds or any(self.checkpoint.glob("*.safetensors"))

    def _holds_a_run(self) -> bool:
        """Whether the settings of a run are there; other files have that name, too."""
        try:
            self.read_config()
        except InputError:
            return False
        return True

    def _is_leftover(self, path: Path) -> bool:
        """Whether a file is what a killed process left of one of ours, of today's version or older ones."""
        names = [own.name for own in self._files()]
        older = re.compile(rf"\.({'|'.join(map(re.escape, names))})\.[a-z0-9_]{{8}}")
        ours = any(is_temporary(path.name, of=name) for name in names)
        return (ours or bool(older.fullmatch(path.name))) and path.is_file()

    def _files(self) -> tuple[Path, ...]:
        """All files but those in folders; the settings last."""
        rounds = (self.rounds, packed(self.rounds))
        return (self.about, *rounds, self.ledger, self.model, self.config)

    def clear(self) -> None:
        """Remove what a run has written, and nothing else; the settings last: they say whose folder it is."""
        for folder in (self.checkpoint, self.updates, self.folder / "tensorboard"):
            if folder.is_symlink():
                disk.unlink(folder)  # and not what it leads to
            disk.before("unlink", folder)
            shutil.rmtree(folder, ignore_errors=True)
        self.remove_leftovers()
        for path in self._files():
            disk.unlink(path)

    def remove_leftovers(self) -> None:
        """Remove temporary files of processes that were killed; the folder is locked."""
        for path in self.folder.iterdir():
            if self._is_leftover(path):
                disk.unlink(path)
        for folder in (self.checkpoint, self.updates):
            if folder.is_dir() and not folder.is_symlink():
                remove_leftovers(folder)

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keep every other process from running in this folder."""
        with self._lock_file() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                allowed = "a folder in which no other run is going on"
                raise InputError("out", of="a run", allowed=allowed, got=str(self.folder)) from None
            yield

    def _lock_file(self) -> IO[bytes]:
        """The file that is locked, in a folder that is there then."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK
            return os.fdopen(disk.open_own(self.folder / ".lock", flags, 0o666), "r+b")
        except OSError as error:
            allowed = "a folder that can be made and written"
            raise InputError("out", of="a run", allowed=allowed, got=str(error)) from error

    def write_config(self, settings: Experiment) -> None:
        """Write all settings of the run to config.toml."""
        write_atomically(self.config, [settings.toml().encode()])

    def read_config(self) -> Experiment:
        """The settings of the run."""
        if not self.config.is_file():
            allowed = "a results directory, with a config.toml (without one, begin: lossyfl run)"
            raise InputError("folder", of="a run", allowed=allowed, got=str(self.folder))
        return experiment(read_toml(self.config))

    def state(self) -> 'State | Literal[""]':
        """How the run stands, by its own words; empty if there are none.

        A run that says that it is running but has let go of its folder was killed: "stopped".
        """
        try:
            facts = parse_json(read_text(self.about, of="a run"), of=self.about.name)
        except InputError:
            return ""
        said = cast("dict[str, object]", facts).get("state") if isinstance(facts, dict) else ""
        if said not in get_args(State):
            return ""
        killed = said == "running" and not is_locked(self.folder)
        return "stopped" if killed else cast("State", said)

    def write_about(
        self, state: State, rounds: list[Round], command: str | None = None, why: str = ""
    ) -> None:
        """How the run stands; `command` made it, by default that of this process; `why` it was stopped."""
        typed = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
        facts = {
            "state": state,
            **({"why": why} if why else {}),
            "command": typed if command is None else command,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": machine.describe(),
            "task": self.task.json(),
            "summary": asdict(summarize(rounds)),
        }
        write_atomically(self.about, [json.dumps(facts, indent=1).encode() + b"\n"])

    def append(self, record: Round, ledger: Ledger) -> None:
        """Add a round; whole lines, so that a reader never sees half of one."""
        disk.append(self.ledger, "".join(ledger_file.lines(ledger.entries)))
        disk.append(self.rounds, record.line())

    def rounds_as_sent(self) -> list[Round]:
        """All rounds, with what each device was sent where every one was sent its own."""
        rounds = read_rounds(self.rounds)
        return list(as_sent(rounds, self.ledger, listen=self.read_config().listen))

    def sizes(self) -> Sizes:
        """How long the growing files are now, brought to the disk."""
        for path in (self.rounds, self.ledger):
            with path.open("rb") as file:
                disk.sync(file.fileno(), path)
        return Sizes(rounds=self.rounds.stat().st_size, ledger=self.ledger.stat().st_size)

    def truncate(self, sizes: Sizes) -> list[Round]:
        """Go back to a checkpoint's sizes; the rounds before it."""
        for path, size in ((self.rounds, sizes.rounds), (self.ledger, sizes.ledger)):
            if not path.is_file() or path.stat().st_size < size:
                allowed = f"as long as at the checkpoint, {size:,} bytes"
                raise InputError("content", of=str(path), allowed=allowed, got="less")
        for path, size in ((self.rounds, sizes.rounds), (self.ledger, sizes.ledger)):
            with path.open("r+b") as file:
                disk.truncate(file.fileno(), path, size)
        return self.rounds_as_sent()

    def keep_rounds(self, count: int) -> None:
        """Forget all rounds but the first ones."""
        lines = self.rounds.read_text().splitlines(keepends=True)[:count]
        head, *entries = self.ledger.read_text().splitlines(keepends=True)
        kept = [entry for entry in entries if int(entry.partition(",")[0]) < count]
        write_atomically(self.rounds, ["".join(lines).encode()])
        write_atomically(self.ledger, ["".join([head, *kept]).encode()])

    def write_model(self, theta: Vector, places: "tuple[Place, ...]") -> None:
        """The model's tensors, by the names that torch gives them."""
        tensors = tuple(
            Tensor(
                name=place.name,
                dtype="F32",
                shape=place.shape,
                data=theta[place.start : place.stop].astype("<f4").tobytes(),
            )
            for place in places
        )
        safetensors.write(self.model, File(tensors=tensors, metadata={"format": "pt"}))


def is_locked(folder: Path) -> bool:
    """Whether a process works in a folder."""
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(folder / ".lock", flags), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # none, or none that a run would lock
        return False
    return False
