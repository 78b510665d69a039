"""Our app under Flower's simulation engine, in a process of its own: for benchmarks and tests.

python -m benchmarks.flower_simulation '{"scheme": "lfl", "rounds": 3, "devices": 10, "out": "folder"}'
"""

import json
import logging
import os
import sys
import warnings
from typing import TYPE_CHECKING, cast

from benchmarks.flower import PLAIN

if TYPE_CHECKING:
    from flwr.app import Context
    from flwr.app.user_config import UserConfig
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid


def main(config: "UserConfig", client: "ClientApp | None" = None, cpus: int = 2) -> None:
    """Train with an actor a CPU; `client` instead of ours, if one is given."""
    # Flower and Ray read these when they are imported.
    os.environ.setdefault("FLWR_TELEMETRY_ENABLED", "0")
    os.environ.setdefault("FLWR_DISABLE_UPDATE_CHECK", "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from flwr.serverapp import ServerApp
    from flwr.simulation import run_simulation

    from benchmarks import flower_app

    logging.getLogger("flwr").setLevel(logging.WARNING)
    server = ServerApp()

    @server.main()
    def run(grid: "Grid", context: "Context") -> None:  # noqa: ARG001 - Flower's signature
        flower_app.play(grid, config)

    plain = config["scheme"] == PLAIN
    ours = flower_app.plain_client if plain else flower_app.lossy_client
    warnings.simplefilter("ignore", DeprecationWarning)
    run_simulation(
        server_app=server,
        client_app=client or ours,
        num_supernodes=int(config["devices"]),
        backend_config={
            "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
            "init_args": {"address": "local", "num_cpus": cpus, "log_to_driver": False},
        },
    )


if __name__ == "__main__":
    main(cast("UserConfig", json.loads(sys.argv[1])))
