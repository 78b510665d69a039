"""The table at the end of a comparison."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from lossyfl.commands.table import show
from lossyfl.report.groups import group
from lossyfl.report.rows import row
from lossyfl.report.runs import find
from lossyfl.report.text import size
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.run import run

TINY = "tests.simulation.tiny:make_task"
LONG = "lean:down_budget=400B,up_budget=400B,predict=false,damping=true"


@pytest.mark.parametrize("width", [80, 100])
def test_it_fits_a_terminal(width: int, tmp_path: Path) -> None:
    for seed in (0, 1):
        run(Experiment(task=TINY, rounds=1, seed=seed), tmp_path / f"lfl-{seed}")
    run(Experiment(task=TINY, rounds=1, scheme=LONG), tmp_path / "lean")
    text = StringIO()
    show(group(find([tmp_path])), "A title", Console(file=text, width=width))
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert "lfl:q1=2,q2=2 (2 seeds)" in "".join(lines)
    assert "|---" not in text.getvalue()  # no Markdown
    assert "…" not in text.getvalue()  # nothing is cut


def test_catch_up_has_a_column_where_there_is_any(tmp_path: Path) -> None:
    asked = Experiment(task=TINY, rounds=8, participation=0.3, listen="participants")
    run(asked, tmp_path / "one")
    groups = group(find([tmp_path]))
    text = StringIO()
    show(groups, "A title", Console(file=text, width=80))
    head, line = (text.getvalue().splitlines()[at] for at in (2, 4))
    assert head.split("┃")[4].strip() == "catch-up"
    assert line.split("│")[4].strip() == size(row(groups[0]).catch_up)
    assert max(map(len, text.getvalue().splitlines())) <= 80
