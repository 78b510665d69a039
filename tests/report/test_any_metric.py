"""A report of a task that measures something else than an accuracy, and several things at once."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.synthetic import SETTINGS, record, write

from lossyfl.report import csv_of_groups, csv_of_rounds, figure, markdown, page
from lossyfl.report.groups import Group, group
from lossyfl.report.payload import Options, payload
from lossyfl.report.rows import row
from lossyfl.report.runs import find
from lossyfl.report.savings import points
from lossyfl.results.task_facts import TaskFacts
from lossyfl.tasks.metrics import Metric

FACTS = TaskFacts(
    name="weather",
    metrics=(Metric(name="RMSE", better="lower", unit="°C"), Metric(name="hit", unit="%")),
)


def write_weather(folder: Path, scheme: str, values: list[float], task: str = "mine:make") -> None:
    rounds = [
        replace(record(t), metrics={"RMSE": value, "hit": value / 10}, test_loss=value**2)
        for t, value in enumerate(values)
    ]
    write(folder, replace(SETTINGS, scheme=scheme, task=task), rounds=rounds)
    about = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(about | {"task": FACTS.json()}))


@pytest.fixture
def groups(tmp_path: Path) -> list[Group]:
    write_weather(tmp_path / "a", "lossless", [5.0, 2.0, 3.0])
    write_weather(tmp_path / "b", "lfl", [6.0, 2.5, 4.0])
    return group(find([tmp_path]))


def test_rows_know_which_way_is_better(groups: list[Group]) -> None:
    facts = row(groups[0])
    assert (facts.metric.name, facts.last, facts.best) == ("RMSE", 3.0, 2.0)
    assert [(metric.name, value) for metric, value in facts.more] == [("hit", 0.3)]


def test_tables_have_names_and_units_and_no_accuracy(groups: list[Group]) -> None:
    text = markdown(groups)
    assert "### weather\n" in text
    assert "| RMSE |" in text
    assert "| 3 °C | 3.333 ± 1.528 °C | 3.333 °C | 2 °C | 30.00 % |" in text
    assert "RMSE is that of the last evaluation" in text
    assert "lower is better" in text
    first = next(csv.DictReader(io.StringIO(csv_of_groups(groups))))
    assert (first["task"], first["metric"], first["best"]) == ("weather", "RMSE", "2.0")
    assert (first["RMSE_last"], first["hit_last"]) == ("3.0", "0.3")
    rounds = list(csv.DictReader(io.StringIO(csv_of_rounds(groups))))
    assert [line["RMSE"] for line in rounds[:3]] == ["5.0", "2.0", "3.0"]
    html = page(groups)
    assert '<h2 id="h-metric">RMSE</h2>' in html
    assert ">hit</button>" in html
    for said in (text, html, csv_of_groups(groups), csv_of_rounds(groups)):
        assert "ccuracy" not in said


def test_the_page_draws_every_metric(groups: list[Group]) -> None:
    facts = json.loads(payload(groups, Options()))
    assert facts["metrics"]["weather"] == [
        {"name": "RMSE", "better": "lower", "unit": "°C"},
        {"name": "hit", "better": "higher", "unit": "%"},
    ]
    assert facts["groups"][0]["series"]["metric RMSE"]["mean"] == [5, 2, 3]
    assert facts["groups"][0]["series"]["metric hit"]["mean"] == [0.5, 0.2, 0.3]


def test_figures_name_the_metric(groups: list[Group]) -> None:
    (axes,) = figure.made(groups).axes
    assert axes.get_ylabel() == "Test RMSE (°C)"
    assert list(axes.get_lines()[0].get_ydata()) == [5.0, 2.0, 3.0]  # type: ignore[arg-type]
    (axes,) = figure.made(groups, metric="hit").axes
    assert list(axes.get_lines()[0].get_ydata()) == [50.0, 20.0, 30.0]  # type: ignore[arg-type]


def test_savings_are_shown_as_they_are(groups: list[Group]) -> None:
    """An error that is large is no point that has fallen: all are shown."""
    means = {name: [each.mean for each in own] for name, own in points(groups, "up").items()}
    assert means == {"lossless": [pytest.approx(10 / 3)], "lfl": [pytest.approx(12.5 / 3)]}
    down = figure.made(groups, x="savings").axes[0]
    assert down.get_ylabel() == "Test RMSE (°C), last 10 rounds"
    assert not down.texts


def test_tasks_of_one_name_are_told_apart(tmp_path: Path) -> None:
    write_weather(tmp_path / "a", "lfl", [1.0], task="mine:make:noise=1")
    write_weather(tmp_path / "b", "lfl", [1.0], task="mine:make:noise=2")
    write(tmp_path / "c")
    assert [each.task for each in group(find([tmp_path]))] == [
        "digits",
        "weather (mine:make:noise=1)",
        "weather (mine:make:noise=2)",
    ]
