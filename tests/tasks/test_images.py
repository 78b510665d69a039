"""The built-in tasks: their data, models and settings."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tests.data.conftest import small_sets as small_sets
from tests.data.small import SMALL_MNIST, SMALL_QMNIST

from lossyfl import InputError
from lossyfl.tasks import check, names, task
from lossyfl.tasks.images import sixteenths


@pytest.mark.parametrize("name", ["digits", "logistic"])
def test_built_in_tasks_need_no_files(name: str) -> None:
    made = task(name)
    assert len(made.train) == 1437
    images = {"cifar10", "digits", "fashion-mnist", "logistic", "mlp", "mnist"}
    assert set(names()) == images | {"shakespeare"}


@pytest.mark.parametrize(
    ("spec", "entries"),
    [("digits", 13_706), ("logistic", 650), ("mlp", 1_076_010), ("mlp:hidden=10", 870)],
)
def test_models_are_as_large_as_documented(spec: str, entries: int) -> None:
    assert sum(p.numel() for p in task(spec).model().parameters()) == entries


def test_pixels_of_digits_are_floats_from_zero_to_one() -> None:
    made = task("digits")
    prepared = made.prepare(torch.from_numpy(made.train.x))
    assert (prepared.min(), prepared.max()) == (0, 1)
    assert torch.equal(sixteenths(torch.tensor([8.0])), torch.tensor([0.5]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    SMALL_MNIST.write(tmp_path / "mnist")
    SMALL_QMNIST.write(tmp_path / "qmnist")
    return tmp_path


@pytest.mark.usefixtures("small_sets")
class TestWriters:
    def test_every_writer_is_a_device(self, folder: Path) -> None:
        """Writers 2, 7 and 9, as the small set has them; those of the test set are no devices."""
        made = task("mnist:by=writer", folder)
        assert made.parts is not None
        assert [part.tolist() for part in made.parts] == [
            [2, 6, 8], [0, 1, 7, 10], [3, 4, 5, 9, 11],
        ]  # fmt: skip
        assert made.defaults.partition == "natural"
        assert np.array_equal(made.test.x, SMALL_MNIST.dataset.test_x)

    def test_mnist_is_not_divided_unless_asked_to_be(self, folder: Path) -> None:
        assert task("mnist", folder).parts is None

    def test_another_word_is_refused(self, folder: Path) -> None:
        with pytest.raises(InputError, match="by of mnist must be writer, or left out, got style"):
            task("mnist:by=style", folder)


def test_options_of_other_tasks_are_refused() -> None:
    with pytest.raises(InputError, match="hidden"):
        check("logistic:hidden=3")
