"""What a results directory holds."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from lossyfl import InputError
from lossyfl.simulation.experiment import Experiment
from lossyfl.simulation.records import read_rounds
from lossyfl.simulation.results import Results, summarize
from lossyfl.simulation.run import run
from lossyfl.simulation.setup import prepare

BASE = Experiment(task="tests.simulation.tiny:make_task", rounds=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results") / "out"
    run(BASE, out)
    return out


def test_files(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert names == {
        ".lock", "checkpoint", "config.toml", "ledger.csv", "model.safetensors", "rounds.jsonl",
        "run.json",
    }  # fmt: skip


def test_config_repeats_the_run(folder: Path, tmp_path: Path) -> None:
    run(Results(folder).read_config(), tmp_path / "again")
    for name in ("config.toml", "model.safetensors", "ledger.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_run_json_says_on_what_and_how_it_ended(folder: Path) -> None:
    about = json.loads((folder / "run.json").read_text())
    assert about["state"] == "done"
    assert about["summary"]["rounds"] == 5
    assert {"torch", "numpy", "lossyfl", "python", "processor"} <= about["machine"].keys()


def test_the_model_loads_into_torch(folder: Path) -> None:
    module = prepare(BASE).task.model()
    module.load_state_dict(load_file(folder / "model.safetensors"))
    task = prepare(BASE).task
    outputs = module(task.prepare(torch.from_numpy(task.test.x)))
    accuracy = float(np.mean(outputs.argmax(dim=1).numpy() == task.test.y))
    assert accuracy == read_rounds(folder / "rounds.jsonl")[-1].accuracy


def test_half_a_line_is_not_read(folder: Path, tmp_path: Path) -> None:
    text = (folder / "rounds.jsonl").read_text()
    (tmp_path / "rounds.jsonl").write_text(text[:-20])
    assert len(read_rounds(tmp_path / "rounds.jsonl")) == 4
    assert read_rounds(tmp_path / "none.jsonl") == []
    (tmp_path / "rounds.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"content of rounds\.jsonl must be rounds"):
        read_rounds(tmp_path / "rounds.jsonl")


def test_summary_adds_up(folder: Path) -> None:
    rounds = read_rounds(folder / "rounds.jsonl")
    summary = summarize(rounds)
    assert summary.down == sum(r.down.nbytes for r in rounds)
    assert summary.saving_down == sum(r.down.raw for r in rounds) / summary.down
    assert summary.accuracy == rounds[-1].accuracy
    assert summarize([]).accuracy is None
    # by the paper's count: 33 bits an entry over R_Q, the first model exact
    d, q_bits = 110, 64 + 110 * (1 + np.log2(3))
    assert summary.paper_down == pytest.approx(5 * 33 * d / (33 * d + 4 * q_bits))
    assert summary.paper_up == pytest.approx(33 * d / q_bits)
