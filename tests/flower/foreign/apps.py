"""The apps by name, and a training of one: on any grid, or by Flower's simulation engine.

python -m tests.flower.foreign.apps '{"name": "logistic", "lossy": true, "rounds": 10, "out": "out.json"}'
"""

import json
import os
import sys
import warnings
from pathlib import Path

from flwr.app import ConfigRecord, Context
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg, Strategy
from tests.flower.foreign.images import is_here
from tests.flower.foreign.sklearn_app import SklearnApp, logistic
from tests.flower.foreign.torch_apps import NODES, TorchApp, batchnorm, cnn, lora

from lossyfl.flower import LossyStrategy, lossy_mod

APPS: dict[str, TorchApp | SklearnApp] = {
    "cnn": cnn,
    "batchnorm": batchnorm,
    "lora": lora,
    "logistic": logistic,
}
NEEDS = {"cnn": "cifar10", "batchnorm": "cifar10", "logistic": "mnist"}
"""The data set of each; lines of the standard library are always there, and so are the digits of `images`."""
ROUNDS = {"cnn": 12, "batchnorm": 8, "lora": 12, "logistic": 10}


def label(name: str) -> str:
    """An app's name, and what it is trained on if its data set is not here."""
    return name if name not in NEEDS or is_here(NEEDS[name]) else f"{name} on digits"


def play(name: str, grid: Grid, seed: int, *, scheme: str | None, rounds: int) -> float:
    """Train, and return the accuracy of the last model; a scheme of None is plain Flower."""
    app = APPS[name]
    strategy: Strategy = FedAvg(fraction_evaluate=0.0, min_available_nodes=NODES)
    if scheme is not None:
        strategy = LossyStrategy(strategy, scheme)
    config = ConfigRecord({"seed": seed})
    result = strategy.start(grid, app.initial(seed), num_rounds=rounds, train_config=config)
    return app.accuracy(result.arrays)


def simulate(name: str, out: Path, *, lossy: bool, rounds: int) -> None:
    """The same under Flower's engine."""
    os.environ.setdefault("FLWR_TELEMETRY_ENABLED", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from flwr.simulation import run_simulation

    server = ServerApp()

    @server.main()
    def run(grid: Grid, _: Context) -> None:
        out.write_text(json.dumps(play(name, grid, 0, scheme="" if lossy else None, rounds=rounds)))

    warnings.simplefilter("ignore", DeprecationWarning)
    run_simulation(
        server_app=server,
        client_app=APPS[name].client(*([lossy_mod] if lossy else [])),
        num_supernodes=NODES,
        backend_config={
            "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
            "init_args": {"address": "local", "num_cpus": 2, "log_to_driver": False},
        },
    )


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    simulate(asked["name"], Path(asked["out"]), lossy=asked["lossy"], rounds=asked["rounds"])
