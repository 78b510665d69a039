"""What of a model is no weight, by name and by form; and that a batch norm survives coarse schemes."""

from collections.abc import Callable
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

from lossyfl.adapters.layout import Slot, check_exact, layout_of, to_array, whole_values
from lossyfl.adapters.statistics import is_statistic
from lossyfl.errors import InputError
from lossyfl.flower import LossyStrategy, lossy_mod

NODES = 4


@pytest.mark.parametrize(
    "name",
    [
        "layer1.0.bn1.running_mean",
        "running_var",
        "batch_normalization_3/moving_variance:0",
        "sequential/bn/moving_mean",
        "batch_stats.BatchNorm_0.var",
        "bn._variance",
        "conv.parametrizations.weight.0._u",
        "conv.activation_post_process.min_val",
        "conv.weight_fake_quant.scale",
    ],
)
def test_statistics_of_all_frameworks_are_known_by_name(name: str) -> None:
    assert is_statistic(name)


@pytest.mark.parametrize("name", ["bn.weight", "mean", "u", "0", "", "running_mean.weight"])
def test_weights_are_no_statistics(name: str) -> None:
    assert not is_statistic(name)


MODULES: dict[str, Callable[[], nn.Module]] = {
    "BatchNorm1d": lambda: nn.BatchNorm1d(4),
    "BatchNorm2d": lambda: nn.BatchNorm2d(4, affine=False),
    "BatchNorm3d": lambda: nn.BatchNorm3d(4).double(),
    "SyncBatchNorm": lambda: nn.SyncBatchNorm(4),
    "InstanceNorm": lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True),
    "LayerNorm": lambda: nn.LayerNorm(4),
    "spectral_norm": lambda: nn.utils.parametrizations.spectral_norm(nn.Conv2d(4, 4, 3)),
    "old spectral_norm": lambda: nn.utils.spectral_norm(nn.Linear(4, 4)),
    "weight_norm": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)),
    "old weight_norm": lambda: nn.utils.weight_norm(nn.Linear(4, 4)),
}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", MODULES)
def test_what_torch_trains_is_in_the_vector_and_nothing_else(name: str) -> None:
    model = nn.ModuleList([nn.Linear(2, 2), MODULES[name]()])
    layout = layout_of(ArrayRecord(model.state_dict()))
    trained = {name for name, _ in model.named_parameters()}
    assert {slot.name for slot in layout.slots if slot.in_vector} == trained


def test_a_count_of_batches_may_be_a_float() -> None:
    model = {"w": Array(_zeros(4)), "bn.num_batches_tracked": Array(np.array(3, np.float32))}
    assert layout_of(ArrayRecord(model)).tensors == (4,)


class TestNamedByTheUser:
    MODEL = ArrayRecord({name: Array(np.zeros(4, np.float32)) for name in ("w", "ema.a", "ema.b")})

    def test_patterns_say_what_else_travels_exactly(self) -> None:
        layout = layout_of(self.MODEL, ["ema.*"])
        assert [slot.name for slot in layout.statistics] == ["ema.a", "ema.b"]

    def test_a_pattern_that_names_nothing(self) -> None:
        with pytest.raises(InputError, match="exact of LossyStrategy must be names of arrays"):
            layout_of(self.MODEL, ["emma.*"])

    def test_they_are_an_option_of_the_strategy(self, tmp_path: Path) -> None:
        lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0), exact="0.bias")
        lossy.start(LocalGrid(_app(lossy_mod), NODES, tmp_path), _start(), num_rounds=1)
        assert lossy.server.theta.size == 64 * 16 + 16 + 16 + 16 * 10 + 10


@pytest.mark.parametrize("of", ["the model", "the reply"])
def test_a_variance_below_zero_is_refused(of: str) -> None:
    layout = layout_of(ArrayRecord({"w": Array(_zeros(4)), "bn.running_var": Array(_zeros(2))}))
    with pytest.raises(InputError, match=f"running_var of {of} must be not below zero, got -0.5"):
        check_exact({"bn.running_var": Array(np.float32([1, -0.5]))}, layout, of=of)


def _exact(*arrays: np.ndarray) -> list[str]:
    layout = layout_of(ArrayRecord(list(arrays)))
    return [slot.name for slot in layout.slots if not slot.in_vector]


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


class TestWithoutNames:
    KERNEL = (8, 8, 3, 3)

    def test_a_batch_norm_shows_by_its_form(self) -> None:
        """Kernel, bias; gamma, beta, mean, variance, count; kernel of the next."""
        row = [_zeros(8) for _ in range(5)]
        model = [_zeros(*self.KERNEL), *row, np.array(3), _zeros(*self.KERNEL)]
        assert _exact(*model) == ["4", "5", "6"]

    def test_biases_are_weights(self) -> None:
        assert _exact(_zeros(64, 32), _zeros(32), _zeros(32, 10), _zeros(10)) == []

    def test_two_long_vectors_are_no_statistics(self) -> None:
        assert _exact(_zeros(1000), _zeros(1000)) == []


def test_a_model_of_statistics_alone_is_one_of_weights() -> None:
    layout = layout_of(ArrayRecord({"bn.running_mean": Array(_zeros(4))}))
    assert layout.tensors == (4,)


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
    return to_array(np.float32(values), Slot(name="", dtype="bfloat16", shape=(len(values),)))


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
