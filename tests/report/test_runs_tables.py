"""Every run in the page: settings, commands and machines."""

import re
from dataclasses import replace
from pathlib import Path

from tests.report.synthetic import SETTINGS, write

from lossyfl.report.groups import group
from lossyfl.report.runs import find
from lossyfl.report.runs_tables import details, machines, settings_table


def test_differences_are_marked_and_the_rest_is_said_once(tmp_path: Path) -> None:
    for number, lr in enumerate(("0.1", "0.1", "0.5")):
        write(tmp_path / str(number), replace(SETTINGS, seed=number, lr=lr))
    groups = group(find([tmp_path]))
    html = settings_table(groups).html
    assert re.findall(r"<mark>(.*?)</mark>", html) == ["0.5"]
    assert "<dt>tau</dt><dd>4</dd>" in html
    assert details(groups).html.count("optimizer = &quot;sgd&quot;") == 3
    assert "<dt>processor</dt><dd>abacus</dd>" in machines(groups).html


def test_schemes_and_seeds_are_meant_to_differ(tmp_path: Path) -> None:
    for number, scheme in enumerate(("lb", "lfl", "lfl")):
        write(tmp_path / str(number), replace(SETTINGS, scheme=scheme, seed=number))
    assert "<mark>" not in settings_table(group(find([tmp_path]))).html


def test_how_a_run_stands_and_why(tmp_path: Path) -> None:
    write(tmp_path / "a", state="stopped")
    write(tmp_path / "b", replace(SETTINGS, seed=1), state="done", command="")
    groups = group(find([tmp_path]))
    html = settings_table(groups).html
    assert "<td>stopped: the process was killed, or the machine stopped</td>" in html
    assert "<td>done</td>" in html
    assert "$ not known" in details(groups).html
    assert "<dt>runs</dt><dd>all</dd>" in machines(groups).html
