"""`lossyfl tune`, as a user types it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tests.helpers import f32
from typer.testing import CliRunner

from lossyfl.cli import app


def test_quantizers_that_cannot_keep_to_a_budget_are_left_out(tmp_path: Path) -> None:
    line = ["tune", "--task", "tests.simulation.tiny:make_task", "--rounds", "2"]
    line += ["--workers", "1", "--out", str(tmp_path), "--quiet", "--json"]
    line += ["--downlink-budget", "nmse=0.1", "--uplink-budget", "nmse=0.1", "--seeds", "1"]
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 0, result.output
    trials = json.loads(result.stdout)["trials"]
    assert [bool(t["failed"]) for t in trials[:4]] == [False, False, True, False]
    assert "must be a size, with a scale a block" in trials[2]["failed"]


@pytest.mark.parametrize("keep", [[], ["--keep", "0.1"]])
def test_wrong_options_of_schemes_are_found_at_once(keep: list[str], tmp_path: Path) -> None:
    line = ["tune", "--task", "tests.simulation.tiny:make_task", "--rounds", "2", *keep]
    line += ["--workers", "1", "--out", str(tmp_path), "--quiet", "--extra", "foo=1"]
    result = CliRunner().invoke(app, line)
    assert "option of lean must be one of" in str(result.exception)
    assert not any(tmp_path.iterdir())


def test_fewer_rounds_than_there_are(tmp_path: Path) -> None:
    line = ["tune", "--task", "tests.simulation.tiny:make_task", "--workers", "1"]
    line += ["--out", str(tmp_path), "--quiet", "--downlink-budget", "200B"]
    line += ["--uplink-budget", "200B", "--seeds", "1", "--rounds"]
    assert CliRunner().invoke(app, [*line, "3"]).exit_code == 0
    result = CliRunner().invoke(app, [*line, "2"])
    assert "rounds of this comparison must be at least 3" in str(result.exception)


def test_a_tiny_task_twice(tmp_path: Path) -> None:
    line = [
        "tune",
        "--task",
        "tests.simulation.tiny:make_task",
        "--rounds",
        "4",
        "--workers",
        "1",
    ]
    line += ["--out", str(tmp_path), "--quiet", "--json", "--downlink-budget", "200B"]
    line += ["--uplink-budget", "200B", "--seeds", "2"]
    first = CliRunner().invoke(app, line)
    assert first.exit_code == 0, first.output
    found = json.loads(first.output)
    assert len(found["trials"]) == 7
    assert all(len(t["values"]) == 2 or t["given_up"] for t in found["trials"])
    assert "The choice" in (tmp_path / "report.html").read_text()
    assert all(t["down"] <= 200 and t["up"] <= 200 for t in found["trials"][1:])
    written = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("rounds.jsonl")}
    assert CliRunner().invoke(app, line).output == first.output
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("rounds.jsonl")} == written


def test_a_vector(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).laplace(size=5000).astype(np.float32))
    result = CliRunner().invoke(
        app,
        ["tune", "--vector", str(tmp_path / "x.npy"), "--downlink-budget", "500B", "--json"],
    )
    rows = json.loads(result.output)
    assert [r["nbytes"] for r in rows] == sorted(r["nbytes"] for r in rows)
    own = {r["quantizer"]: r for r in rows}
    assert own["deadzone 500B"]["nbytes"] <= 500
    assert own["deadzone 500B"]["nmse"] <= own["topk 500B"]["nmse"]


def test_an_error_for_a_vector(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=5000).astype(np.float32))
    line = ["tune", "--vector", str(tmp_path / "x.npy"), "--downlink-budget", "nmse=0.1"]
    result = CliRunner().invoke(app, [*line, "--json"])
    own = {r["quantizer"]: r for r in json.loads(result.stdout)}
    assert own["deadzone nmse=0.1"]["nmse"] == pytest.approx(0.1, rel=0.03)
    assert "sparse_ternary nmse=0.1" not in own
    assert "x.npy is nothing for sparse_ternary nmse=0.1: budget of tune --vector" in result.stderr


def test_entries_too_large_for_some(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", 3e37 * np.random.default_rng(0).laplace(size=5000))
    result = CliRunner().invoke(app, ["tune", "--vector", str(tmp_path / "x.npy"), "--json"])
    assert result.exit_code == 0, result.output
    kinds = {row["kind"] for row in json.loads(result.stdout)}
    assert {"deadzone", "topk", "sign"} <= kinds
    assert "nothing for natural: entries of Natural must be at most 2^127" in result.stderr


def test_files_that_are_no_vectors(tmp_path: Path) -> None:
    (tmp_path / "junk.npy").write_bytes(b"junk")
    np.save(tmp_path / "nan.npy", f32([1, np.nan]))
    np.save(tmp_path / "table.npy", np.zeros((2, 2), np.float32))
    for name, words in (
        ("junk", "finite floats, got "),
        ("nan", "nan.npy: entry 1 of the vector must be finite, got nan"),
        ("table", r"table.npy: vector of encode must be .*got shape \(2, 2\)"),
        ("none", "none.npy: No such file or directory"),
    ):
        line = ["tune", "--vector", str(tmp_path / f"{name}.npy")]
        said = str(CliRunner().invoke(app, line).exception)
        assert re.search(words, said), said
        assert "pickle" not in said


def test_vectors_and_their_figure(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.laplace(size=20_000).astype(np.float32))
    np.save(tmp_path / "y.npy", rng.normal(size=20_000).astype(np.float32))
    names = [str(tmp_path / "x.npy"), str(tmp_path / "y.npy")]
    line = ["tune", "--vector", names[0], "--vector", names[1]]
    result = CliRunner().invoke(app, [*line, "--figure", str(tmp_path / "f.svg")])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "f.svg").read_text()
    assert text.count('id="axes_') == 2
    assert "limit, Laplacian entries" in text
    rows = json.loads(CliRunner().invoke(app, [*line, "--json"]).output)
    assert {row["vector"] for row in rows} == set(names)
    wrong = CliRunner().invoke(app, ["tune", "--figure", str(tmp_path / "f.svg")])
    assert "figure of tune must be given with --vector" in str(wrong.exception)


@pytest.mark.parametrize("line", [["--rounds", "3"], ["--keep", "0.9"], ["--extra", "q=1"]])
def test_a_vector_is_not_trained(line: list[str]) -> None:
    result = CliRunner().invoke(app, ["tune", "--vector", "x.npy", *line])
    assert f"{line[0][2:]} of tune --vector must be left out" in str(result.exception)
