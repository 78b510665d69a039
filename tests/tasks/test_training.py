"""Local training is what plain PyTorch does on the same batches."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from lossyfl import InputError
from lossyfl.errors import Diverged
from lossyfl.streams import stream
from lossyfl.tasks import Samples, Task, task
from lossyfl.tasks.metrics import hits
from lossyfl.tasks.models import linear
from lossyfl.tasks.optimizers import optimizer
from lossyfl.tasks.partitions import divide
from lossyfl.tasks.steps import step
from lossyfl.tasks.training import (
    Local,
    OptimizerMoments,
    Score,
    Trainer,
    check_batch,
    chunks,
    initial_model,
    without_denormals,
)

DIGITS = task("digits")
PARTS = divide("iid", DIGITS.train.y, 5, stream(0))
FRESH = OptimizerMoments()


def local(spec: str = "sgd", lr: str = "0.1", tau: int = 3, batch: int = 16) -> Local:
    return Local(tau=tau, batch=batch, optimizer=optimizer(spec), step=step(lr))


def trainer(chosen: Local, of: Task = DIGITS, seed: int = 0) -> Trainer:
    return Trainer(of, PARTS, chosen, seed=seed)


def plain(
    chosen: Trainer, rounds: int, make: type[torch.optim.Optimizer], **options: float
) -> nn.Module:
    """The same steps with torch's own parts, moments kept from round to round."""
    module = initial_model(DIGITS, 0).module
    for parameter in module.parameters():
        parameter.data, parameter.grad = parameter.data.clone(), None
    steps = make(module.parameters(), **options)  # type: ignore[arg-type]
    x, y = torch.from_numpy(DIGITS.train.x), torch.from_numpy(DIGITS.train.y).long()
    for number in range(rounds):
        for batch in chosen.batches(2, number):
            steps.zero_grad()
            nn.functional.cross_entropy(module(DIGITS.prepare(x[batch])), y[batch]).backward()
            steps.step()
    return module


def vector(module: nn.Module) -> np.ndarray:
    return torch.cat([p.detach().reshape(-1) for p in module.parameters()]).numpy()


@pytest.mark.parametrize(
    ("spec", "make", "options"),
    [
        ("sgd", torch.optim.SGD, {}),
        ("sgd:momentum=0.9,moments=kept", torch.optim.SGD, {"momentum": 0.9}),
        (
            "sgd:momentum=0.5,decay=0.01,moments=kept",
            torch.optim.SGD,
            {"momentum": 0.5, "weight_decay": 0.01},
        ),
        # With torch's eps, 1e-8, entries whose gradient is about as small show how a processor rounds.
        ("adam:eps=1e-5,moments=kept", torch.optim.Adam, {"eps": 1e-5}),
        (
            "adam:beta1=0.5,beta2=0.9,eps=1e-4,moments=kept",
            torch.optim.Adam,
            {"betas": (0.5, 0.9), "eps": 1e-4},
        ),
    ],
)
def test_steps_are_torchs(
    spec: str, make: type[torch.optim.Optimizer], options: dict[str, float]
) -> None:
    """Three rounds of one device with its moments kept are one long training."""
    chosen = trainer(local(spec, lr="0.01"))
    theta, moments = initial_model(DIGITS, 0).read(), FRESH
    for number in range(3):
        outcome = chosen.train(2, number, theta, moments)
        theta, moments = outcome.theta.copy(), outcome.moments
    expected = vector(plain(chosen, 3, make, lr=0.01, **options))
    np.testing.assert_allclose(theta, expected, rtol=0, atol=2e-6)


class Tiny(nn.Module):
    """Remembers what became of the smallest floats in it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = linear(64, 10)
        self.seen: list[float] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.append(float(torch.tensor([1e-40]) * 1))
        return self.linear(x)


@pytest.mark.skipif(not torch.set_flush_denormal(False), reason="this processor cannot")
def test_denormals_are_zero_in_training_and_nowhere_else() -> None:
    """Where they are not, a device of one class trains for several times as long."""
    chosen = trainer(local(), of=replace(DIGITS, model=Tiny))
    module = chosen.model.module
    assert isinstance(module, Tiny)
    theta = chosen.train(0, 0, chosen.model.read(), FRESH).theta
    chosen.evaluate(0, theta)
    assert module.seen == [0.0] * 4
    with pytest.raises(ValueError, match="no more"), without_denormals():
        raise ValueError("no more")
    assert np.float32(1e-40) * np.float32(1) != 0
    assert float(torch.tensor([1e-40]) * 1) != 0


def test_reset_moments_leave_nothing() -> None:
    chosen = trainer(local("adam"))
    theta = initial_model(DIGITS, 0).read().copy()
    first = chosen.train(1, 0, theta, FRESH)
    assert first.moments.steps == len(first.moments.values) == 0
    kept = first.theta.copy()
    chosen.train(2, 0, theta, FRESH)
    assert np.array_equal(chosen.train(1, 0, theta, FRESH).theta, kept)


def test_batches_go_through_all_samples_before_any_comes_again() -> None:
    chosen = trainer(local(tau=9, batch=64))
    drawn = chosen.batches(3, 7).numpy().ravel()
    part = PARTS[3]
    assert np.array_equal(np.sort(drawn[: len(part)]), part)
    assert set(drawn[len(part) :]) <= set(part.tolist())
    assert not np.array_equal(drawn, chosen.batches(3, 8).numpy().ravel())


def test_step_size_follows_the_round() -> None:
    theta = initial_model(DIGITS, 0).read().copy()
    chosen = trainer(local(lr="0.1@0/0.2@1", tau=1))
    same = trainer(local(lr="0.2", tau=1))
    moved = chosen.train(0, 1, theta, FRESH).theta.copy()
    assert np.array_equal(moved, same.train(0, 1, theta, FRESH).theta)


def test_dropout_is_the_same_for_the_same_device_and_round() -> None:
    of = replace(DIGITS, model=dropping)
    chosen = trainer(local(), of)
    theta = initial_model(of, 0).read().copy()
    once = chosen.train(1, 4, theta, FRESH).theta.copy()
    torch.rand(100)
    assert np.array_equal(once, chosen.train(1, 4, theta, FRESH).theta)
    assert chosen.evaluate(0, theta) == chosen.evaluate(0, theta)


def dropping() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 10))


def test_evaluation_is_the_whole_test_set_in_chunks() -> None:
    theta = initial_model(DIGITS, 0).read().copy()
    chosen = trainer(local())
    scores = [chosen.evaluate(chunk, theta) for chunk in range(chunks(DIGITS))]
    assert sum(score.samples for score in scores) == len(DIGITS.test)
    module = initial_model(DIGITS, 0).module.eval()
    outputs = module(DIGITS.prepare(torch.from_numpy(DIGITS.test.x)))
    targets = torch.from_numpy(DIGITS.test.y).long()
    assert sum(score.scores[0] for score in scores) == float(hits(outputs, targets))
    mean = nn.functional.cross_entropy(outputs, targets).item()
    assert sum(score.loss for score in scores) / len(targets) == pytest.approx(mean, rel=1e-5)
    assert scores[0] + Score(samples=1, loss=1.0, scores=(1.0,)) != scores[0]


def test_a_loss_that_is_no_number_names_device_and_round() -> None:
    chosen = trainer(local(lr="1e30"))
    with pytest.raises(Diverged, match="training of device 2 diverged in round 5: loss nan"):
        chosen.train(2, 5, initial_model(DIGITS, 0).read(), FRESH)


def test_the_seed_decides_the_start_and_torchs_own_generator_is_left_alone() -> None:
    before = torch.random.get_rng_state()
    a, b, c = (initial_model(DIGITS, seed).read() for seed in (1, 1, 2))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)
    assert torch.equal(before, torch.random.get_rng_state())


def test_a_batch_larger_than_a_device_is_refused() -> None:
    with pytest.raises(
        InputError, match="batch of a run must be at most 287, the samples of device"
    ):
        check_batch(local(batch=288), PARTS)
    with pytest.raises(InputError, match="the partition natural:least=288 leaves out such devices"):
        check_batch(local(batch=288), PARTS, natural=True)


def test_targets_can_be_numbers() -> None:
    x = np.ones((8, 3), dtype=np.float32)
    data = Samples(x=x, y=x[:, :1])
    of = Task(
        name="line", train=data, test=data, model=lambda: linear(3, 1), loss=nn.functional.mse_loss
    )
    line = Trainer(of, [np.arange(8)], local(batch=4), seed=0)
    assert line.train(0, 0, np.zeros(4, np.float32), FRESH).loss > 0
