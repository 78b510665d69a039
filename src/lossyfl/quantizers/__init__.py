"""Quantizers: a float vector becomes symbols and a table. One file each; they know no learning."""

import importlib.util
from functools import cache

from lossyfl.registry import Registry
from lossyfl.types import Quantizer

_registry: Registry[Quantizer] = Registry(
    "quantizer",
    makes="a quantizer (lossyfl.Quantizer)",
    methods=("quantize", "error_bound", "nominal_bits"),
    values=("scale", "unbiased", "errors_grow"),
)
register = _registry.register

ROTATED = "rotated+"
"""What goes before the name of any quantizer to rotate the vector first."""


@cache
def _load_all() -> None:
    """Import every module of this package, so that each registers itself."""
    import pkgutil

    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def _load(name: str) -> None:
    """Import the module of this name, which registers the quantizer; all, where that is not enough."""
    if name.isidentifier() and importlib.util.find_spec(f"{__name__}.{name}"):
        importlib.import_module(f"{__name__}.{name}")
    if name not in _registry.names():
        _load_all()


def quantizer(spec: str) -> Quantizer:
    """The quantizer that `name:key=value,...` describes.

    >>> quantizer("stochastic:levels=5,scale=tensor")
    Stochastic(levels=5, scale='tensor')
    >>> quantizer("rotated+stochastic:levels=50")
    Rotated(inner=Stochastic(levels=50, scale='model'), signs='fresh')
    """
    inner = spec.removeprefix(ROTATED)
    _load(inner.partition(":")[0])
    made = _registry.build(inner)
    if spec.startswith(ROTATED):
        from lossyfl.quantizers.rotated import Rotated

        return Rotated(inner=made)
    return made


def spec_of(made: Quantizer) -> str:
    """The text that makes the same quantizer.

    >>> spec_of(quantizer("rotated+stochastic:levels=50"))
    'rotated+stochastic(levels=50)'
    """
    from lossyfl.quantizers.rotated import Rotated
    from lossyfl.quantizers.spelling import spelt

    _load_all()
    if isinstance(made, Rotated) and made.signs == "fresh":
        return ROTATED + spec_of(made.inner)
    return spelt(made, _registry.name_of(type(made)))


def names() -> list[str]:
    """The names of all quantizers."""
    _load_all()
    return _registry.names()


def about(name: str) -> str:
    """A line about a quantizer."""
    _load_all()
    return _registry.about(name)


def adjustable_names() -> list[str]:
    """The names of those whose size a budget can set (`lossyfl.quantizers.targets.Adjustable`)."""
    _load_all()
    return _registry.names(method="with_target")
