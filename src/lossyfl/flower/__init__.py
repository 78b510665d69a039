"""lossyfl on Flower: wrap the strategy, add the mod, and the rest of the app stays as it is.

    strategy = LossyStrategy(FedAvg(...))     # server_app.py
    app = ClientApp(mods=[lossy_mod])                          # client_app.py

Here the words are Flower's where they name Flower's things: node, message, record, strategy, mod. A node
is one of our devices. What is sent to whom, what is refused and what a device keeps is decided by
`lossyfl.protocol`, and what every framework's adapter does with it is `lossyfl.adapters`; this package is the
rest, Flower's own.

    mod         the device's side
    strategy    the server's side
    training    one start of it, until its end
    outgoing    messages to nodes, the model replaced by frames
    incoming    messages from nodes
    replies     which replies an inner strategy can take
    weights     what a reply counts
    aggregating a round's replies -> the next model
    inner       the strategy inside, and what it carries from round to round (`inner_state`)
    checkpoint  a training that is gone on from
    privacy     Flower's noise beside frames
    records     Flower's records <-> ours
    framework   Flower's words and its log
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
