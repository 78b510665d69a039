"""Three apps in torch, as Flower's examples have them, on local data: they know nothing of lossyfl.

cnn        quickstart-pytorch: LeNet's convolutions on CIFAR-10, SGD with momentum
batchnorm  the same with batch norms, whose statistics are no weights
lora       a frozen text model with adapters of rank 4: nodes train and send the adapters and the head only
"""

import argparse
import ast
import inspect
import tarfile
import typing
import unittest.mock
import zipfile
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import cast

import numpy as np
import torch
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.typing import Mod
from tests.flower.foreign.images import images
from torch import Tensor, nn
from torch.nn import functional

Data = tuple[Tensor, Tensor]
NODES = 5
PER_NODE = 800
WORDS = 2048
MODULES: tuple[ModuleType, ...] = (argparse, ast, inspect, tarfile, typing, unittest.mock, zipfile)
"""Whose lines are the text to classify."""


@cache
def cifar() -> tuple[Data, Data]:
    found, most = images("cifar10"), NODES * PER_NODE
    train = _images(found.train_x[:most]), _labels(found.train_y[:most])
    return train, (_images(found.test_x), _labels(found.test_y))


def _images(pixels: np.ndarray) -> Tensor:
    return torch.from_numpy(pixels.astype(np.float32) / 127.5 - 1)


def _labels(labels: np.ndarray) -> Tensor:
    return torch.from_numpy(labels.astype(np.int64))


@cache
def lines() -> tuple[Data, Data]:
    """Lines of the standard library as counts of letter triples, and the module of each."""
    rows, labels = list[np.ndarray](), list[int]()
    for label, module in enumerate(MODULES):
        texts = [text.strip() for text in inspect.getsource(module).splitlines()]
        for text in [text for text in texts if len(text) > 20][:1000]:
            row = np.zeros(WORDS, np.float32)
            letters = text.encode("ascii", "replace")
            triples = zip(letters, letters[1:], letters[2:], strict=False)
            for a, b, c in triples:
                row[(a * 961 + b * 31 + c) % WORDS] += 1
            rows.append(row / np.linalg.norm(row))
            labels.append(label)
    order = np.random.default_rng(0).permutation(len(rows))
    x, y = torch.from_numpy(np.array(rows)[order]), torch.tensor(labels)[order]
    cut = len(x) * 4 // 5
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


class Net(nn.Module):
    """The network of Flower's quickstart."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        x = functional.relu(self.fc1(x.flatten(1)))
        return self.fc3(functional.relu(self.fc2(x)))


def batch_norm_net() -> nn.Module:
    return nn.Sequential(
        *(nn.Conv2d(3, 16, 3, stride=2, bias=False), nn.BatchNorm2d(16), nn.ReLU()),
        *(nn.Conv2d(16, 32, 3, stride=2, bias=False), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(32 * 7 * 7, 64), nn.BatchNorm1d(64), nn.ReLU()),
        nn.Linear(64, 10),
    )


class Adapted(nn.Module):
    """A frozen layer, the same at all nodes, with a product of two thin matrices beside it."""

    def __init__(self) -> None:
        super().__init__()
        frozen = np.random.default_rng(7).normal(size=(256, WORDS)).astype(np.float32)
        self.register_buffer("frozen", torch.from_numpy(frozen / 4), persistent=False)
        self.lora_a = nn.Parameter(torch.randn(4, WORDS) / 16)
        self.lora_b = nn.Parameter(torch.zeros(256, 4))
        self.head = nn.Linear(256, len(MODULES))

    def forward(self, x: Tensor) -> Tensor:
        hidden = x @ cast("Tensor", self.frozen).T + 4 * (x @ self.lora_a.T) @ self.lora_b.T
        return self.head(functional.relu(hidden))


class TorchApp:
    """A model and its data, as a ClientApp and what a server needs."""

    def __init__(
        self,
        make: Callable[[], nn.Module],
        data: Callable[[], tuple[Data, Data]],
        *,
        lr: float,
        momentum: float = 0.9,
        epochs: int = 1,
    ) -> None:
        self.make, self.data, self.lr, self.momentum = make, data, lr, momentum
        self.epochs = epochs

    def initial(self, seed: int) -> ArrayRecord:
        torch.manual_seed(seed)
        return ArrayRecord(self.make().state_dict())

    def accuracy(self, arrays: ArrayRecord) -> float:
        x, y = self.data()[1]
        model = self._model(arrays).eval()
        with torch.no_grad():
            return float((model(x).argmax(1) == y).float().mean())

    def client(self, *mods: Mod) -> ClientApp:
        app = ClientApp(mods=list(mods))

        @app.train()
        def train(message: Message, context: Context) -> Message:
            model = self._model(message.content["arrays"])
            number = int(context.node_config["partition-id"])
            config = message.content["config"]
            seed, now = (cast("int", config[key]) for key in ("seed", "server-round"))
            x, y = (part[number::NODES] for part in self.data()[0])
            rng = torch.Generator().manual_seed(1_000_000 * seed + 1000 * now + number)
            loss = self._fit(model, x, y, rng)
            metrics = MetricRecord({"num-examples": len(x), "train-loss": loss})
            content = RecordDict({"arrays": ArrayRecord(model.state_dict()), "metrics": metrics})
            return Message(content, reply_to=message)

        return app

    def _model(self, arrays: ArrayRecord) -> nn.Module:
        model = self.make()
        model.load_state_dict(arrays.to_torch_state_dict())
        return model

    def _fit(self, model: nn.Module, x: Tensor, y: Tensor, rng: torch.Generator) -> float:
        optimizer = torch.optim.SGD(model.parameters(), lr=self.lr, momentum=self.momentum)
        model.train()
        loss = torch.zeros(())
        for _ in range(self.epochs):
            for batch in torch.randperm(len(x), generator=rng).split(32):
                optimizer.zero_grad()
                loss = functional.cross_entropy(model(x[batch]), y[batch])
                loss.backward()  # pyright: ignore[reportUnknownMemberType]
                optimizer.step()
        return float(loss.detach())


cnn = TorchApp(Net, cifar, lr=0.02)
batchnorm = TorchApp(batch_norm_net, cifar, lr=0.02)
lora = TorchApp(Adapted, lines, lr=0.1)
