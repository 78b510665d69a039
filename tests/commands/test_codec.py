"""`lossyfl codec`, as a user types it."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.commands.test_run import bad, good
from tests.helpers import laplace

from lossyfl.commands import codec
from lossyfl.wire.header import MAX_ENTRIES


@pytest.fixture
def vector(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", laplace(20_000))
    return tmp_path / "x.npy"


def test_encode_inspect_decode(vector: Path, tmp_path: Path) -> None:
    packed = tmp_path / "x.npy.lfl"
    said = good("codec", "encode", vector, "-Q", "stochastic:levels=5")
    assert f"{packed.stat().st_size:,} bytes" in said.replace("\n", "")
    text = good("codec", "inspect", packed)
    for word in ("entropy", "real size", "R_Q (q = 5)", "against 32 bits", "symbols"):
        assert word in text
    good("codec", "decode", packed, "-o", tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").shape == (20_000,)


def test_json(vector: Path, tmp_path: Path) -> None:
    said = json.loads(good("codec", "encode", vector, "--json"))
    assert said["target"] == (tmp_path / "x.npy.lfl").stat().st_size
    info = json.loads(good("codec", "inspect", tmp_path / "x.npy.lfl", "--json"))
    assert info["nbytes"] == said["target"]
    assert info["entries"] == 20_000


def test_seed_decides_the_bytes(vector: Path, tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        good("codec", "encode", vector, "-o", tmp_path / name, "--seed", seed)
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


def test_output_is_not_overwritten(vector: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("precious")
    said = bad("codec", "encode", vector, "-o", tmp_path / "out")
    assert "must be a new file, or --force" in said
    assert (tmp_path / "out").read_text() == "precious"
    good("codec", "encode", vector, "-o", tmp_path / "out", "--force")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["codec", "inspect", "no-such-file"], "must be one that exists"),
        (["codec", "encode", "{x}", "-Q", "stocastic"], "did you mean stochastic?"),
        (
            ["codec", "encode", "{x}", "-Q", "stochastic:levels=0"],
            "an int in [1, 32767], got 0",
        ),
        (["codec", "encode", "{x}", "--seed", "-1"], "--seed"),
        (["codec", "encode", "{x}", "--threads", "0"], "threads"),
        (["codec", "inspect", "{x}"], "content of x.npy must be a frame or a bundle"),
        (["codec", "encode", "."], "must be one that exists"),
        (["codec", "encode", "{x}", "-o", "{x}", "--force"], "another file than the source"),
        (["codec", "encode", "{x}", "-o", "{d}", "--force"], "a file in a folder that exists"),
        (["codec", "encode", "{x}", "-Q", ".:a"], "path of quantizer must be"),
        (["codec", "encode", "{x}", "-Q", "os.path:join"], "path of quantizer must be"),
        (
            ["codec", "encode", "{x}", "-Q", "lossyfl.protocol.schemes:levels"],
            "options of lossyfl.protocol.schemes:levels must be",
        ),
        (["codec", "encode", "{x}", "-Q", "os.path:getcwd"], "path of quantizer must be"),
        (["codec", "encode", "{x}", "-Q", "collections.abc:Sized"], "must be"),
        (["codec", "encode", "{x}", "-Q", "types.x:SimpleNamespace"], "path of quantizer"),
    ],
)
def test_wrong_use_is_one_clear_line(vector: Path, arguments: list[str], message: str) -> None:
    said = bad(*(a.format(x=vector, d=vector.parent) for a in arguments))
    assert message in said.replace("\n", " ")


def test_limit_is_the_librarys() -> None:
    assert codec.MAX_ENTRIES == MAX_ENTRIES


def test_demo() -> None:
    rows = json.loads(good("codec", "demo", "--json"))
    assert len(rows) == 6
    assert all(row["nbytes"] < 38_440 for row in rows)
    assert "vs 32 bits" in good("codec", "demo")
