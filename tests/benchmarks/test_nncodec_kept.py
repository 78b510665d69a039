"""What is kept comes back in another run, by all that it depends on."""

from pathlib import Path

import numpy as np

from benchmarks.equal_error import Coded
from benchmarks.nncodec_kept import Kept, name_of


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "some" / "kept.jsonl"
    Kept(path).put("a", Coded(nbytes=7, nmse=0.125))
    Kept(path).put("b", Coded(nbytes=9, nmse=0.5))
    kept = Kept(path)
    assert kept.get("a") == Coded(nbytes=7, nmse=0.125)
    assert kept.get("b") == Coded(nbytes=9, nmse=0.5)
    assert kept.get("c") is None


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    path.write_text('["a", 7, 0.125]\n["b", 9')
    assert Kept(path).get("a") is not None
    assert Kept(path).get("b") is None


def test_names_tell_vectors_and_options_apart() -> None:
    x = np.arange(4, dtype=np.float32)
    names = {
        name_of(vectors, request)
        for vectors in ([x], [x, x], [-x])
        for request in ([{"qp": 1}, True], [{"qp": 2}, True], [{"qp": 1}, False])
    }
    assert len(names) == 9
    assert name_of([x], [{"a": 1, "b": 2}]) == name_of([x.copy()], [{"b": 2, "a": 1}])
