"""What is missing is said before torch is imported."""

from pathlib import Path

import pytest
from tests.data.small import SMALL_MNIST

from lossyfl import InputError
from lossyfl.tasks import check_data, names
from lossyfl.tasks.needs import OF_TASK


@pytest.mark.parametrize(
    ("spec", "name"),
    [("mnist", "mnist"), ("logistic:of=cifar10", "cifar10"), ("shakespeare", "shakespeare")],
)
def test_missing_data_of_built_in_tasks_is_said(spec: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"files of {name} must be .*lossyfl data fetch {name}"):
        check_data(spec, tmp_path)


def test_writers_are_needed_beside_the_images(tmp_path: Path) -> None:
    SMALL_MNIST.write(tmp_path / "mnist")
    check_data("mnist", tmp_path)
    with pytest.raises(InputError, match=r"none of qmnist-train-labels-idx2-int.gz, qmnist-test"):
        check_data("mnist:by=writer", tmp_path)


@pytest.mark.parametrize("spec", ["digits", "mlp", "examples.own_task:make_task"])
def test_other_tasks_need_no_files(spec: str, tmp_path: Path) -> None:
    check_data(spec, tmp_path)


def test_it_knows_every_task() -> None:
    assert set(OF_TASK) | {"digits"} == set(names())
