"""lossyfl: federated learning over thin links, with real bytes.

    >>> import numpy as np, lossyfl
    >>> x = np.random.default_rng(0).laplace(size=100_000).astype(np.float32)
    >>> frame = lossyfl.encode(x, lossyfl.Stochastic(levels=2), rng=lossyfl.stream(seed=0))
    >>> lossyfl.decode(frame).shape
    (100000,)

Names are imported when they are first used, so that `import lossyfl` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lossyfl.errors import (
        FrameError,
        InputError,
        LossyflError,
        MissingExtra,
        OutOfSync,
        Refused,
    )
    from lossyfl.protocol.device import Device
    from lossyfl.protocol.digests import EstimateVersion
    from lossyfl.protocol.ledger import Ledger
    from lossyfl.protocol.round import run_round
    from lossyfl.protocol.rules import ReplyRule, capped_weights
    from lossyfl.protocol.scheme import Scheme
    from lossyfl.protocol.schemes import scheme
    from lossyfl.protocol.server import Server
    from lossyfl.protocol.states import Delivery, DeviceState, ServerState
    from lossyfl.quantizers import quantizer, register
    from lossyfl.quantizers.rotated import Rotated
    from lossyfl.quantizers.stochastic import Stochastic
    from lossyfl.streams import Stream, stream
    from lossyfl.types import Codebook, Quantized, Quantizer, Scaled, UniformTable
    from lossyfl.wire.codec import FrameInfo, decode, encode, inspect
    from lossyfl.wire.header import FrameMeta, Kind

__version__ = "0.2.0"

__all__ = [
    "Codebook",
    "Delivery",
    "Device",
    "DeviceState",
    "EstimateVersion",
    "FrameError",
    "FrameInfo",
    "FrameMeta",
    "InputError",
    "Kind",
    "Ledger",
    "LossyflError",
    "MissingExtra",
    "OutOfSync",
    "Quantized",
    "Quantizer",
    "Refused",
    "ReplyRule",
    "Rotated",
    "Scaled",
    "Scheme",
    "Server",
    "ServerState",
    "Stochastic",
    "Stream",
    "UniformTable",
    "capped_weights",
    "decode",
    "encode",
    "inspect",
    "quantizer",
    "register",
    "run_round",
    "scheme",
    "stream",
]

_HOME = {
    "errors": ("FrameError", "InputError", "LossyflError", "MissingExtra", "OutOfSync", "Refused"),
    "protocol.device": ("Device",),
    "protocol.digests": ("EstimateVersion",),
    "protocol.ledger": ("Ledger",),
    "protocol.round": ("run_round",),
    "protocol.rules": ("ReplyRule", "capped_weights"),
    "protocol.scheme": ("Scheme",),
    "protocol.schemes": ("scheme",),
    "protocol.server": ("Server",),
    "protocol.states": ("Delivery", "DeviceState", "ServerState"),
    "quantizers": ("quantizer", "register"),
    "quantizers.rotated": ("Rotated",),
    "quantizers.stochastic": ("Stochastic",),
    "streams": ("Stream", "stream"),
    "types": ("Codebook", "UniformTable", "Quantized", "Quantizer", "Scaled"),
    "wire.codec": ("FrameInfo", "decode", "encode", "inspect"),
    "wire.header": ("FrameMeta", "Kind"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
