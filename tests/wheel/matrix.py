"""The built wheel in bare environments: each Python that is here, newest and oldest versions, each extra.

    python tests/wheel/matrix.py                      all of it; downloads some 10 GB once, mostly torch
    python tests/wheel/matrix.py --extras "" report   only these; "" is the core
    python tests/wheel/matrix.py --python python3.13 --versions newest

`uv` makes the environments. The oldest versions are the lowest that pyproject.toml allows and that have a
wheel for the Python; what these ask for in turn is the newest.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")
VERSIONS = {"newest": "highest", "oldest": "lowest-direct"}
NO_TORCH = "torch is not installed: pip install 'lossyfl[sim]'"
SMALL = ("--rounds", "2", "--devices", "4", "--workers", "2", "-q")


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


def check_core(here: Environment) -> None:
    """The command line without any extra: coding works, training names what it needs."""
    here.lossyfl("--version", says="lossyfl ")
    here.lossyfl("--help", says="compare")
    here.lossyfl("run", "--help", says="--downlink-budget")
    here.lossyfl("codec", "demo", says="vs 32 bits")
    here.lossyfl("compare", "--schemes", "lossless", "lffl", code=2, says="did you mean lfl?")
    for command in ("run", "demo", "compare", "tune"):
        here.lossyfl(command, code=2, says=NO_TORCH)
    here.run(
        "python",
        "-c",
        f"""if True:
        try:
            from lossyfl.tasks import Task
        except ImportError as error:
            assert str(error) == {NO_TORCH!r}
        else:
            raise AssertionError
    """,
    )


def check_sim(here: Environment) -> None:
    """A run, one more round of it, and a comparison."""
    here.lossyfl("run", *SMALL, "--partition", "dirichlet", "--out", "run", says="results in run")
    here.lossyfl("resume", "run", "--rounds", "3", "-q", says="3 rounds")
    here.lossyfl("compare", "--schemes", "lossless", "lfl", *SMALL, "--out", "two", says="lfl")
    here.lossyfl("report", "run", says="report.html")


def check_tensorboard(here: Environment) -> None:
    """Events beside a run."""
    here.lossyfl("run", *SMALL, "--out", "run", "--tensorboard", says="results in run")
    assert list((here.work / "run" / "tensorboard").iterdir())


def check_report(here: Environment) -> None:
    """A figure."""
    here.run("python", "-c", "import numpy as n; n.save('x.npy', n.arange(999, dtype=n.float32))")
    here.lossyfl("tune", "--vector", "x.npy", "--figure", "x.png", says="deadzone")
    assert (here.work / "x.png").stat().st_size > 5_000
    here.run("python", "-c", "import PIL.Image")


def check_flower(here: Environment) -> None:
    """The strategy and the mod in Flower's apps, and certificates for a deployment."""
    here.run(
        "python",
        "-c",
        """if True:
        from flwr.clientapp import ClientApp
        from flwr.serverapp.strategy import FedAvg
        from lossyfl.flower import LossyStrategy, lossy_mod
        import lossyfl.flower.deployment.certificates
        LossyStrategy(FedAvg(), "lfl:q1=2,q2=2")
        ClientApp(mods=[lossy_mod])
    """,
    )
    here.lossyfl("--version", says="lossyfl ")


def check_bench(here: Environment) -> None:
    """The codec against its peers, by the benchmarks of the checkout."""
    shutil.copytree(ROOT / "benchmarks", here.work / "benchmarks", dirs_exist_ok=True)
    here.lossyfl("bench", "codec", "--quick", says="constriction")


CHECKS: dict[str, Callable[[Environment], None]] = {
    "": check_core,
    "sim": check_sim,
    "sim,tensorboard": check_tensorboard,
    "report": check_report,
    "flower": check_flower,
    "bench": check_bench,
}


def uv(*arguments: str | Path) -> None:
    """Run uv, that of this environment if it has one."""
    beside = Path(sys.executable).parent / "uv"
    program = str(beside) if beside.is_file() else "uv"
    subprocess.run([program, *map(str, arguments)], check=True)


def pythons(asked: list[str]) -> Iterator[str]:
    """Those that are here, of all; one that somebody asks for has to be."""
    for name in asked or PYTHONS:
        found = next(filter(starts, candidates(name)), None)
        if found:
            yield found
        elif asked:
            sys.exit(f"{name}: not here")
        else:
            print(f"{name}: not here", flush=True)


def candidates(name: str) -> Iterator[str]:
    """Where a Python may be: on the path, and of pyenv, whose shims start only what is switched on."""
    if found := shutil.which(name):
        yield found
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob(f"versions/*/bin/{name}")))


def starts(program: str) -> bool:
    """Whether a program runs at all, as a shim without its Python does not."""
    return subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode == 0


def check(wheel: Path, python: str, versions: str, extra: str, folder: Path) -> None:
    """One environment, made, tried and removed."""
    here = Environment(folder=folder / "venv", work=folder / "work")
    here.work.mkdir(parents=True)
    uv("venv", "--quiet", "--python", python, here.folder)
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    how = ("--resolution", VERSIONS[versions], "--only-binary", ":all:")
    uv("pip", "install", "--quiet", "--python", here.folder / "bin" / "python", *how, what)
    CHECKS[extra](here)


def main() -> None:
    """All combinations, a line each; exit code 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--versions", nargs="+", choices=VERSIONS, default=list(VERSIONS))
    parser.add_argument("--extras", nargs="+", choices=CHECKS, default=list(CHECKS))
    parser.add_argument("--wheel", type=Path, help="instead of one that is built here")
    asked = parser.parse_args()
    failed = passed = 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as name:
        temporary = Path(name)
        if asked.wheel is None:
            uv("build", "--quiet", "--wheel", "--out-dir", temporary, ROOT)
        wheel = asked.wheel or next(temporary.glob("*.whl"))
        for python in pythons(asked.python):
            for versions in asked.versions:
                for extra in asked.extras:
                    line = f"{Path(python).name}, {versions} versions, {extra or 'core only'}"
                    try:
                        check(wheel, python, versions, extra, temporary / "here")
                    except (AssertionError, subprocess.CalledProcessError) as error:
                        failed += 1
                        print(f"{line}: FAILED\n{error}", flush=True)
                    else:
                        passed += 1
                        print(f"{line}: ok", flush=True)
                    shutil.rmtree(temporary / "here", ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(0 if passed and not failed else 1)  # where nothing was tried, nothing is known


if __name__ == "__main__":
    main()
