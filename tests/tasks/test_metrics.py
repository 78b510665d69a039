"""What is measured: names, directions, units, and what known metrics come to."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from lossyfl import InputError, Metric, Samples, Task
from lossyfl.tasks.base import usual
from lossyfl.tasks.metrics import ACCURACY, KNOWN, check_names, metric, named

TASK = Task(name="t", train=Samples(x=np.zeros(1), y=np.zeros(1)),
            test=Samples(x=np.zeros(1), y=np.zeros(1)), model=torch.nn.Identity)  # fmt: skip
OUTPUTS = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
TARGETS = torch.tensor([[1.0, 0.0], [0.0, 1.0]])


def test_known_metrics_are_what_their_names_say() -> None:
    """Errors are 0, 2, 3 and 4: MSE 29 / 4, MAE 9 / 4."""

    def value(name: str) -> float:
        known = KNOWN[name]
        assert known.score is not None
        return known.of_mean(float(known.score(OUTPUTS, TARGETS)) / 2)

    assert value("MSE") == 29 / 4
    assert value("RMSE") == math.sqrt(29 / 4)
    assert value("MAE") == 9 / 4
    assert KNOWN["perplexity"].of_mean(math.log(20)) == pytest.approx(20)
    assert KNOWN["perplexity"].of_mean(1e9) == math.inf


def test_one_output_for_one_target_is_no_table_of_all_with_all() -> None:
    square = KNOWN["MSE"].score
    assert square is not None
    assert float(square(torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 2.0]))) == 0
    with pytest.raises(InputError, match="outputs of the model must be as many numbers as targets"):
        square(torch.zeros(2, 3), torch.zeros(2))


def test_a_task_names_what_it_measures() -> None:
    assert TASK.metrics == (ACCURACY,)
    mine = replace(TASK, metric="MSE", better="lower", unit="")
    assert [(each.name, each.better, each.unit) for each in mine.metrics] == [("MSE", "lower", "")]
    several = replace(TASK, metric=("RMSE", Metric(name="R"), "accuracy"), unit="m")
    assert [each.name for each in several.metrics] == ["RMSE", "R", "accuracy"]
    assert [each.unit for each in several.metrics] == ["m", "", "%"]
    own = replace(TASK, metric="AUC", better="higher", score=lambda outputs, _: outputs.sum())
    assert own.metrics[0].score is own.score


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"metric": "AUC"}, r"better of the metric AUC must be \"higher\" or \"lower\""),
        ({"metric": "AUC", "better": "up"}, 'better of the metric AUC must be "higher" or "lower"'),
        (
            {"metric": ACCURACY, "unit": "m"},
            "unit of the task t must be left out: the Metric accuracy",
        ),
        ({"metric": (ACCURACY,), "better": "lower"}, "better of the task t must be left out"),
        ({"metric": ()}, "better of the metric  must be"),
        ({"metric": ("MSE", "MSE")}, "metrics of the task t must be at least one, each once"),
        ({"metric": "a\x1b[2J", "better": "lower"}, "name of a metric must be a printable text"),
        ({"metric": "x" * 41, "better": "lower"}, "name of a metric must be a printable text"),
        ({"metric": "MSE", "unit": "\n"}, "unit of a metric must be a printable text"),
    ],
)
def test_what_is_no_metric(said: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        replace(TASK, **said)  # type: ignore[arg-type]


def test_directions() -> None:
    lower, higher = KNOWN["MSE"], ACCURACY
    assert (lower.best([3, 1, 2]), higher.best([3, 1, 2]), higher.best([])) == (1, 3, None)
    assert lower.is_better(1, 2)
    assert higher.is_better(2, 1)


def test_metrics_are_found_by_name() -> None:
    assert named("MSE", [ACCURACY, KNOWN["MSE"]]) is KNOWN["MSE"]
    with pytest.raises(InputError, match=r"metric of a run must be one of accuracy .*accuracy\?"):
        named("acuracy", [ACCURACY])
    with pytest.raises(InputError, match="got none"):
        check_names([], of="x")
    assert metric("accuracy", unit="of 1").text(0.5) == "0.5 of 1"


def test_inputs_are_prepared_by_their_kind() -> None:
    assert torch.equal(usual(torch.tensor([0, 255], dtype=torch.uint8)), torch.tensor([0.0, 1.0]))
    assert usual(torch.tensor([0.5], dtype=torch.float64)).dtype == torch.float32
    assert usual(torch.tensor([3], dtype=torch.int32)).dtype == torch.int64


def test_fractions_are_apart_in_points() -> None:
    assert (ACCURACY.apart, metric("MSE", unit="m").apart) == ("points", "m")
