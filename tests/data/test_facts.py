"""What is known of a data set before any file is read."""

from lossyfl.data.catalog import MNIST, QMNIST, SHAKESPEARE
from lossyfl.data.facts import Part, parts


def test_the_four_arrays_from_sizes_and_sums() -> None:
    assert parts(6, 2, (3, 4, 5), ("a", "b", "c", "d")) == (
        Part(name="train_x", shape=(6, 3, 4, 5), sha256="a"),
        Part(name="train_y", shape=(6,), sha256="b"),
        Part(name="test_x", shape=(2, 3, 4, 5), sha256="c"),
        Part(name="test_y", shape=(2,), sha256="d"),
    )


def test_sizes_are_those_of_the_images() -> None:
    assert (MNIST.train, MNIST.test) == (60_000, 10_000)


def test_sizes_of_other_data() -> None:
    assert (QMNIST.train, QMNIST.test) == (60_000, 60_000)
    assert (SHAKESPEARE.train, SHAKESPEARE.test) == (1_115_394, 0)
