"""`lossyfl sweep`, as a user types it."""

import json
from pathlib import Path

from tests.commands.test_run import TINY, bad, call, good


def test_a_sweep_twice_and_with_more_values(tmp_path: Path) -> None:
    how = ("--task", TINY, "--rounds", 2, "--seeds", 2, "--workers", 2, "--out", tmp_path / "o")
    said = good("sweep", "q1=1,5", "scheme=lossless,lfl", *how)
    assert "4 points, 3 different experiments, 6 runs, 0 of them complete" in said
    assert "of 6 runs done" in said  # several at a time
    assert "left" in said
    assert "any" in said
    assert "paired t-test" in said
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("rounds.jsonl")}
    assert len(written) == 6
    more = good("sweep", "q1=1,5,7", "scheme=lossless,lfl", *how, "--no-figures", "--json", "-q")
    rows = json.loads(more)["rows"]
    assert [row["values"]["q1"] for row in rows] == ["any", "1", "5", "7"]
    assert all(path.stat().st_mtime_ns == then for path, then in written.items())


def test_a_file_has_what_is_not_crossed(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        f'task = "{TINY}"\nrounds = 2\nscheme = "lfl:q1={{q1}},q2=3"\n'
    )
    how = ("--config", tmp_path / "a.toml", "--allow", TINY, "--out", tmp_path / "o", "-q")
    found = json.loads(good("sweep", "q1=1,5", *how, "--json", "--no-figures"))
    assert [row["scheme"] for row in found["rows"]] == ["lfl:q1=1,q2=3", "lfl:q1=5,q2=3"]


def test_errors_before_the_first_run(tmp_path: Path) -> None:
    how = ("--task", TINY, "--out", tmp_path / "o")
    assert "did you mean tau?" in bad("sweep", "tauu=1,2", *how)
    assert "tau of a sweep must be given once" in bad("sweep", "tau=1,2", "--tau", 3, *how)
    assert "tau of a run must be an int >= 1, got x" in bad("sweep", "tau=1,x", *how)
    assert "confidence of a sweep must be" in bad("sweep", "q1=1", "--confidence", 95, *how)
    assert "did you mean lossless?" in bad("sweep", "q1=1", "--baseline", "losless", *how)
    assert "Missing argument" in call("sweep", *how).output
    assert not (tmp_path / "o").exists()


def test_a_point_that_diverges_is_said_at_the_end(tmp_path: Path) -> None:
    task = ("--task", "tests.simulation.tiny:breaking", "--tau", 1, "--rounds", 4)
    how = (*task, "--out", tmp_path / "o", "--workers", 1, "--no-figures")
    done = call("sweep", "scheme=lossless,lb", *how)
    assert done.exit_code == 1
    assert "training diverged in" in done.output
    assert "failed" in done.output
