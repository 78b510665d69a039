"""`lossyfl compare`, as a user types it."""

import json
from pathlib import Path

from tests.commands.test_run import TINY, bad, call, good


def test_schemes_behind_one_option_and_nothing_run_twice(tmp_path: Path) -> None:
    out = tmp_path / "out"
    how = ("--task", TINY, "--rounds", 3, "--seeds", 2, "--workers", 1, "--out", out)
    said = good("compare", "--schemes", "lossless", "lfl:q1=2,q2=2", *how)
    assert "run 4/4" in said
    assert "lossless (2 seeds)" in said
    assert "| lossless | 0-1 |" in (out / "table.md").read_text()
    assert "|---" not in said
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


def test_what_cannot_begin_is_found_before_anything_is_trained(tmp_path: Path) -> None:
    how = ("--task", TINY, "--rounds", 2, "--workers", 1, "--out", tmp_path / "o")
    said = bad("compare", "--schemes", "lossless", "lean:down_budget=20B", *how)
    assert "budget of the downlink must be between 96 B" in said
    said = bad("compare", "--schemes", "lossless", "lean:up_budget=1kB/1rounds", *how)
    assert "budget of the uplink must be for as many rounds as there are, at least 2" in said
    assert not list(tmp_path.rglob("rounds.jsonl"))


def test_a_run_that_diverges_stops_no_other(tmp_path: Path) -> None:
    task = ("--task", "tests.simulation.tiny:breaking", "--tau", 1)
    how = (*task, "--rounds", 6, "--workers", 1, "--out", tmp_path / "o")
    for _ in range(2):  # again: it is not tried a second time
        done = call("compare", "--schemes", "lossless", "lb", *how)
        assert done.exit_code == 1
        assert "training diverged in" in done.output
        assert (tmp_path / "o/report.html").is_file()


def test_settings_that_a_comparison_has_not(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('out = "x"\n')
    assert "out of a comparison must be left out of the file" in bad("compare", tmp_path / "a.toml")
    assert "requires an argument" in call("compare", "--schemes").output


def test_runs_are_counted_where_there_are_several(tmp_path: Path) -> None:
    how = ("--task", TINY, "--rounds", 2, "--workers", 1, "--out")
    one = good("compare", *how, tmp_path / "one", "--schemes", "lossless")
    assert "round 2/2" in one
    assert "run 1" not in one
    both = good("compare", *how, tmp_path / "two", "--schemes", "lossless", "--schemes", "lfl")
    assert "run 2/2 round 2/2" in both


def test_runs_side_by_side(tmp_path: Path) -> None:
    how = ("--task", TINY, "--rounds", 2, "--workers", 2, "--jobs", 2, "--out", tmp_path / "o")
    said = good("compare", *how, "--schemes", "lossless", "lfl")
    assert "lfl, seed 0: round 2/2, accuracy" in said
    assert "of 2 runs done" in said
    assert "| lossless | 0 |" in (tmp_path / "o" / "table.md").read_text()
    assert "jobs" in bad("compare", *how[:-4], "--jobs", 0, "--out", tmp_path / "p")
