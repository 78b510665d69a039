"""Models and vectors on disk."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.helpers import forge, laplace, rows_of_all_sizes

from lossyfl import FrameError, InputError, Stochastic, decode, quantizer, stream
from lossyfl.files import safetensors
from lossyfl.files.bundle import decode_file, encode_file, read_frame


@pytest.fixture
def model(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    tensors = {
        "conv.weight": torch.randn(8, 3, 3, 3),
        "conv.bias": torch.randn(8),
        "norm.running_mean": torch.randn(8).double(),
        "norm.num_batches_tracked": torch.tensor(1234567890123),
        "head.weight": torch.randn(10, 8).half(),
        "scale": torch.tensor(0.5).bfloat16(),
        "mask": torch.tensor([True, False]),
        "empty": torch.zeros(0, 3),
    }
    path = tmp_path / "model.safetensors"
    save_file(tensors, path, metadata={"epoch": "3"})
    return path


@pytest.mark.parametrize("scale", ["model", "tensor", 32])
def test_model_goes_through_and_comes_back(model: Path, tmp_path: Path, scale: str) -> None:
    packed, back = tmp_path / "m.lfl", tmp_path / "back.safetensors"
    chosen = Stochastic(levels=127, scale=scale)  # type: ignore[arg-type]
    result = encode_file(model, packed, chosen, rng=stream(0))
    assert result.target == packed.stat().st_size
    assert decode_file(packed, back) == result.frame.entries
    before, after = load_file(model), load_file(back)
    assert before.keys() == after.keys()
    for name, tensor in before.items():
        assert after[name].dtype == tensor.dtype
        assert after[name].shape == tensor.shape
        if tensor.is_floating_point() and tensor.numel():
            near = torch.allclose(after[name].double(), tensor.double(), atol=0.05)
            assert near, name
        else:
            assert torch.equal(after[name], tensor)


def test_vector_is_a_bare_frame(tmp_path: Path) -> None:
    x = laplace(1000)
    np.save(tmp_path / "x.npy", x)
    encode_file(tmp_path / "x.npy", tmp_path / "x.lfl", Stochastic(), rng=stream(0))
    decode_file(tmp_path / "x.lfl", tmp_path / "y.npy")
    frame = read_frame(tmp_path / "x.lfl")
    assert frame == (tmp_path / "x.lfl").read_bytes()
    assert np.array_equal(np.load(tmp_path / "y.npy"), decode(frame))


@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f4", "<f8"])
def test_array_of_several_dimensions_comes_back(tmp_path: Path, dtype: str) -> None:
    x = rows_of_all_sizes(60, 40).reshape(60, 20, 2)
    np.save(tmp_path / "x.npy", np.asfortranarray(x.astype(dtype)))
    result = encode_file(
        tmp_path / "x.npy", tmp_path / "x.lfl", Stochastic(levels=127), rng=stream(0)
    )
    assert decode_file(tmp_path / "x.lfl", tmp_path / "y.npy") == x.size
    after = np.load(tmp_path / "y.npy")
    assert (after.shape, after.dtype) == (x.shape, np.dtype(dtype).newbyteorder("<"))
    assert np.abs(after - x).max() < np.abs(x).max() / 100
    assert result.frame.coding == "classes"


def test_shapes_make_bundles_shorter_and_nothing_else(tmp_path: Path) -> None:
    x = rows_of_all_sizes(100, 80)
    np.save(tmp_path / "flat.npy", x.ravel())
    save_file({"w": torch.from_numpy(x)}, tmp_path / "m.safetensors")
    chosen = quantizer("dithered:target=1.5bit")
    flat, shaped = (
        encode_file(tmp_path / name, tmp_path / f"{name}.lfl", chosen, rng=stream(0)).frame
        for name in ("flat.npy", "m.safetensors")
    )
    assert shaped.nbytes < 0.9 * flat.nbytes
    assert shaped.counts == flat.counts


@pytest.mark.parametrize("dtype", ["<i4", "<c8"])
def test_array_of_others_is_refused(tmp_path: Path, dtype: str) -> None:
    np.save(tmp_path / "x.npy", np.ones((30, 20), dtype))
    with pytest.raises(InputError, match="array of codec encode must be of float16, float32"):
        encode_file(tmp_path / "x.npy", tmp_path / "x.lfl", Stochastic(), rng=stream(0))


@pytest.mark.parametrize(
    "listing", ['[["a", "BF16", [6, 4]]]', '[["a", "F32", [6, 2]], ["b", "F32", [6, 2]]]']
)
def test_array_of_a_hostile_bundle_is_refused(tmp_path: Path, listing: str) -> None:
    np.save(tmp_path / "x.npy", np.ones((6, 4)))
    encode_file(tmp_path / "x.npy", tmp_path / "x.lfl", Stochastic(), rng=stream(0))
    bundle = safetensors.read(tmp_path / "x.lfl")
    other = safetensors.File(tensors=bundle.tensors, metadata=bundle.metadata | {"floats": listing})
    safetensors.write(tmp_path / "y.lfl", other)
    with pytest.raises(InputError, match=r"listing of y\.lfl must be one array of float16"):
        decode_file(tmp_path / "y.lfl", tmp_path / "y.npy")


class TestWrongFiles:
    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="file of codec must be one that exists"):
            decode_file(tmp_path / "no.lfl", tmp_path / "y.npy")

    def test_unknown_suffix(self, tmp_path: Path) -> None:
        (tmp_path / "x.txt").write_text("hello")
        with pytest.raises(InputError, match=r"a \.npy array or a \.safetensors model"):
            encode_file(tmp_path / "x.txt", tmp_path / "y", Stochastic(), rng=stream(0))

    @pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"junk" * 50])
    def test_damaged_npy(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "x.npy").write_bytes(content)
        with pytest.raises(InputError, match=r"content of x.npy must be a \.npy array of floats"):
            encode_file(tmp_path / "x.npy", tmp_path / "y", Stochastic(), rng=stream(0))

    def test_pickled_npy_is_not_opened(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
        with pytest.raises(InputError, match="content of"):
            encode_file(tmp_path / "x.npy", tmp_path / "y", Stochastic(), rng=stream(0))

    def test_model_without_floats(self, tmp_path: Path) -> None:
        save_file({"n": torch.tensor([1, 2])}, tmp_path / "m.safetensors")
        with pytest.raises(InputError, match="float tensors"):
            encode_file(tmp_path / "m.safetensors", tmp_path / "y", Stochastic(), rng=stream(0))
        assert not (tmp_path / "y").exists()

    def test_nan_leaves_nothing_behind(self, tmp_path: Path) -> None:
        save_file({"w": torch.tensor([1.0, float("nan")])}, tmp_path / "m.safetensors")
        with pytest.raises(InputError, match="entry 1 of the vector must be finite"):
            encode_file(tmp_path / "m.safetensors", tmp_path / "y", Stochastic(), rng=stream(0))
        assert [p.name for p in tmp_path.iterdir()] == ["m.safetensors"]

    def test_plain_safetensors_is_not_a_bundle(self, model: Path, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="a frame or a bundle that lossyfl wrote"):
            decode_file(model, tmp_path / "y.safetensors")

    def test_output_of_the_wrong_kind(self, model: Path, tmp_path: Path) -> None:
        encode_file(model, tmp_path / "m.lfl", Stochastic(), rng=stream(0))
        with pytest.raises(InputError, match=r"output of m.lfl must be a \.safetensors file"):
            decode_file(tmp_path / "m.lfl", tmp_path / "y.npy")

    def test_folder_that_does_not_exist(self, model: Path, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"folder of m\.lfl must be one that exists"):
            encode_file(model, tmp_path / "no" / "m.lfl", Stochastic(), rng=stream(0))

    def test_damaged_frame(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", laplace(1000))
        encode_file(tmp_path / "x.npy", tmp_path / "x.lfl", Stochastic(), rng=stream(0))
        data = (tmp_path / "x.lfl").read_bytes()
        (tmp_path / "x.lfl").write_bytes(forge(data, 4, b"\x63"))
        with pytest.raises(FrameError, match="a kind in"):
            decode_file(tmp_path / "x.lfl", tmp_path / "y.npy")
        assert not (tmp_path / "y.npy").exists()
