"""What could not run is refused before anything is written."""

from dataclasses import replace
from pathlib import Path

import pytest

from lossyfl import InputError
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.run import run
from lossyfl.simulation.setup import prepare

TINY = "tests.simulation.tiny"
BASE = Experiment(task=f"{TINY}:make_task")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"task": "digit"}, r"name of task must be one of .*did you mean digits\?"),
        ({"task": f"{TINY}:nothing"}, "path of task must be a class that can be imported"),
        ({"task": "no.such.module:make"}, "path of task must be a class that can be imported"),
        ({"task": f"{TINY}:not_a_task"}, "path of task must be a class or function that makes"),
        ({"task": f"{TINY}:untyped"}, "result of .*:untyped must be a task .*, got int"),
        ({"task": f"{TINY}:make_task:size=3"}, "option of .* must be one of pause, samples"),
        ({"scheme": "lf"}, r"did you mean lfl\?"),
        ({"devices": 15}, "devices of the partition paper must be a multiple of the 10 classes"),
        ({"devices": 300, "partition": "iid"}, r"devices of a partition must be in \[1, 200\]"),
        ({"batch": 21}, "batch of a run must be at most 20, the samples of device 0, got 21"),
        ({"partition": "paperr"}, r"did you mean paper\?"),
        ({"optimizer": "sdg"}, r"did you mean sgd\?"),
        ({"lr": "fast"}, "name of step size must be one of"),
        (
            {"task": f"{TINY}:divided", "devices": 3},
            "devices of the task tiny must be 2, as the data is divided",
        ),
        ({"partition": "natural"}, "partition of a run must be another one: the data"),
        ({"task": f"{TINY}:divided", "batch": 101}, "natural:least=101 leaves out such devices"),
        ({"task": f"{TINY}:divided", "partition": "natural:least=101"}, "least of natural must be"),
        (
            {"task": f"{TINY}:plays", "partition": "shards", "devices": 2},
            "labels of a partition by",
        ),
        ({"task": f"{TINY}:outside", "devices": 2}, "samples of device 1 of the task tiny must be"),
        ({"task": f"{TINY}:make_task:samples=0"}, "train samples of a task must be as many inputs"),
    ],
)
def test_errors(settings: dict[str, str], message: str, tmp_path: Path) -> None:
    asked = replace(BASE, **settings)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        run(asked, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_task_may_say_who_has_what() -> None:
    for asked in (BASE, replace(BASE, devices=2), replace(BASE, partition="natural:least=9")):
        setup = prepare(replace(asked, task=f"{TINY}:divided"))
        assert [part[0] for part in setup.parts] == [0, 100]
        assert setup.experiment.devices == 2
        assert setup.experiment.partition == (asked.partition or "natural")
        assert setup.experiment.lr == "0.5"  # the task's


def test_small_devices_can_be_left_out() -> None:
    whole = prepare(replace(BASE, task=f"{TINY}:plays", partition="natural", batch=1))
    small, large = sorted(len(part) for part in whole.parts)
    asked = replace(whole.experiment, devices=None, partition=f"natural:least={small + 1}")
    setup = prepare(asked)
    assert [len(part) for part in setup.parts] == [large]
    assert setup.experiment.devices == 1


def test_another_partition_can_be_said() -> None:
    asked = replace(BASE, task=f"{TINY}:divided", partition="iid", devices=5)
    assert [len(part) for part in prepare(asked).parts] == [40] * 5


@pytest.mark.parametrize("text", ["def make(:", "raise RuntimeError('at import')"])
def test_a_module_that_cannot_be_imported(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"broken_{len(text)}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match=r"path of task must be .*Error"):
        run(replace(BASE, task=f"{name}:make"), tmp_path / "out")
