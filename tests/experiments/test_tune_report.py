"""The report of a search."""

from pathlib import Path

from tests.commands.test_run import TINY

from lossyfl.experiments.choice import choice
from lossyfl.experiments.compare import go_on, plan, settled
from lossyfl.experiments.trials import failure, trial
from lossyfl.experiments.tune import Question, SearchResult
from lossyfl.experiments.tune_report import explained, write_tune
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.watcher import Silent

ASK = Question(tensors=(110,))


def test_the_choice_stands_above_the_curves_of_all_runs(tmp_path: Path) -> None:
    base = settled(Experiment(task=TINY, rounds=3), None)
    runs = plan(base, ["lossless", "lfl"], 2, tmp_path)
    for run in runs:
        go_on(run, workers=1, data_dir=None, watcher=Silent())
    folders = {
        spec: [r.folder for r in runs if r.experiment.scheme == spec]
        for spec in ("lossless", "lfl")
    }
    tried = {spec: trial(spec, own) for spec, own in folders.items()}
    tried["<bad>"] = failure("<bad>", "diverged", [tmp_path / "none"])
    found = SearchResult(tried=tried, best=tried["lfl"], words="fewest bytes")
    chosen = choice(ASK, found, confidence=0.95, samples=200, budgets=False)
    path = write_tune(found, chosen, tmp_path)
    assert path == tmp_path / "report.html"
    page = (tmp_path / "report.html").read_text()
    assert page.index("The choice") < page.index('id="h-metric"')
    assert "lfl is the choice of 3 schemes (fewest bytes)" in page
    shown = explained(found, chosen).html
    assert "<td>&lt;bad&gt;</td>" in shown
    assert "<td>*</td><td>lossless</td><td>2</td>" in shown


def test_nothing_that_was_run_has_no_report(tmp_path: Path) -> None:
    tried = {"lean": failure("lean", "too small")}
    found = SearchResult(tried=tried, best=None, words="none")
    chosen = choice(ASK, found, confidence=0.95, samples=0, budgets=True)
    assert write_tune(found, chosen, tmp_path) is None
