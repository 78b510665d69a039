"""What may be encoded: a contiguous vector of floats, from NumPy or a CPU torch tensor.

float32 is taken as it is, without a copy. float16 and bfloat16 widen exactly; float64 is rounded to
the nearest float32, and a value beyond float32's range is an error as infinity is.
"""

import sys
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError, NotFinite
from lossyfl.types import Bounds, Scale, Vector

Floats = NDArray[np.float64]

ALLOWED = "a contiguous vector of float32, float16, bfloat16 or float64"


def as_vector(x: object) -> Vector:
    """`x` as a float32 vector, without a copy where it is one.

    >>> x = np.ones(3, dtype=np.float32)
    >>> np.shares_memory(as_vector(x), x)
    True
    """
    array = _from_torch(x) if type(x).__module__.split(".")[0] == "torch" else x
    if not isinstance(array, np.ndarray):
        raise InputError("vector", of="encode", allowed=ALLOWED, got=type(x).__name__)
    array = cast("NDArray[Any]", array)
    if array.ndim != 1 or not array.flags.c_contiguous:
        layout = "" if array.flags.c_contiguous else ", not contiguous"
        raise InputError("vector", of="encode", allowed=ALLOWED, got=f"shape {array.shape}{layout}")
    if not len(array):
        raise InputError("vector", of="encode", allowed="of at least one entry", got="none")
    return _as_float32(array)


def _as_float32(array: NDArray[Any]) -> Vector:
    if array.dtype == np.float32:  # not if its bytes are swapped
        return array.view(np.float32)
    name = array.dtype.name if array.dtype.isnative else f"byte-swapped {array.dtype.name}"
    if name == "bfloat16":  # the dtype of ml_dtypes: the upper half of a float32
        return widen_bfloat16(array.view(np.uint16))
    if name in ("float16", "float64"):
        with np.errstate(over="ignore"):  # infinity is reported with its index later
            return array.astype(np.float32)
    raise InputError("vector", of="encode", allowed=ALLOWED, got=f"dtype {name}")


def widen_bfloat16(bits: NDArray[np.uint16]) -> Vector:
    """bfloat16 bit patterns as float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrow_bfloat16(x: Vector) -> NDArray[np.uint16]:
    """float32 as bfloat16 bit patterns, rounded to nearest, ties to even.

    >>> widen_bfloat16(narrow_bfloat16(np.float32([1.0, -3.140625])))
    array([ 1.      , -3.140625], dtype=float32)
    """
    bits = x.view(np.uint32)
    rounding = ((bits >> np.uint32(16)) & np.uint32(1)) + np.uint32(0x7FFF)
    return ((bits + rounding) >> np.uint32(16)).astype(np.uint16)


def _from_torch(x: Any) -> object:  # noqa: ANN401
    """A CPU tensor's memory. Torch is not imported here: whoever has a tensor has done so."""
    torch = sys.modules["torch"]
    if not isinstance(x, torch.Tensor):
        return x
    if x.device.type != "cpu":
        raise InputError("vector", of="encode", allowed="on the CPU", got=f"on {x.device}")
    if x.dtype == torch.bfloat16:
        return widen_bfloat16(x.detach().view(torch.int16).numpy().view(np.uint16))
    return x.detach().numpy()


def check_finite(x: Vector) -> None:
    """Raise on the first entry that is NaN or infinity."""
    if not np.isfinite(x).all():
        bad = int(np.argmin(np.isfinite(x)))
        raise NotFinite(f"entry {bad}", of="the vector", got=float(x[bad]))


def product(a: Vector | Floats, b: Vector | Floats) -> float:
    """<a, b> in float64, the same for any number of threads: BLAS would add in another order with more."""
    return float(np.einsum("i,i->", a, b, dtype=np.float64))


def nmse(x: Vector, x_hat: Vector) -> float:
    """||x_hat - x||^2 / ||x||^2; 0 for a vector of zeros."""
    error: Floats = x_hat.astype(np.float64) - x
    energy = product(x, x)
    return product(error, error) / energy if energy else 0.0


def block_bounds(scale: Scale, entries: int, tensors: tuple[int, ...] | None) -> Bounds:
    """Where each block that has its own scale begins and ends.

    >>> block_bounds(4, 10, None)
    array([ 0,  4,  8, 10])
    """
    if scale == "model":
        return np.array([0, entries], dtype=np.int64)
    if scale != "tensor":
        return np.append(np.arange(0, entries, scale, dtype=np.int64), entries)
    if tensors is None:
        allowed = 'given with scale="tensor": the length of every tensor, in order'
        raise InputError("tensors", of="encode", allowed=allowed, got=None)
    if min(tensors, default=0) < 0 or sum(tensors) != entries:
        allowed = f"lengths >= 0 that sum to {entries}"
        raise InputError("tensors", of="encode", allowed=allowed, got=f"a sum of {sum(tensors)}")
    return np.cumsum([0, *(n for n in tensors if n)], dtype=np.int64)
