"""Every strategy of Flower that works on arrays, plain and wrapped: the table of docs/flower.md.

    python -m scripts.strategies
    python -m scripts.strategies --model batchnorm --strategies FedAvg --rounds 40

Ten nodes in this process, scikit-learn's digits, each node with a share of its own classes mostly. Prints
accuracy on held-out digits, mean of the last five rounds and of all seeds, and the bytes of replies of one.
Needs lossyfl[flower,sim], and the tests beside it for the grid in one process.
"""

import argparse
import logging
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import strategy as strategies
from sklearn.datasets import load_digits
from tests.flower.grid import LocalGrid
from torch import Tensor, nn

from lossyfl.flower import LossyStrategy, lossy_mod

NODES, TEST, STEPS, BATCH, LAST = 10, 400, 10, 32, 5
SETTINGS: dict[str, dict[str, float | int | str]] = {
    "FedAvg": {},
    "FedProx": {"proximal_mu": 0.1},
    "FedAvgM": {"server_momentum": 0.5},
    "FedAdam": {"eta": 0.01},
    "FedYogi": {"eta": 0.01},
    "FedAdagrad": {"eta": 0.03},
    "FedMedian": {},
    "FedTrimmedAvg": {},
    "Krum": {"num_malicious_nodes": 1},
    "MultiKrum": {"num_malicious_nodes": 1, "num_nodes_to_select": 6},
    "Bulyan": {"num_malicious_nodes": 1},
    "QFedAvg": {"client_learning_rate": 0.1, "q": 0.1, "train_loss_key": "train-loss"},
}


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def batchnorm() -> nn.Module:
    """A small CNN of which half of all arrays are of batch norms."""
    return nn.Sequential(
        *(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(64, 10)),
    )


MODELS = {"perceptron": perceptron, "batchnorm": batchnorm}


@cache
def digits() -> tuple[Tensor, Tensor]:
    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    x = torch.tensor(data.images[order], dtype=torch.float32)[:, None] / 16
    return x, torch.tensor(data.target[order])


@cache
def part(number: int) -> tuple[Tensor, Tensor]:
    """The samples of a node: half of them of two classes, half of all."""
    x, y = digits()
    x, y = x[TEST:], y[TEST:]
    mine = (y == number % 10) | (y == (number + 1) % 10)
    own = torch.where(mine)[0][number % 2 :: 2][:60]
    other = torch.arange(number, len(y), NODES)[:60]
    chosen = torch.cat([own, other])
    return x[chosen], y[chosen]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a training came to: accuracy, and bytes of frames (0 for plain ones)."""

    accuracy: float
    nbytes: int


def make_app(model: str, seed: int, *, lossy: bool) -> ClientApp:
    app = ClientApp(mods=[lossy_mod] if lossy else [])

    @app.train()
    def train(message: Message, context: Context) -> Message:
        number = int(context.node_config["partition-id"])
        turn = int(str(message.content.config_records["config"]["server-round"]))
        random = torch.Generator().manual_seed(1000 * seed + 17 * turn + number)
        net = MODELS[model]()
        net.load_state_dict(message.content.array_records["arrays"].to_torch_state_dict())
        loss = fit(net, *part(number), random)
        metrics = MetricRecord({"num-examples": len(part(number)[0]), "train-loss": loss})
        content = RecordDict({"arrays": ArrayRecord(net.state_dict()), "metrics": metrics})
        return Message(content, reply_to=message)

    return app


def fit(net: nn.Module, x: Tensor, y: Tensor, random: torch.Generator) -> float:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net.train()
    total = 0.0
    for _ in range(STEPS):
        batch = torch.randint(0, len(x), (BATCH,), generator=random)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / STEPS


def accuracy(model: str, arrays: ArrayRecord) -> float:
    net = MODELS[model]()
    net.load_state_dict(arrays.to_torch_state_dict())
    net.eval()
    x, y = digits()
    with torch.inference_mode():
        return float((net(x[:TEST]).argmax(dim=1) == y[:TEST]).float().mean())


def run(model: str, name: str, scheme: str, rounds: int, seed: int) -> Outcome:
    """Train once; the scheme `plain` is Flower without lossyfl, `default` what is sent if none is named."""
    inner: strategies.Strategy = getattr(strategies, name)(
        fraction_evaluate=0.0, min_available_nodes=NODES, **SETTINGS[name]
    )
    lossy = (
        None
        if scheme == "plain"
        else LossyStrategy(inner, "" if scheme == "default" else scheme, seed=seed)
    )
    seen: list[float] = []

    def evaluate(_: int, arrays: ArrayRecord) -> MetricRecord:
        seen.append(accuracy(model, arrays))
        return MetricRecord({"accuracy": seen[-1]})

    torch.manual_seed(seed)
    start = ArrayRecord(MODELS[model]().state_dict())
    with tempfile.TemporaryDirectory() as folder:
        grid = LocalGrid(make_app(model, seed, lossy=lossy is not None), NODES, Path(folder))
        (lossy or inner).start(grid, start, num_rounds=rounds, evaluate_fn=evaluate)
    nbytes = sum(each.up.nbytes for each in lossy.rounds) if lossy else 0
    return Outcome(accuracy=sum(seen[-LAST:]) / LAST, nbytes=nbytes)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=list(MODELS), default="perceptron")
    parser.add_argument("--strategies", nargs="+", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--schemes", nargs="+", default=["default", "lfl:q1=2,q2=2"])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    columns = ["plain", *asked.schemes]
    print(f"| strategy | {' | '.join(columns)} |")
    print("|---|" + "---:|" * len(columns))
    for name in asked.strategies:
        cells: list[str] = []
        for scheme in columns:
            runs = [run(asked.model, name, scheme, asked.rounds, s) for s in range(asked.seeds)]
            each = [100 * one.accuracy for one in runs]
            spread = f" ± {np.std(each, ddof=1):.1f}" if len(each) > 1 else ""
            sent = f", {runs[0].nbytes / 1e3:.0f} kB up" if runs[0].nbytes else ""
            cells.append(f"{np.mean(each):.1f}{spread} %{sent}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
