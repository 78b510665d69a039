"""What NNCodec is asked for, with something in its place that keeps every second entry of each tensor."""

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import nncodec_jobs

Tensors = dict[str, np.ndarray]
Base = dict[str, Any] | None


def compress(x: Tensors, *, approx_param_base: Base, **options: object) -> bytearray:
    assert isinstance(options["qp"], int)
    if options["qp"] > 50:
        raise SystemExit("too coarse")
    print("COMPRESSED")  # as it does
    assert options["compress_differences"] == (approx_param_base is not None)
    assert options["nonweight_qp"] == options["qp"]
    kept = {name: tensor.ravel()[::2].tolist() for name, tensor in x.items()}
    if approx_param_base is not None:
        approx_param_base["parameters"] |= kept
    shapes = {name: tensor.shape for name, tensor in x.items()}
    return bytearray(json.dumps((kept, shapes)).encode())


def decompress(data: bytearray, *, approx_param_base: Base, update_base_param: bool) -> Tensors:
    kept, shapes = json.loads(data)
    assert update_base_param == (approx_param_base is not None)
    if approx_param_base is not None:
        approx_param_base["parameters"] |= kept
    decoded = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    for name, tensor in decoded.items():
        tensor.reshape(-1)[::2] = kept[name]
    return decoded


@pytest.fixture
def vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    codec = SimpleNamespace(compress=compress, decompress=decompress)
    monkeypatch.setattr(nncodec_jobs, "package", lambda: codec)
    for number in range(11):
        np.save(tmp_path / f"{number}.npy", np.full((2, 3), number + 1, np.float32))
    return str(tmp_path)


def test_tensors_are_read_in_their_order(vector: str) -> None:
    tensors = nncodec_jobs.tensors(vector)
    assert list(tensors) == [str(number) for number in range(11)]
    assert [tensor[0, 0] for tensor in tensors.values()] == list(range(1, 12))


@pytest.mark.parametrize("differential", [False, True])
def test_bytes_and_error_are_those_of_what_was_decoded(vector: str, differential: bool) -> None:
    answer = nncodec_jobs.measure(vector, None, {"qp": -20}, differential=differential)
    assert answer["nbytes"] > 11 * 3 * 4
    assert answer["nmse"] == pytest.approx(0.5)
    assert answer["encode"] > 0
    assert answer["decode"] > 0


def test_contexts_are_of_the_update_before_it(
    vector: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = [nncodec_jobs.fresh_base() for _ in range(2)]
    left = iter(ends)
    monkeypatch.setattr(nncodec_jobs, "fresh_base", lambda: next(left))
    before = tmp_path_factory.mktemp("before")
    np.save(before / "77.npy", np.ones((1, 2), np.float32))
    nncodec_jobs.measure(vector, str(before), {"qp": -20}, differential=True)
    names = {"77", *nncodec_jobs.tensors(vector)}
    assert [set(end["parameters"]) for end in ends] == [names, names]


def test_requests_are_answered_and_errors_said(
    vector: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    requests = [(vector, None, options, True) for options in ({"qp": -20}, {"qp": 60}, {})]
    text = "".join(f"{json.dumps(request)}\n" for request in requests)
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    nncodec_jobs.main()
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert answers[0]["nmse"] == pytest.approx(0.5)
    assert answers[1:] == ["SystemExit: too coarse", "KeyError: 'qp'"]


@pytest.mark.parametrize(("imports", "ends"), [("cv2, h5py, torchvision", 0), ("other", 1)])
def test_what_only_its_examples_import_is_stood_in_for(
    tmp_path: Path, imports: str, ends: int
) -> None:
    package = tmp_path / "nncodec"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "nnc.py").write_text(f"import {imports}\nfrom sklearn.metrics import report\n")
    command = [
        sys.executable,
        "-P",
        nncodec_jobs.__file__,
    ]  # the stand-ins would stay in this process
    environment = {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, input=b"", capture_output=True, check=False)
    assert done.returncode == ends, done.stderr
