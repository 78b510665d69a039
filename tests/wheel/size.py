"""What lossyfl and all that it needs weigh on a disk, NumPy aside.

python -m tests.wheel.size            the built wheel in a bare environment, newest versions
"""

import argparse
import tempfile
from pathlib import Path

from tests.wheel.environment import Environment, make, uv

ROOT = Path(__file__).parents[2]
LIMIT = 15e6
"""Bytes on disk, of lossyfl with typer, rich and all others beyond NumPy, as the wheels bring them."""
ASIDE = ("numpy", "_virtualenv", "__pycache__")
"""Not counted: what is there without lossyfl."""


def sizes(packages: Path, *, bytecode: bool) -> dict[str, int]:
    """Bytes on disk of each package, with or without what Python compiled; small files take whole blocks."""
    found: dict[str, int] = {}
    for path in packages.rglob("*"):
        parts = path.relative_to(packages).parts
        name = parts[0].removesuffix(".py").partition("-")[0].partition(".")[0]
        if name in ASIDE or (not bytecode and "__pycache__" in parts):
            continue
        found[name] = found.get(name, 0) + path.lstat().st_blocks * 512
    return found


def check_size(here: Environment) -> None:
    """All that a core install brings, before anything has run."""
    total = sum(sizes(here.packages(), bytecode=False).values())
    assert total <= LIMIT, f"{total / 1e6:.1f} MB on disk beyond NumPy, allowed {LIMIT / 1e6:.0f}"


def main() -> None:
    """A line per package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default="python3")
    parser.add_argument("--wheel", type=Path, help="instead of one that is built here")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        here = Environment(folder=Path(name) / "here" / "venv", work=Path(name) / "here" / "work")
        if asked.wheel is None:
            uv("build", "--quiet", "--wheel", "--out-dir", name, ROOT)
        wheel = asked.wheel or next(Path(name).glob("*.whl"))
        make(here, wheel, "", python=asked.python, versions="newest", held=())
        bare = sizes(here.packages(), bytecode=False)
        here.run("python", "-m", "compileall", "-q", str(here.packages()))
        compiled = sizes(here.packages(), bytecode=True)
    print("MB on disk, and with the bytecode that pip compiles when it installs")
    for name in sorted(bare, key=compiled.__getitem__, reverse=True):
        print(f"{bare[name] / 1e6:8.1f} {compiled[name] / 1e6:8.1f}  {name}")
    total = sum(bare.values())
    print(f"{total / 1e6:8.1f} {sum(compiled.values()) / 1e6:8.1f}  all, limit {LIMIT / 1e6:.0f}")
    raise SystemExit(total > LIMIT)


if __name__ == "__main__":
    main()
