"""What results say of a task, read from a file that anybody may have written."""

import json

import numpy as np
import pytest

from lossyfl import InputError, Metric, Samples, Task
from lossyfl.results.task_facts import MOST, UNSAID, TaskFacts, parsed, plain, united
from lossyfl.tasks.metrics import ACCURACY, KNOWN


def test_facts_come_back_from_a_file() -> None:
    data = Samples(x=np.zeros(1), y=np.zeros(1))
    task = Task(name="waves", train=data, test=data, model=list, metric=("RMSE", "MAE"), unit="m")  # type: ignore[arg-type]
    facts = TaskFacts.of(task)
    assert parsed(json.loads(json.dumps(facts.json())), of="run.json") == facts
    assert [each.unit for each in facts.metrics] == ["m", ""]
    assert all(each.score is each.final is None for each in facts.metrics)


@pytest.mark.parametrize(
    "facts",
    [
        None,
        [],
        {"name": "x"},
        {"name": "x", "metrics": []},
        {"name": "x", "metrics": 3},
        {"name": 3, "metrics": [{"name": "a", "better": "lower", "unit": ""}]},
        {"name": "x", "metrics": [{"name": "a", "better": "up", "unit": ""}]},
        {"name": "x", "metrics": [{"name": ["a"], "better": "lower", "unit": ""}]},
        {"name": "x", "metrics": [{"name": "\x1b", "better": "lower", "unit": ""}]},
        {"name": "x" * 1001, "metrics": [{"name": "a", "better": "lower", "unit": ""}]},
    ],
)
def test_others_are_refused(facts: object) -> None:
    with pytest.raises(InputError, match=r"task of run\.json must be a name and metrics"):
        parsed(facts, of="run.json")


def test_no_more_than_a_hundred_are_read() -> None:
    many = [{"name": str(number), "better": "lower", "unit": ""} for number in range(1000)]
    assert len(parsed({"name": "x", "metrics": many}, of="f").metrics) == MOST


def test_firsts_come_first() -> None:
    other = Metric(name="other")
    found = united([(KNOWN["MSE"], other), (ACCURACY, KNOWN["MSE"])])
    assert [each.name for each in found] == ["MSE", "accuracy", "other"]
    assert UNSAID.metrics == (ACCURACY,)
    assert plain(ACCURACY).score is None
