"""A batch norm survives coarse schemes, whatever the inner strategy does."""

from pathlib import Path

import numpy as np
import pytest
import torch
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.typing import Mod
from flwr.serverapp import strategy as strategies
from flwr.serverapp.strategy import FedAvg
from tests.flower.app import digits, part
from tests.flower.grid import LocalGrid
from torch import nn

from lossyfl.adapters.arrays import to_array, whole_values
from lossyfl.adapters.layout import Slot
from lossyfl.flower import LossyStrategy, lossy_mod

NODES = 4


def test_names_of_statistics_are_an_option_of_the_strategy(tmp_path: Path) -> None:
    lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0), exact="0.bias")
    lossy.start(LocalGrid(_app(lossy_mod), NODES, tmp_path), _start(), num_rounds=1)
    assert lossy.server.theta.size == 64 * 16 + 16 + 16 + 16 * 10 + 10


def _network() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 10))


def _app(*mods: Mod) -> ClientApp:
    app = ClientApp(mods=list(mods))

    @app.train()
    def train(message: Message, context: Context) -> Message:
        number = int(context.node_config["partition-id"])
        x, y = (torch.tensor(own) for own in part(number))
        net = _network()
        net.load_state_dict(message.content["arrays"].to_torch_state_dict())
        optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
        # As pixels come without scaling: the variance is far larger than any weight.
        for _ in range(10):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(16 * x), y).backward()
            optimizer.step()
        metrics = MetricRecord({"num-examples": len(y)})
        content = RecordDict({"arrays": ArrayRecord(net.state_dict()), "metrics": metrics})
        return Message(content, reply_to=message)

    return app


def _accuracy(arrays: ArrayRecord) -> float:
    net = _network().eval()
    net.load_state_dict(arrays.to_torch_state_dict())
    x, y = digits()
    with torch.inference_mode():
        return float((net(16 * torch.tensor(x[:300])).argmax(1).numpy() == y[:300]).mean())


def _start() -> ArrayRecord:
    torch.manual_seed(0)
    return ArrayRecord(_network().state_dict())


@pytest.mark.parametrize("spec", ["lfl:q1=2,q2=2", "lfl:q1=2,q2=2,scale=model", "lgm:q1=64"])
def test_a_batch_norm_survives_coarse_schemes(spec: str, tmp_path: Path) -> None:
    lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0), spec)
    result = lossy.start(LocalGrid(_app(lossy_mod), NODES, tmp_path), _start(), num_rounds=12)
    assert (result.arrays["1.running_var"].numpy() > 0).all()
    assert _accuracy(result.arrays) > 0.8


def test_statistics_are_fedavgs_mean_of_what_nodes_counted(tmp_path: Path) -> None:
    def train(strategy: strategies.Strategy, app: ClientApp) -> ArrayRecord:
        return strategy.start(LocalGrid(app, NODES, tmp_path), _start(), num_rounds=1).arrays

    plain = train(FedAvg(fraction_evaluate=0.0), _app())
    # The initial model is exact, so that nodes count on the same one.
    scheme = "lfl:q1=5,q2=5,scale=tensor"
    lossy = train(LossyStrategy(FedAvg(fraction_evaluate=0.0), scheme), _app(lossy_mod))
    for name in ("1.running_mean", "1.running_var"):
        assert lossy[name].dtype == "float32"
        np.testing.assert_allclose(lossy[name].numpy(), plain[name].numpy(), rtol=1e-6)
    assert lossy["1.num_batches_tracked"].numpy() == 10


def _brain(*values: float) -> Array:
    own = to_array(np.float32(values), Slot(name="", dtype="bfloat16", shape=(len(values),)))
    return Array(own.dtype, own.shape, own.stype, own.data)


@pytest.mark.parametrize("name", ["FedAvg", "FedMedian"])
def test_statistics_in_bfloat16(name: str, tmp_path: Path) -> None:
    app = ClientApp(mods=[lossy_mod])
    model = ArrayRecord({"w": _brain(0, 1, 2), "running_var": _brain(1, 1)})

    @app.train()
    def train(message: Message, context: Context) -> Message:
        own = dict(message.content["arrays"])
        variance = whole_values(own["running_var"]) + int(context.node_config["partition-id"])
        own["running_var"] = _brain(*variance)
        metrics = MetricRecord({"num-examples": 5})
        content = RecordDict({"arrays": ArrayRecord(own), "metrics": metrics})
        return Message(content, reply_to=message)

    grid = LocalGrid(app, 3, tmp_path / "state")
    inner = getattr(strategies, name)(fraction_evaluate=0.0)
    LossyStrategy(inner, save_to=tmp_path / "saved").start(grid, model, num_rounds=1)
    again = LossyStrategy(inner, save_to=tmp_path / "saved")
    made = again.start(grid, model, num_rounds=2).arrays["running_var"]
    assert made.dtype == "bfloat16"
    assert whole_values(made).tolist() == [3, 3]  # 1, and in each round 0, 1 or 2 more


OPTIMIZERS = {
    "FedAvgM": {"server_momentum": 0.5},
    "FedAdam": {"eta": 0.5},
    "FedYogi": {"eta": 0.5},
    "FedAdagrad": {"eta": 0.5},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_servers_that_step_resume_with_a_batch_norm(name: str, tmp_path: Path) -> None:
    """Moments of a count of batches have no axes; and whatever a step does, no variance is below zero."""

    def train(folder: Path, *stops: int) -> ArrayRecord:
        grid = LocalGrid(_app(lossy_mod), NODES, folder / "state")
        arrays = _start()
        for rounds in stops:
            own = getattr(strategies, name)(fraction_evaluate=0.0, **OPTIMIZERS[name])
            lossy = LossyStrategy(own, save_to=folder / "saved")
            arrays = lossy.start(grid, _start(), num_rounds=rounds).arrays
        return arrays

    twice, once = train(tmp_path / "a", 2, 4), train(tmp_path / "b", 4)
    assert {key: own.data for key, own in twice.items()} == {
        key: own.data for key, own in once.items()
    }
    assert (once["1.running_var"].numpy() >= 0).all()
