"""A rival is asked with its tools, finds updates as tensors, and the shortest of its codes counts."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks import nncodec_rival
from benchmarks.nncodec_kept import Kept
from benchmarks.nncodec_rival import OCTAVE, TOOLS, Rival
from benchmarks.nncodec_tables import BEST, PLAIN, TEMPORAL
from benchmarks.updates import Update
from lossyfl.errors import InputError

FAKE = """
import json, sys
import numpy as np
for line in sys.stdin:
    folder, before, options, differential = json.loads(line)
    if options["qp"] == 399:
        print(json.dumps("too coarse"), flush=True)
        continue
    entries = sum(np.load(f"{folder}/{at}.npy").size for at in range(2))
    nmse = min(1e-4 * 4 ** (options["qp"] / 16), 1.0)
    nbytes = int(entries * 1000 / nmse**0.5 / (1 + options["lambda_scale"]))
    if before is not None:
        nbytes //= 2 * np.load(f"{before}/0.npy").shape[0]
    seen = {"nbytes": nbytes, "nmse": nmse, "dense": options["qp_density"], "update": differential}
    print(json.dumps(seen), flush=True)
"""


@pytest.fixture
def update() -> Update:
    x = np.arange(8, dtype=np.float32)
    return Update(source="mnist", sent="reply", round=7, vector=x, before=-x, shapes=((2, 3), (2,)))


@pytest.fixture
def rival(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rival]:
    jobs = tmp_path / "jobs.py"
    jobs.write_text(FAKE)
    monkeypatch.setattr(nncodec_rival, "JOBS", jobs)
    with Rival(sys.executable, tmp_path, Kept(tmp_path / "kept.jsonl")) as made:
        yield made


def test_updates_are_tensors_and_steps_are_dense(
    rival: Rival, update: Update, tmp_path: Path
) -> None:
    answer = rival.ask(update, BEST, TOOLS[BEST][0] | {"qp": 0})
    assert answer["nbytes"] == 8 * 1000 / 0.01 / 2
    assert 2 ** answer["dense"] == OCTAVE
    assert answer["update"]
    assert np.load(tmp_path / "mnist-reply-7-vector" / "0.npy").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not rival.ask(update, PLAIN, TOOLS[PLAIN][0] | {"qp": 0})["update"]


def test_the_shortest_of_several_codes_counts(rival: Rival, update: Update) -> None:
    found = rival.search(update, BEST)(0.01)
    assert found.options == {"lambda_scale": 2.0, "qp": 53}
    assert found.nbytes == pytest.approx(8 * 1000 / 0.1 / 3, rel=0.001)
    assert rival.search(update, PLAIN)(0.01).nbytes == pytest.approx(8 * 1000 / 0.1, rel=0.001)


def test_what_it_gave_is_kept(rival: Rival, update: Update, tmp_path: Path) -> None:
    """By vector and options: the next run asks only for what is new."""
    found = rival.search(update, BEST)(0.01)
    kept = tmp_path / "kept.jsonl"
    lines = kept.read_text().splitlines()
    assert rival.search(update, BEST)(0.01) == found
    assert kept.read_text().splitlines() == lines
    rival.search(update, TEMPORAL)(0.01)
    assert len(kept.read_text().splitlines()) > len(lines)


def test_contexts_are_of_the_round_before(rival: Rival, update: Update) -> None:
    plain, temporal = (rival.search(update, tool)(0.01).nbytes for tool in (BEST, TEMPORAL))
    assert temporal == pytest.approx(plain / 4, rel=0.01)


def test_what_it_cannot_code_is_said(rival: Rival, update: Update) -> None:
    with pytest.raises(InputError, match="able to code an update, got too coarse"):
        rival.ask(update, BEST, {"qp": 399})
