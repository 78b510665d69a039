"""`lossyfl compare` and `lossyfl reproduce`, as a user types them."""

import json
from pathlib import Path

from tests.commands.test_run import TINY, bad, call, good


def test_schemes_behind_one_option_and_nothing_run_twice(tmp_path: Path) -> None:
    out = tmp_path / "out"
    how = ("--task", TINY, "--rounds", 3, "--seeds", 2, "--workers", 1, "--out", out)
    said = good("compare", "--schemes", "lossless", "lfl:q1=2,q2=2", *how)
    assert "run 4/4" in said
    assert "| lossless | 0-1 |" in said
    assert {"report.html", "table.md", "table.csv"} <= {path.name for path in out.iterdir()}
    again = good("compare", "--schemes", "lossless", "lfl:q1=2,q2=2", *how)
    assert "round" not in again.partition("|")[0]


def test_json(tmp_path: Path) -> None:
    how = ("--task", TINY, "--rounds", 2, "--workers", 1, "--out", tmp_path / "out", "-q", "--json")
    rows = json.loads(call("compare", "--schemes", "lb", "lgm", *how).stdout)
    assert [row["scheme"] for row in rows] == ["lb", "lgm"]


def test_errors(tmp_path: Path) -> None:
    assert "did you mean lfl?" in bad("compare", "--schemes", "lf", "--out", tmp_path / "a")
    (tmp_path / "a.toml").write_text('scheme = "lb"\n')
    assert "--schemes says them" in bad("compare", tmp_path / "a.toml")
    assert "one of fig1a, fig1b" in bad("reproduce", "fig2")
    assert "did you mean small?" in bad("reproduce", "fig1a", "--scale", "smal")
