"""What comes of runs: numbers, tables, plots."""

import sys
from pathlib import Path

import pytest
from tests.simulation import tiny

import lossyfl
from lossyfl import InputError, MissingExtra, RunSet, TrainedRun


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> RunSet:
    out = tmp_path_factory.mktemp("runs")
    task = tiny.make_task()
    return lossyfl.compare(
        ["lossless", "lfl"], task=task, rounds=3, seeds=2, out=out, progress=False
    )


def test_runs_are_found_by_place_scheme_and_seed(made: RunSet) -> None:
    assert [each.scheme for each in made] == ["lossless", "lfl"] * 2
    assert made["lfl"] is made[1]
    assert made["lfl", 1] is made[3]
    with pytest.raises(KeyError, match="no run of lb: there are lossless; lfl"):
        made["lb"]
    assert made.summary["lfl", 1] is made[3].summary
    assert made.rounds["lossless", 0] == made[0].rounds
    assert made.ledger["lfl", 0] is made[1].ledger


def test_a_run_says_what_it_came_to(made: RunSet) -> None:
    run = made["lfl"]
    assert (run.task, run.metrics, run.finished) == ("tiny", ("accuracy",), True)
    assert run.summary.up == run.ledger.total("up").nbytes
    assert repr(run).startswith("<TrainedRun tiny, lfl, seed 0: 3 rounds, accuracy ")
    assert len(repr(made).splitlines()) == 4


def test_columns_have_a_row_per_round_or_run(made: RunSet) -> None:
    rounds, runs = made.columns(), made.columns(per="run")
    assert rounds["round"] == [1, 2, 3] * 4
    assert rounds["bytes_so_far"][2] == made[0].summary.down + made[0].summary.up
    assert rounds["accuracy"][5] == runs["accuracy"][1] == made[1].summary.accuracy
    assert {len(column) for column in runs.values()} == {4}
    assert made[0].columns()["scheme"] == ["lossless"] * 3
    with pytest.raises(InputError, match="per of a table must be round or run"):
        made.columns(per="x")  # type: ignore[arg-type]


def test_pandas_is_asked_for_by_its_extra(made: RunSet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pip install 'lossyfl\[notebook\]'"):
        made.to_pandas()


def test_pandas_has_the_same_columns(made: RunSet) -> None:
    pandas = pytest.importorskip("pandas")
    frame = made.to_pandas(per="run")
    assert isinstance(frame, pandas.DataFrame)
    assert frame["scheme"].tolist() == made.columns(per="run")["scheme"]


def test_plots_are_figures_of_matplotlib(made: RunSet) -> None:
    from matplotlib.figure import Figure

    for x in ("rounds", "bytes", "savings"):
        figure = made.plot(x)
        assert isinstance(figure, Figure)
        assert figure._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    assert made.plot(title="A title").axes[0].get_ylabel() == "Test accuracy (%)"
    with pytest.raises(InputError, match="x of a figure must be one of"):
        made.plot("time")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="metric of a run must be one of accuracy"):
        made.plot(metric="MSE")


def test_what_lies_in_folders_is_the_same(made: RunSet, tmp_path: Path) -> None:
    loaded = lossyfl.load(made[0].folder.parent)
    assert len(loaded) == 4
    assert isinstance(loaded[0], TrainedRun)
    assert loaded["lfl", 1].rounds == made["lfl", 1].rounds
    assert loaded._repr_html_() == made._repr_html_()
    page = loaded.report(tmp_path / "page.html")
    assert "tiny" in page.read_text()
