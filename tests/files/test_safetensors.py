"""Our reader and writer against the library's."""

from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

from lossyfl import InputError
from lossyfl.files import safetensors as ours


def test_reads_what_the_library_writes(tmp_path: Path) -> None:
    tensors = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "n": np.array(7, dtype=np.int64)}
    safetensors.numpy.save_file(tensors, tmp_path / "m.safetensors", metadata={"k": "v"})
    file = ours.read(tmp_path / "m.safetensors")
    assert file.metadata == {"k": "v"}
    found = {t.name: (t.dtype, t.shape, bytes(t.data)) for t in file.tensors}
    assert found == {
        "a": ("F32", (2, 3), tensors["a"].tobytes()),
        "n": ("I64", (), tensors["n"].tobytes()),
    }


def test_the_library_reads_what_we_write(tmp_path: Path) -> None:
    source = {
        "half": torch.ones(3, dtype=torch.bfloat16),
        "eight": torch.ones(5).to(torch.float8_e4m3fn),
        "empty": torch.zeros(0, 4),
        "flag": torch.tensor([True, False, True]),
        "count": torch.tensor(41),
    }
    safetensors.torch.save_file(source, tmp_path / "a.safetensors")
    ours.write(tmp_path / "b.safetensors", ours.read(tmp_path / "a.safetensors"))
    back = safetensors.torch.load_file(tmp_path / "b.safetensors")
    assert back.keys() == source.keys()
    for name, tensor in source.items():
        assert back[name].dtype == tensor.dtype
        assert back[name].shape == tensor.shape
        assert torch.equal(back[name].float(), tensor.float())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 8,
        b"\xff" * 20,
        b"\x02\x00\x00\x00\x00\x00\x00\x00[]",
        b'\x12\x00\x00\x00\x00\x00\x00\x00{"a":{"shape":[1]}}',
        (b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,400]}}'),
    ],
)
def test_damaged_files(data: bytes) -> None:
    if data.startswith(b"{"):
        data = len(data).to_bytes(8, "little") + data
    with pytest.raises(InputError, match="content of x must be a whole safetensors file"):
        ours.parse(data, of="x")
