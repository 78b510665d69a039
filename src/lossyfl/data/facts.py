"""What is known of a data set before any file is read."""

from dataclasses import dataclass

from lossyfl.data.layouts import FileLayout


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One array: its name in Dataset, its shape, and the SHA-256 of its bytes."""

    name: str
    shape: tuple[int, ...]
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFacts:
    """A data set as it must be.

    shape:   of one sample; of an image (channels, height, width)
    parts:   its arrays; of images train_x, train_y, test_x, test_y
    samples: what it has, in a word
    layouts: the ways it may lie on disk, the one that we write first; none if it comes with a package
    folders: its usual folders below a root, ours first
    """

    name: str
    classes: int
    shape: tuple[int, ...]
    parts: tuple[Part, ...]
    samples: str = "images"
    layouts: tuple[FileLayout, ...] = ()
    folders: tuple[str, ...] = ()

    @property
    def train(self) -> int:
        """The number of samples for training."""
        return self.parts[0].shape[0]

    @property
    def test(self) -> int:
        """The number of samples of its own test set; 0 if it has none."""
        return next((part.shape[0] for part in self.parts if part.name.startswith("test")), 0)


def parts(train: int, test: int, shape: tuple[int, ...], sums: tuple[str, ...]) -> tuple[Part, ...]:
    """The four arrays of a set of images from its sizes and the sums of train_x, train_y, test_x, test_y."""
    names = ("train_x", "train_y", "test_x", "test_y")
    shapes = ((train, *shape), (train,), (test, *shape), (test,))
    return tuple(
        Part(name=name, shape=size, sha256=digest)
        for name, size, digest in zip(names, shapes, sums, strict=True)
    )
