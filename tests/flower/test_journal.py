"""What a training says of its bytes, and what it leaves behind."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, MetricRecord
from flwr.serverapp.strategy import FedAvg
from tests.commands.test_report import good
from tests.flower.app import NODES, make_app, start
from tests.flower.grid import LocalGrid
from tests.flower.test_one_answer import adding_app

from lossyfl.flower import LossyStrategy, lossy_mod
from lossyfl.report.text import size_down
from lossyfl.results import ledger_file
from lossyfl.results.records import read_rounds


def fedavg() -> FedAvg:
    return FedAvg(fraction_evaluate=0.0, min_available_nodes=NODES)


class TestBytes:
    def test_are_in_the_log_without_any_option(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        lossy = LossyStrategy(fedavg())
        lossy.start(LocalGrid(make_app(lossy_mod), NODES, tmp_path), start(), num_rounds=3)
        said = [r.getMessage() for r in caplog.records if " as they are" in r.getMessage()]
        assert [each.split(":")[1] for each in said] == [
            " round 1",
            " round 2",
            " round 3",
            " in all",
        ]
        rounds = lossy.rounds
        assert f": {rounds[1].up.unicast / 1e3:.3g} kB up for" in said[1].replace(", ", ": ")
        carried = sum(each.up.carrier for each in rounds) / 1e3
        assert f"{carried:.3g} kB up)" in said[-1]

    def test_are_against_the_models_own_dtype(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        model = ArrayRecord({"w": Array(np.zeros(50_000, np.float16))})
        lossy = LossyStrategy(fedavg())
        lossy.start(LocalGrid(adding_app(), NODES, tmp_path), model, num_rounds=1)
        (said,) = re.findall(r"in all: .*", caplog.text)
        assert said.count("for 1 MB") == 2  # ten nodes, two bytes a parameter

    def test_have_what_travels_exactly_beside_frames(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A model that is exact to a half, with frames of some kB for the rest, saves no more than a half."""
        one = Array(np.zeros(50_000, np.float32))
        lossy = LossyStrategy(fedavg(), exact=["table"])
        model = ArrayRecord({"w": one, "table": one})
        lossy.start(LocalGrid(adding_app(), NODES, tmp_path), model, num_rounds=2)
        (said,) = re.findall(r"in all: .*", caplog.text)
        sent = re.findall(r"([0-9.]+) MB (?:down|up) for 8.01 MB", said)
        assert all(4 <= float(each) < 4.3 for each in sent)
        assert len(sent) == 2
        assert [each.down.exact for each in lossy.rounds] == [NODES * len(one.data)] * 2
        for traffic in (side for each in lossy.rounds for side in (each.handed, each.up)):
            assert 1.9 < traffic.raw / traffic.nbytes < 2  # what reports call savings

    def test_have_those_of_the_last_evaluation(self, tmp_path: Path) -> None:
        lossy = LossyStrategy(FedAvg(min_available_nodes=NODES))
        lossy.start(LocalGrid(make_app(lossy_mod), NODES, tmp_path), start(), num_rounds=1)
        (only,) = lossy.rounds
        assert only.down.initial > only.down.update > 0


class NumberedGrid(LocalGrid):
    """A grid of the run 42."""

    @property
    def run(self) -> object:  # type: ignore[override]
        return SimpleNamespace(run_id=42)


class TestResults:
    def test_lie_where_the_log_says(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.chdir(tmp_path)
        grid = NumberedGrid(make_app(lossy_mod), NODES, tmp_path / "state")
        LossyStrategy(fedavg(), results="runs/{run_id}").start(grid, start(), num_rounds=1)
        assert f"results are written to {tmp_path / 'runs/42'}" in caplog.text
        assert (tmp_path / "runs/42/rounds.jsonl").is_file()

    def test_have_the_accuracy_of_the_server(self, tmp_path: Path) -> None:
        """Nodes are asked first, and say something else."""
        lossy = LossyStrategy(FedAvg(min_available_nodes=NODES))
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        lossy.start(
            grid, start(), num_rounds=2, evaluate_fn=lambda *_: MetricRecord({"accuracy": 0.125})
        )
        assert [each.accuracy for each in lossy.rounds] == [0.125, 0.125]


class TestReport:
    """`lossyfl report` on what a training has written."""

    @pytest.fixture
    def results(self, tmp_path: Path) -> Path:
        """Of four nodes a round, not the same ones, and evaluation on others."""
        inner = FedAvg(fraction_train=0.4, fraction_evaluate=0.3, min_available_nodes=NODES)
        lossy = LossyStrategy(inner, results=tmp_path / "results")
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "nodes")
        seen = MetricRecord({"accuracy": 0.125})
        lossy.start(grid, start(), num_rounds=3, evaluate_fn=lambda *_: seen)
        return tmp_path / "results"

    @pytest.mark.parametrize("older", [False, True])
    def test_counts_every_nodes_copy(self, older: bool, results: Path, tmp_path: Path) -> None:
        """Older versions wrote no copies; their ledger has all frames."""
        if older:
            rounds = [replace(each, copies=None) for each in read_rounds(results / "rounds.jsonl")]
            (results / "rounds.jsonl").write_text("".join(each.line() for each in rounds))
        page, table, cells = (tmp_path / f"report.{suffix}" for suffix in ("html", "md", "csv"))
        good(results, "--out", page, "--markdown", table, "--csv", cells)
        handed = [
            e for e in ledger_file.read(results / "ledger.csv").entries if e.direction == "down"
        ]
        nbytes = sum(entry.nbytes for entry in handed)
        models = 4 * sum({(e.round, e.device): e.entries for e in handed}.values())
        (line,) = csv.DictReader(cells.read_text().splitlines())
        assert float(line["bytes_down"]) == nbytes
        assert float(line["saving_down"]) == pytest.approx(models / nbytes)
        assert float(line["accuracy_last"]) == 0.125
        assert "counted for every device that is sent them" in table.read_text()
        late = sum(entry.nbytes for entry in handed if entry.kind == "catch-up")  # by who is asked
        assert f"| {size_down(nbytes, late)} |" in table.read_text()
        assert "12.50 %" in table.read_text()
        assert f'data-value="{float(nbytes)}"' in page.read_text()
        assert f'data-value="{models / nbytes}"' in page.read_text()

    def test_has_what_the_log_says(
        self, results: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        logged = "\n".join(each.getMessage() for each in caplog.get_records("setup"))
        (said,) = re.findall(r"in all: .* down.* for ([0-9.]+ kB) as they are", logged)
        good(results, "--out", tmp_path / "r.html", "--rounds-csv", tmp_path / "r.csv")
        lines = csv.DictReader((tmp_path / "r.csv").read_text().splitlines())
        assert f"{sum(int(line['plain_down']) for line in lines) / 1e3:.3g} kB" == said
        assert "model as it is down" in (tmp_path / "r.html").read_text()

    def test_and_its_summary_are_the_same(self, results: Path) -> None:
        summary = json.loads((results / "run.json").read_text())["summary"]
        rounds = read_rounds(results / "rounds.jsonl")
        assert summary["down"] == sum(each.down.unicast for each in rounds)
        assert summary["saving_down"] < 10
