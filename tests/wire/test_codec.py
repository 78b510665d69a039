"""The public codec: every input it takes, every input it refuses, and its exactness."""

import hashlib
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32, laplace, sample_frame

from lossyfl import InputError, Quantizer, Stochastic, decode, encode, inspect, stream
from lossyfl.types import Scale


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


class TestEncode:
    def test_numpy_and_torch_give_the_same_frame_without_a_copy(self) -> None:
        x = laplace(100_000)
        tensor = torch.from_numpy(x.copy()).requires_grad_()
        quantizer = Stochastic(levels=2)
        assert encode(x, quantizer, rng=stream(0)) == encode(tensor, quantizer, rng=stream(0))

    @pytest.mark.parametrize("name", ["float16", "bfloat16", "float64"])
    def test_other_floats_are_converted(self, name: str) -> None:
        tensor = torch.from_numpy(laplace(1000)).to(getattr(torch, name))
        expected = encode(tensor.float(), Stochastic(), rng=stream(0))
        assert encode(tensor, Stochastic(), rng=stream(0)) == expected
        if name != "bfloat16":
            assert encode(tensor.numpy(), Stochastic(), rng=stream(0)) == expected

    def test_torch_is_not_imported(self) -> None:
        code = (
            "import sys, numpy, lossyfl as l;"
            "l.decode(l.encode(numpy.ones(3, 'f4'), l.Stochastic(), rng=l.stream(0)));"
            "assert 'torch' not in sys.modules"
        )
        subprocess.run([sys.executable, "-c", code], check=True)

    @pytest.mark.parametrize(
        ("x", "message"),
        [
            (np.zeros(0, np.float32), "at least one entry"),
            (np.zeros((2, 2), np.float32), r"contiguous vector of float32.* got shape \(2, 2\)"),
            (np.zeros(10, np.float32)[::2], "not contiguous"),
            (np.zeros(3, np.int64), "got dtype int64"),
            (np.zeros(3, ">f4"), "got dtype byte-swapped float32"),
            (np.zeros(3, complex), "got dtype complex128"),
            ([1.0, 2.0], "got list"),
            (None, "got NoneType"),
            (torch.zeros(3, dtype=torch.int32), "got dtype int32"),
            (torch.zeros(3, device="meta"), "on the CPU, got on meta"),
            (np.array([1e39]), "entry 0 of the vector must be finite, got inf"),
        ],
    )
    def test_wrong_vectors(self, x: object, message: str) -> None:
        with pytest.raises(InputError, match=message):
            encode(x, Stochastic(), rng=stream(0))

    @pytest.mark.parametrize("threads", [0, -1, 1.5, True])
    def test_wrong_threads(self, threads: int) -> None:
        with pytest.raises(InputError, match="threads of the codec must be an int >= 1"):
            encode(laplace(3), Stochastic(), rng=stream(0), threads=threads)

    def test_wrong_rng(self) -> None:
        with pytest.raises(InputError, match=r"rng of encode must be a lossyfl.Stream.* got 0"):
            encode(laplace(3), Stochastic(), rng=0)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("tensors", "message"),
        [(None, "given with scale"), ((1, 1), "sum to 3"), ((4, -1), "lengths >= 0")],
    )
    def test_wrong_tensors(self, tensors: tuple[int, ...] | None, message: str) -> None:
        with pytest.raises(InputError, match=message):
            encode(laplace(3), Stochastic(scale="tensor"), rng=stream(0), tensors=tensors)

    @given(
        entries=st.integers(1, 3000),
        q=st.sampled_from([1, 2, 5, 50, 200, 1000]),
        scale=st.one_of(st.just("model"), st.integers(1, 500)),
        threads=st.integers(1, 4),
        seed=st.integers(0, 1000),
    )
    def test_bytes_do_not_depend_on_threads(
        self, entries: int, q: int, scale: Scale, threads: int, seed: int
    ) -> None:
        x = laplace(entries, seed)
        quantizer: Quantizer = Stochastic(levels=q, scale=scale)
        frame = encode(x, quantizer, rng=stream(seed))
        assert frame == encode(x, quantizer, rng=stream(seed), threads=threads)
        assert decode(frame).tobytes() == decode(frame, threads=threads).tobytes()

    def test_many_segments_on_many_threads(self) -> None:
        x = laplace(3_000_000)
        frames = {encode(x, Stochastic(levels=2), rng=stream(0), threads=n) for n in (1, 2, 5)}
        assert len(frames) == 1
        frame = frames.pop()
        assert inspect(frame).segments == 32
        assert len({decode(frame, threads=n).tobytes() for n in (1, 2, 5)}) == 1


class TestMemory:
    """For q = 2: at most 3 bytes an entry to encode, 6 to decode, the output included."""

    @staticmethod
    def peak(job: object) -> int:
        tracemalloc.start()
        result = job()  # type: ignore[operator]
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        del result
        return peak

    @pytest.mark.parametrize("spread", [1.0, 0.02])
    def test_peak(self, spread: float) -> None:
        x = laplace(1_000_000)
        x[0] = np.abs(x).max() / spread  # dense or sparse symbols
        quantizer = Stochastic(levels=2)
        frame = encode(x, quantizer, rng=stream(0))
        decode(frame)
        assert self.peak(lambda: encode(x, quantizer, rng=stream(0))) <= 3 * len(x)
        assert self.peak(lambda: decode(frame)) <= 6 * len(x)


class TestInspect:
    def test_fields(self) -> None:
        frame = sample_frame(levels=2)
        info = inspect(frame)
        assert info.nbytes == len(frame)
        assert info.entries == sum(info.counts) == 5000
        assert (info.levels, info.alphabet, info.used) == (2, 6, 6)
        assert info.coding == "rans"
        assert info.ratio == 4 * 5000 / len(frame)
        assert info.paper_bits == 64 + 5000 * (1 + np.log2(3))
        assert 0 < info.over_entropy < 0.1

    def test_raw_frame(self) -> None:
        info = inspect(encode(f32([1.5]), Stochastic(), rng=stream(0)))
        assert (info.coding, info.paper_bits, info.counts) == ("raw", None, ())
