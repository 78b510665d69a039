"""The built-in tasks: their data, models and settings."""

from pathlib import Path

import pytest
import torch

from lossyfl import InputError
from lossyfl.tasks import check, check_data, names, task
from lossyfl.tasks.images import sixteenths


@pytest.mark.parametrize("name", ["digits", "logistic"])
def test_built_in_tasks_need_no_files(name: str) -> None:
    made = task(name)
    assert len(made.train) == 1437
    assert set(names()) == {"cifar10", "digits", "fashion-mnist", "logistic", "mlp", "mnist"}


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


def test_missing_data_of_built_in_tasks_is_said(tmp_path: Path) -> None:
    for spec, name in (("mnist", "mnist"), ("logistic:of=cifar10", "cifar10")):
        with pytest.raises(
            InputError, match=f"files of {name} must be .*lossyfl data fetch {name}"
        ):
            check_data(spec, tmp_path)
    for spec in ("digits", "mlp", "examples.own_task:make_task"):
        check_data(spec, tmp_path)


def test_options_of_other_tasks_are_refused() -> None:
    with pytest.raises(InputError, match="hidden"):
        check("logistic:hidden=3")
