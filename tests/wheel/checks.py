"""What has to work in a bare environment, for each extra."""

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.wheel.environment import Environment
from tests.wheel.size import check_size

ROOT = Path(__file__).parents[2]
NO_TORCH = "torch is not installed: pip install 'lossyfl[sim]'"
SMALL = ("--rounds", "2", "--devices", "4", "--workers", "2", "-q")


def check_core(here: Environment) -> None:
    """The command line without any extra: coding works, training names what it needs."""
    check_size(here)
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
    """The strategy and the mod in Flower's apps."""
    here.run(
        "python",
        "-c",
        """if True:
        from flwr.clientapp import ClientApp
        from flwr.serverapp.strategy import FedAvg
        from lossyfl.flower import LossyStrategy, lossy_mod
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
