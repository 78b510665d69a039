"""The comparison from updates to files, with something simple in NNCodec's place; and where it is missing."""

import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks import nncodec, nncodec_build, nncodec_rival
from benchmarks.nncodec_tables import BEST, PLAIN, TEMPORAL
from benchmarks.updates import Source, Update
from lossyfl.errors import InputError

UNIFORM = """
import json, sys, zlib
from pathlib import Path
import numpy as np
for line in sys.stdin:
    folder, before, options, differential = json.loads(line)
    x = np.concatenate([np.load(path).ravel() for path in sorted(Path(folder).glob("*.npy"))])
    step = 2 ** (options["qp"] / 16)
    levels = np.trunc(x / step)
    lost = float(np.sum((x - levels * step) ** 2) / np.sum(x**2))
    answer = {"nbytes": len(zlib.compress(levels.astype(np.int16))), "nmse": lost}
    print(json.dumps(answer | {"encode": 0.5, "decode": 0.25}), flush=True)
"""


def busy_rows(source: Source, folder: Path) -> Iterator[Update]:
    """Updates of a matrix with busy and idle rows, and of a bias, in place of trained ones."""
    del folder
    rng = np.random.default_rng(0)
    for sent, number in product(("broadcast", "reply"), source.rounds):
        matrices = rng.laplace(size=(2, 64, 100)) * np.geomspace(1, 100, 64)[:, np.newaxis]
        vector, before = (
            np.append(matrix, rng.normal(size=64)).astype(np.float32) for matrix in matrices
        )
        yield Update(
            source=source.name,
            sent=sent,
            round=number,
            vector=vector,
            before=before,
            shapes=((64, 100), (64,)),
        )


@pytest.fixture
def uniform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A code with even steps runs in NNCodec's place, on short updates at two rates."""
    jobs = tmp_path / "jobs.py"
    jobs.write_text(UNIFORM)
    monkeypatch.setattr(nncodec_rival, "JOBS", jobs)
    monkeypatch.setattr(nncodec_build, "JOBS", jobs)
    monkeypatch.setattr(nncodec, "updates", busy_rows)
    monkeypatch.setattr(nncodec, "FOLDER", tmp_path)
    monkeypatch.setattr(nncodec, "RATES", (0.5, 2.0))
    monkeypatch.setattr(nncodec, "TIMED", (0.5,))


@pytest.mark.usefixtures("uniform")
def test_updates_are_compared_at_equal_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, markdown = tmp_path / "n.json", tmp_path / "n.md"
    nncodec.run(sys.executable, None, out, markdown, quick=True, console=Console(width=200))
    report = json.loads(out.read_text())
    points, speeds = report["points"], report["speeds"]
    assert len(points) == 2 * 2 * 2
    assert [set(point["theirs"]) > {BEST, PLAIN} for point in points] == 2 * [
        False,
        False,
        True,
        True,
    ]
    assert all(0 < point["nmse"] < 1 for point in points)
    # Even steps and a general code are no match for classes.
    assert all(0.2 < point["ours"] / point["theirs"][PLAIN]["nbytes"] < 1 for point in points)
    assert [each["tool"] for each in speeds] == 2 * [BEST, PLAIN]
    assert report["machine"]["nncodec"] == nncodec_build.PACKAGE
    said = capsys.readouterr().out
    for text in ("digits reply, round 6", f"our bytes / NNCodec's {TEMPORAL}", "smaller at"):
        assert text in said
        assert text in markdown.read_text()


def test_where_it_cannot_be_built_it_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = tmp_path / "python"
    failing.write_text("#!/bin/sh\necho no registry >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(failing))
    out = tmp_path / "n.json"
    nncodec.run(None, tmp_path / "new", out, None, quick=True, console=Console(width=300))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("skipped, because NNCodec cannot be had: ")
    assert line.endswith("got no registry")
    assert not out.exists()


def test_a_python_without_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--build makes one"):
        nncodec.run(str(tmp_path), None, None, None, quick=True, console=Console())
