"""Trainings of strategies of Flower's, plain and wrapped, as several tests run them."""

from flwr.app import ArrayRecord
from flwr.serverapp import strategy as strategies
from flwr.serverapp.strategy import Result, Strategy
from tests.flower.app import NODES, accuracy, look, start
from tests.flower.grid import LocalGrid

from lossyfl.flower import LossyStrategy

INNER = {
    "FedAvg": {},
    "FedProx": {"proximal_mu": 0.1},
    "FedAvgM": {"server_momentum": 0.5},
    "FedAdam": {"eta": 0.03},
    "FedYogi": {"eta": 0.03},
    "FedAdagrad": {"eta": 0.1},
    "FedMedian": {},
    "FedTrimmedAvg": {},
    "Krum": {"num_malicious_nodes": 1},
    "MultiKrum": {"num_malicious_nodes": 1, "num_nodes_to_select": 6},
    "Bulyan": {"num_malicious_nodes": 1},
    "QFedAvg": {"client_learning_rate": 0.5, "q": 0.1, "train_loss_key": "train-loss"},
}


def inner(name: str = "FedAvg", **more: float) -> Strategy:
    settings = {"fraction_evaluate": 0.0, "min_available_nodes": NODES}
    return getattr(strategies, name)(**settings | INNER[name] | more)


def play(strategy: Strategy, grid: LocalGrid, rounds: int = 20) -> Result:
    return strategy.start(grid, start(), num_rounds=rounds, evaluate_fn=look)


def final(result: Result) -> float:
    return accuracy(result.arrays)


def given(lossy: LossyStrategy) -> ArrayRecord:
    given = lossy._training.given
    assert given is not None
    return given
