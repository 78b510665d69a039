"""What a sweep leaves behind beside its runs."""

from pathlib import Path

from tests.commands.test_run import TINY

from lossyfl.experiments.grid import axis
from lossyfl.experiments.sweep import plan_sweep, result_of, sweep
from lossyfl.experiments.sweep_report import write_sweep
from lossyfl.experiments.sweep_table import table_of
from lossyfl.results.experiment import Experiment

BASE = Experiment(task=TINY, rounds=2)


def test_tables_figures_and_the_report_of_the_runs(tmp_path: Path) -> None:
    result = sweep({"q1": [1, 5]}, base=BASE, out=tmp_path, jobs=1)
    written = write_sweep(result, table_of(result), tmp_path)
    names = ["sweep.md", "sweep.csv", "report.html", "against-q1.png", "against-q1.svg"]
    assert [path.name for path in written] == names
    page = (tmp_path / "report.html").read_text()
    assert '<section aria-labelledby="h-own0"><h2 id="h-own0">Sweep</h2>' in page
    assert "paired t-test" in page
    assert page.index("h-own0") < page.index("h-metric")


def test_before_a_run_has_begun_there_is_no_report(tmp_path: Path) -> None:
    result = result_of(plan_sweep([axis("q1=1,5")], BASE, 1, tmp_path))
    written = write_sweep(result, table_of(result), tmp_path, figures=False)
    assert [path.name for path in written] == ["sweep.md", "sweep.csv"]
