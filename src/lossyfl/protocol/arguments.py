"""What a server is given, checked before anything is built of it."""

from collections.abc import Sequence
from typing import Literal

from lossyfl.errors import InputError
from lossyfl.kernels.parallel import useful_threads
from lossyfl.protocol.rules import LARGEST, is_within
from lossyfl.protocol.scheme import Scheme
from lossyfl.streams import stream
from lossyfl.types import Shape, Vector
from lossyfl.wire.shapes import as_shapes, lengths_of, matrices_of
from lossyfl.wire.vectors import as_vector, block_bounds

Listen = Literal["all", "participants"]


def check_arguments(
    theta: object,
    scheme: object,
    listen: str,
    log_bytes: object,
    tensors: Sequence[Shape] | None,
    seed: int,
    threads: int,
) -> Vector:
    """The model to start from, as a vector of its own; raises unless all can be used together."""
    start = as_vector(theta).copy()
    if not is_within(start):
        allowed = f"finite and within {LARGEST:.3g}"
        raise InputError("theta", of="Server", allowed=allowed, got="NaN, infinity or beyond")
    if listen not in ("all", "participants"):
        raise InputError("listen", of="Server", allowed='"all" or "participants"', got=listen)
    if not isinstance(scheme, Scheme):
        allowed = 'a Scheme, as lossyfl.scheme("lfl") gives'
        raise InputError("scheme", of="Server", allowed=allowed, got=scheme)
    if log_bytes is not None and (type(log_bytes) is not int or log_bytes < 0):
        raise InputError("log_bytes", of="Server", allowed="an int >= 0", got=log_bytes)
    shapes = as_shapes([len(start)] if tensors is None else tensors, of="Server")
    block_bounds("tensor", len(start), lengths_of(shapes))
    matrices_of(shapes, len(start))
    stream(seed)  # raises if it is no seed
    useful_threads(threads, 0)
    scheme.check(shapes)
    return start
