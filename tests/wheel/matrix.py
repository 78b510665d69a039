"""The built wheel in bare environments: each Python that is here, newest and oldest versions, each extra.

    python -m tests.wheel.matrix                      all of it; downloads some 20 GB once, mostly torch
    python -m tests.wheel.matrix --extras "" report   only these; "" is the core
    python -m tests.wheel.matrix --python python3.13 --versions newest
    python -m tests.wheel.matrix --hold torch==2.13.0

`uv` makes the environments. The oldest versions are the lowest that pyproject.toml allows and that have a
wheel for the Python; what these ask for in turn is the newest. Each line says what was tried.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.wheel.checks import CHECKS, ROOT
from tests.wheel.environment import VERSIONS, Environment, interpreters, make, uv


def check(
    wheel: Path, extra: str, folder: Path, *, python: str, versions: str, held: tuple[str, ...]
) -> str:
    """One environment, made, tried and removed; the versions that it had."""
    here = Environment(folder=folder / "venv", work=folder / "work")
    try:
        make(here, wheel, extra, python=python, versions=versions, held=held)
        CHECKS[extra](here)
        return here.versions(wheel, extra)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def try_all(wheel: Path, asked: argparse.Namespace, folder: Path) -> tuple[int, int, int]:
    """A line per combination; how many passed, failed, and could not be tried."""
    passed = failed = skipped = 0
    held = tuple(asked.hold)
    for name, python in interpreters(asked.python):
        rows = [(versions, extra) for versions in asked.versions for extra in asked.extras]
        if python is None:
            skipped += len(rows)
            print(f"{name}: not here, {len(rows)} combinations skipped", flush=True)
            continue
        for versions, extra in rows:
            line = f"{Path(name).name}, {versions} versions, {extra or 'core only'}"
            try:
                had = check(wheel, extra, folder, python=python, versions=versions, held=held)
            except AssertionError as error:
                failed += 1
                print(f"{line}: FAILED\n{error}", flush=True)
            else:
                passed += 1
                print(f"{line}: ok ({had})", flush=True)
    return passed, failed, skipped


def main() -> None:
    """All combinations; exit code 1 if one fails or none was tried."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", action="append", default=[], help="a name or a path")
    parser.add_argument("--versions", nargs="+", choices=VERSIONS, default=list(VERSIONS))
    parser.add_argument("--extras", nargs="+", choices=CHECKS, default=list(CHECKS))
    parser.add_argument("--hold", nargs="+", default=[], help="versions that are not to move")
    parser.add_argument("--wheel", type=Path, help="instead of one that is built here")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as name:
        temporary = Path(name)
        if asked.wheel is None:
            uv("build", "--quiet", "--wheel", "--out-dir", temporary, ROOT)
        wheel = asked.wheel or next(temporary.glob("*.whl"))
        passed, failed, skipped = try_all(wheel, asked, temporary / "here")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(0 if passed and not failed else 1)  # where nothing was tried, nothing is known


if __name__ == "__main__":
    main()
