"""lossyfl: federated learning over thin links, with real bytes.

    >>> import numpy as np, lossyfl
    >>> x = np.random.default_rng(0).laplace(size=100_000).astype(np.float32)
    >>> frame = lossyfl.encode(x, lossyfl.Stochastic(levels=2), rng=lossyfl.stream(seed=0))
    >>> lossyfl.decode(frame).shape
    (100000,)

    >>> result = lossyfl.run(task="digits", rounds=2, devices=5, progress=False)
    >>> len(result.rounds), result.metrics
    (2, ('accuracy',))

Names are imported when they are first used, so that `import lossyfl` costs nothing.
"""

TYPE_CHECKING = False  # that of typing takes half as long as Python's own start
if TYPE_CHECKING:
    from lossyfl import report
    from lossyfl.api.outcomes import RunSet, TrainedRun, load
    from lossyfl.api.running import compare, run
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
    from lossyfl.results.experiment import Experiment
    from lossyfl.streams import Stream, stream
    from lossyfl.tasks.base import Samples, Task
    from lossyfl.tasks.defaults import Defaults
    from lossyfl.tasks.metrics import Metric
    from lossyfl.types import Codebook, Quantized, Quantizer, Scaled, UniformTable
    from lossyfl.wire.codec import FrameInfo, decode, encode, inspect
    from lossyfl.wire.header import FrameMeta, Kind

__version__ = "0.2.0"

__all__ = [
    "Codebook",
    "Defaults",
    "Delivery",
    "Device",
    "DeviceState",
    "EstimateVersion",
    "Experiment",
    "FrameError",
    "FrameInfo",
    "FrameMeta",
    "InputError",
    "Kind",
    "Ledger",
    "LossyflError",
    "Metric",
    "MissingExtra",
    "OutOfSync",
    "Quantized",
    "Quantizer",
    "Refused",
    "ReplyRule",
    "Rotated",
    "RunSet",
    "Samples",
    "Scaled",
    "Scheme",
    "Server",
    "ServerState",
    "Stochastic",
    "Stream",
    "Task",
    "TrainedRun",
    "UniformTable",
    "capped_weights",
    "compare",
    "decode",
    "encode",
    "inspect",
    "load",
    "quantizer",
    "register",
    "report",
    "run",
    "run_round",
    "scheme",
    "stream",
]

_HOME = {
    "api.outcomes": ("RunSet", "TrainedRun", "load"),
    "api.running": ("compare", "run"),
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
    "results.experiment": ("Experiment",),
    "streams": ("Stream", "stream"),
    "tasks.base": ("Samples", "Task"),
    "tasks.defaults": ("Defaults",),
    "tasks.metrics": ("Metric",),
    "types": ("Codebook", "UniformTable", "Quantized", "Quantizer", "Scaled"),
    "wire.codec": ("FrameInfo", "decode", "encode", "inspect"),
    "wire.header": ("FrameMeta", "Kind"),
}
_ROOMS = ("report",)
"""Rooms that are public as a whole."""
_MODULE = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
