"""Runs, read from their folders."""

import gzip
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.report.synthetic import record, write

from lossyfl.errors import InputError
from lossyfl.report.runs import find, read
from lossyfl.results.records import packed


def test_found_below_once_and_in_order(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "er" / "b")
    write(tmp_path / "a")
    runs = find([tmp_path, tmp_path / "a", tmp_path / "deep"])
    assert [run.name for run in runs] == [str(tmp_path / "a"), str(tmp_path / "deep/er/b")]
    assert len(runs[0].rounds) == 4
    assert runs[0].about.machine["processor"] == "abacus"


def test_a_run_whose_rounds_were_packed_is_the_same_run(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    before = read(folder)
    rounds = folder / "rounds.jsonl"
    packed(rounds).write_bytes(gzip.compress(rounds.read_bytes()))
    rounds.unlink()
    assert find([tmp_path]) == [before]


def test_nothing_found(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("")
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match="folder of a report must be a results directory"):
            find([folder])


def test_a_line_that_is_still_written_is_left_for_later(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    for name in ("rounds.jsonl", "ledger.csv"):
        with (folder / name).open("a") as file:
            file.write(record(4).line()[:40] if name == "rounds.jsonl" else "4,down,upd")
    assert len(read(folder).rounds) == 4


def test_a_run_without_rounds_and_without_run_json(tmp_path: Path) -> None:
    folder = write(tmp_path / "a", rounds=[])
    (folder / "run.json").unlink()
    run = read(folder)
    assert run.rounds == ()
    assert run.about.state == "unknown"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rounds.jsonl", "{}\n"),
        ("rounds.jsonl", "[]\n"),
        ("rounds.jsonl", "no\n"),
        ("rounds.jsonl", json.dumps(asdict(record(0)) | {"accuracy": "<b>"}) + "\n"),
        ("rounds.jsonl", record(0).line().replace('"raw": 4000', '"raw": null')),
        ("config.toml", "rounds = 0\n"),
        ("config.toml", "= 1\n"),
        ("config.toml", "unknown = 1\n"),
        ("run.json", "{"),
        ("run.json", "[]"),
        ("ledger.csv", ""),
        ("ledger.csv", "a,b\n"),
        ("ledger.csv", "round,direction,kind,devices,nbytes,entries,paper_bits,entropy_bits,frame\n1,down\n"),
    ],
)  # fmt: skip
def test_damage_names_the_folder(tmp_path: Path, name: str, text: str) -> None:
    folder = write(tmp_path / "a")
    (folder / name).write_text(text)
    with pytest.raises(InputError, match=f"results of {folder} must be those that lossyfl wrote"):
        read(folder)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    (folder / "rounds.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(InputError, match="results of"):
        read(folder)


def test_torch_and_matplotlib_are_not_imported(tmp_path: Path) -> None:
    write(tmp_path / "a")
    code = (
        "import sys; from pathlib import Path; from lossyfl import report;"
        f"report.page(report.group(report.find([Path({str(tmp_path)!r})])));"
        "print({'torch', 'matplotlib', 'plotly'} & set(sys.modules))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=os.environ
    )
    assert said.stdout.strip() == "set()"
