"""Apps that are not ours, plain and with schemes: the table of docs/adr/0006.

    python -m scripts.foreign --apps lora batchnorm --schemes lfl:q1=5,q2=5,scale=tensor

Five nodes in this process. Prints the accuracy of the last model, mean and spread over seeds, and the bytes
of all messages of one training. Needs lossyfl[flower,sim], and the tests beside it; without the data of the
apps (`lossyfl data fetch mnist cifar10`) they are trained on digits.
"""

import argparse
import logging
import tempfile
from pathlib import Path

import numpy as np
import torch
from tests.flower.foreign.apps import APPS, ROUNDS, label, play
from tests.flower.foreign.grid import CountingGrid
from tests.flower.foreign.torch_apps import NODES

from lossyfl.flower import lossy_mod


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apps", nargs="+", choices=list(APPS), default=list(APPS))
    parser.add_argument("--schemes", nargs="+", default=[""], help="by default what nobody named")
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.CRITICAL)
    torch.set_num_threads(1)
    print("| app | " + " | ".join(["plain", *(spec or "default" for spec in asked.schemes)]) + " |")
    print("|---" * (2 + len(asked.schemes)) + "|")
    for name in asked.apps:
        cells = [measure(name, spec, asked.seeds) for spec in (None, *asked.schemes)]
        print(f"| {label(name)} | " + " | ".join(cells) + " |", flush=True)


def measure(name: str, spec: str | None, seeds: int) -> str:
    """Accuracy and bytes; a scheme of None is plain Flower."""
    accuracies, nbytes = list[float](), 0
    app = APPS[name].client(*([lossy_mod] if spec is not None else []))
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            grid = CountingGrid(app, NODES, Path(folder))
            accuracies.append(play(name, grid, seed, scheme=spec, rounds=ROUNDS[name]))
            nbytes = grid.nbytes
    return f"{np.mean(accuracies):.1%} ± {np.std(accuracies):.1%}, {nbytes / 1e6:.2f} MB"


if __name__ == "__main__":
    main()
