"""lossyfl on Flower: wrap the strategy, add the mod, and the rest of the app stays as it is.

    strategy = LossyStrategy(FedAvg(...))     # server_app.py
    app = ClientApp(mods=[lossy_mod])                          # client_app.py

Here the words are Flower's where they name Flower's things: node, message, record, strategy, mod. A node
is one of our devices. What is sent to whom, what is refused and what a device keeps is decided by
`lossyfl.protocol.server` and `lossyfl.protocol.device`; this package carries their bytes.

    layout     a model as Flower's arrays <-> one vector, and what is not in it
    statistics which floats of a model are no weights, and travel exactly
    envelope   what a message of ours holds
    nodes      which node is which device, and what it is known to hold
    store      what a device remembers, on its own disk
    mod        the device's side
    strategy   the server's side
    replies    which replies an inner strategy can take
    arrays     the numbers of models, for the server and for an inner strategy
    saved      the strategy's checkpoint
    journal    its results directory
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lossyfl.errors import MissingExtra

if TYPE_CHECKING:
    from lossyfl.flower.mod import LossyMod, lossy_mod
    from lossyfl.flower.strategy import LossyStrategy

__all__ = ["LossyMod", "LossyStrategy", "lossy_mod"]

_HOME = {"LossyMod": "mod", "lossy_mod": "mod", "LossyStrategy": "strategy"}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import_module("flwr")
    except ImportError as error:
        raise MissingExtra("flwr", extra="flower") from error
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
