"""The task: a small network on scikit-learn's digits. Nothing here knows of lossyfl."""

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn

TEST = 360


def make_model() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))


def load(part: int, parts: int) -> tuple[Tensor, Tensor]:
    """The samples of one node."""
    x, y = _digits()
    return x[TEST + part :: parts], y[TEST + part :: parts]


def test_set() -> tuple[Tensor, Tensor]:
    x, y = _digits()
    return x[:TEST], y[:TEST]


def train(model: nn.Module, x: Tensor, y: Tensor, steps: int = 20) -> float:
    """Some steps of SGD; the mean loss."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0.0
    for _ in range(steps):
        batch = torch.randint(0, len(x), (32,))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / steps


def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    with torch.inference_mode():
        return (model(x).argmax(dim=1) == y).float().mean().item()


def _digits() -> tuple[Tensor, Tensor]:
    data = load_digits()
    order = torch.randperm(len(data.target), generator=torch.Generator().manual_seed(0))
    x = torch.tensor(data.data, dtype=torch.float32)[order] / 16
    return x, torch.tensor(data.target)[order]
