"""Every data set that lossyfl knows, with the sums of its arrays.

The sums are of the decoded arrays, so that they hold for every packing. Those of MNIST and Fashion-MNIST
were taken from the four .gz files with the md5 sums that the common loaders check (Fashion-MNIST's under
their original gzip headers). Those of CIFAR-10 were taken from its binary version as written back from
lossless PNG sheets; it was not compared with the original archive, which was not at hand. Those of QMNIST's
labels were taken from the two .gz files with the md5 sums that the common loaders check.
"""

from lossyfl.data.facts import DatasetFacts, Part, parts
from lossyfl.data.layouts import BINARY, IDX, PICKLED, TEXT, THREE_TEXTS, WRITERS
from lossyfl.errors import InputError, one_of

DIGITS = DatasetFacts(
    name="digits",
    classes=10,
    shape=(1, 8, 8),
    parts=parts(
        1437,
        360,
        (1, 8, 8),
        (
            "27823dec4bfc9d7ee62310f7a872ffc1dd83f1c541ad10d206e5d5c29f2b3fbc",
            "5bc213aa937eea2311d47810d7df5df52f8f19ea69b3c7772e14b3395eaedeb7",
            "075c9a99a98d959d8409b85eb13ab819015093bf48fe86ff7388244f6e9b9a79",
            "3d918d9919d1aae3550a6aa8a4e1f0dc1be35092a265f3377c0f1a5be73f822e",
        ),
    ),
)
MNIST = DatasetFacts(
    name="mnist",
    classes=10,
    shape=(1, 28, 28),
    parts=parts(
        60_000,
        10_000,
        (1, 28, 28),
        (
            "741c988805d008ac6e4c904b69001ba184c24b2c540a4ef403f4c71b676cf757",
            "1feba77c54802fa5339a11837ea4b2866434b83314ec45192930f1df69120c13",
            "6d87418db22cc8025d05968bec9bd5c3932904b23485740db143a061a2c9d161",
            "ddeff807876a9661a1110d45c266c86239a3a1b7d37da0c3716a7a683c852ff5",
        ),
    ),
    layouts=(IDX,),
    folders=("mnist", "MNIST/raw", "MNIST"),
)
FASHION_MNIST = DatasetFacts(
    name="fashion-mnist",
    classes=10,
    shape=(1, 28, 28),
    parts=parts(
        60_000,
        10_000,
        (1, 28, 28),
        (
            "2e487a6c89124f78f2d7521542223cafe96f7123c3ca13d447772ac6ecbb3012",
            "657fbd221bfc9f4198cc14b5619cc33ec57c58dd0e47af4d99d6650759e869a7",
            "c867c93ff95360594e8ec3287995350b824dd110b11595c0e13d5423f621867a",
            "3d0e6c6ea990b53b6f8f500a41cac93881d981b315f84578b7d915342ade01e9",
        ),
    ),
    layouts=(IDX,),
    folders=("fashion-mnist", "FashionMNIST/raw", "FashionMNIST"),
)
CIFAR10 = DatasetFacts(
    name="cifar10",
    classes=10,
    shape=(3, 32, 32),
    parts=parts(
        50_000,
        10_000,
        (3, 32, 32),
        (
            "9d5c2eddadb0deff02c14c350c0385aab7b1d5ff1edfeb4997c8dc8644960111",
            "2b7cd2f24487317614016b72ffd53071c3062f592f0eb300c18a770d41ae1253",
            "177777c33ba79825320efa646ad04a94bdc3c80e4ebe3bd21724f8cdfd4b9d56",
            "cec8a24a1e92aa2ecaa0bbd3dbfa86bf6cd8759fbd209a832824c8cf0afca9d5",
        ),
    ),
    layouts=(BINARY, PICKLED),
    folders=("cifar10", "cifar-10-batches-bin", "cifar-10-batches-py"),
)
QMNIST = DatasetFacts(
    name="qmnist",  # its labels alone, which say who wrote which image of MNIST
    classes=10,
    shape=(8,),
    parts=(
        Part(
            name="train",
            shape=(60_000, 8),
            sha256="fd35ae63b9cc2c3937b192ae4c64dd6209616c4bad08ac80c12c2671eb4a021f",
        ),
        Part(
            name="test",
            shape=(60_000, 8),
            sha256="2a91d5caf99453a7c0d529185d67da358c7e53a4e1e8f65d0ca2f510d3052f39",
        ),
    ),
    samples="labels",
    layouts=(WRITERS,),
    folders=("qmnist", "QMNIST/raw", "QMNIST"),
)
SHAKESPEARE = DatasetFacts(
    name="shakespeare",
    classes=65,
    shape=(),
    parts=(
        Part(
            name="text",
            shape=(1_115_394,),
            sha256="86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
        ),
    ),
    samples="characters",
    layouts=(TEXT, THREE_TEXTS),
    folders=("shakespeare", "tinyshakespeare"),
)

CATALOG = (DIGITS, MNIST, FASHION_MNIST, CIFAR10, QMNIST, SHAKESPEARE)


def names() -> list[str]:
    """The names of all data sets.

    >>> names()
    ['digits', 'mnist', 'fashion-mnist', 'cifar10', 'qmnist', 'shakespeare']
    """
    return [facts.name for facts in CATALOG]


def known(name: str) -> DatasetFacts:
    """What is known of a data set."""
    for facts in CATALOG:
        if facts.name == name:
            return facts
    raise InputError("name", of="the data set", allowed=one_of(names(), name), got=name)
