"""A bare environment with the wheel in it, made by uv, and the Pythons to make it of."""

import email
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
VERSIONS = {"newest": "highest", "oldest": "lowest-direct"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A bare environment with the wheel in it, and a folder to work in."""

    folder: Path
    work: Path

    def run(self, *command: str, code: int = 0, says: str = "") -> str:
        """Run a program of the environment; raise if it does not end or say as it should."""
        variables = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        program = str(self.folder / "bin" / command[0])
        done = subprocess.run(
            [program, *command[1:]],
            cwd=self.work,
            env=variables | {"COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        if done.returncode != code or says not in said or "Traceback" in said:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{said}")
        return said

    def lossyfl(self, *arguments: str, code: int = 0, says: str = "") -> str:
        """Run the command line."""
        return self.run("lossyfl", *arguments, code=code, says=says)

    def packages(self) -> Path:
        """The folder of installed packages."""
        (found,) = self.folder.glob("lib/python3.*/site-packages")
        return found

    def versions(self, wheel: Path, extra: str) -> str:
        """What was installed of that which lossyfl asks for itself."""
        listed = uv("pip", "list", "--format", "json", "--python", self.folder / "bin" / "python")
        found = {each["name"]: each["version"] for each in json.loads(listed)}
        asked = names(requirements(wheel, extra))
        return ", ".join(f"{name} {found[name]}" for name in asked)


def requirements(wheel: Path, extra: str) -> list[str]:
    """What a wheel asks for with these extras, separated by commas.

    uv takes the lowest version only of what it is asked for directly, and of a wheel that is the wheel alone.
    """
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        asked = email.message_from_bytes(archive.read(name)).get_all("Requires-Dist") or []
    wanted = {f'extra == "{each}"' for each in extra.split(",")}
    split = (each.partition(";") for each in asked)
    return [what.strip() for what, _, when in split if not when or when.strip() in wanted]


def names(asked: list[str]) -> Iterator[str]:
    """The names in requirements, without extras and versions."""
    for each in asked:
        yield each[: min((each.index(sign) for sign in "[<>=!~ " if sign in each), default=None)]


def make(
    here: Environment, wheel: Path, extra: str, *, python: str, versions: str, held: tuple[str, ...]
) -> None:
    """Install the wheel with these extras, and nothing that would have to be compiled."""
    here.work.mkdir(parents=True)
    uv("venv", "--quiet", "--python", python, here.folder)
    constraints = here.work.parent / "held.txt"
    constraints.write_text("\n".join(held))
    uv(
        *("pip", "install", "--quiet", "--python", here.folder / "bin" / "python"),
        *(
            "--resolution",
            VERSIONS[versions],
            "--only-binary",
            ":all:",
            "--constraint",
            constraints,
        ),
        *(f"{wheel}[{extra}]" if extra else wheel, *requirements(wheel, extra)),
    )


def uv(*arguments: str | Path) -> str:
    """What uv says, that of this environment if it has one; raise if it fails."""
    beside = Path(sys.executable).parent / "uv"
    program = str(beside) if beside.is_file() else "uv"
    done = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise AssertionError(f"uv {arguments[0]} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def interpreters(asked: list[str]) -> Iterator[tuple[str, str | None]]:
    """All known Pythons, or those that somebody asks for, which have to be here: name and program."""
    for name in asked or PYTHONS:
        found = next(filter(starts, candidates(name)), None)
        if asked and not found:
            sys.exit(f"{name}: not here")
        yield name, found


def candidates(name: str) -> Iterator[str]:
    """Where a Python may be: on the path, and of pyenv, whose shims start only what is switched on."""
    if found := shutil.which(name):
        yield found
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob(f"versions/*/bin/{name}")))


def starts(program: str) -> bool:
    """Whether a program runs at all, as a shim without its Python does not."""
    return subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode == 0
