"""Public mirrors of the original files."""

from functools import partial
from pathlib import Path

from lossyfl.data.dataset import AnyDataset
from lossyfl.data.layouts import BINARY, IDX, TEXT, WRITERS, FileLayout
from lossyfl.data.sources.source import DatasetSource, SourceError
from lossyfl.data.sources.tools import extract
from lossyfl.extras import require

SECONDS = 10
"""How long a mirror may be silent."""

MNIST_SUMS = (
    "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "d53e105ee54ea40749a09fcbcd1e9432",
    "9fb629c4189551a2d022fa330f9573f3",
    "ec29112dd5afa0611ce80d1b7f02629c",
)
FASHION_SUMS = (
    "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "25c81989df183df01b3e8a0aad5dffbe",
    "bef4ecab320f06d8554ea6380940ec79",
    "bb300cfdad3c16e7a12a480ee83cd310",
)
CIFAR_SUM = "c32a1d4ab5d03f1284b67883e8d87530"
WRITER_SUMS = ("0058f8dd561b90ffdd0f734c6a30e5e4", "5b5b05890a5e13444e108efe57b788aa")
TEXT_SUM = "6fb458f1232090904fb40fe944165e91"


def download(url: str, md5: str, folder: Path) -> Path:
    """The file behind a URL if it has this md5; the arrays in it are checked by better sums later."""
    pooch = require("pooch", extra="sim")
    requests = require("requests", extra="sim")
    pooch.get_logger().setLevel("ERROR")  # we say ourselves what is done
    try:
        name = pooch.retrieve(
            url,
            known_hash=f"md5:{md5}",
            fname=url.rpartition("/")[2],
            path=folder,
            downloader=pooch.HTTPDownloader(timeout=SECONDS),
        )
    except requests.exceptions.Timeout:
        raise SourceError(f"no answer within {SECONDS} s") from None
    except requests.exceptions.ConnectionError:
        raise SourceError("no connection") from None
    return Path(name)


def _files(
    layout: FileLayout, base: str, sums: tuple[str, ...], name: str, folder: Path
) -> AnyDataset:
    files = [
        download(f"{base}{file}", md5, folder)
        for file, md5 in zip(layout.first_names, sums, strict=True)
    ]
    return layout.read(name, files)


def _cifar(url: str, name: str, folder: Path) -> AnyDataset:
    archive = download(url, CIFAR_SUM, folder)
    members = [f"cifar-10-batches-bin/{file}" for file in BINARY.first_names]
    return BINARY.read(name, extract(archive, members, folder))


def _text(url: str, name: str, folder: Path) -> AnyDataset:
    return TEXT.read(name, [download(url, TEXT_SUM, folder)])


def idx_mirrors(sums: tuple[str, ...], *bases: str) -> tuple[DatasetSource, ...]:
    """A source for every folder that holds the four IDX files with these md5 sums."""
    return tuple(DatasetSource(title=base, get=partial(_files, IDX, base, sums)) for base in bases)


def cifar_mirror(url: str) -> DatasetSource:
    """The source of the archive of CIFAR-10's binary version."""
    return DatasetSource(title=url, get=partial(_cifar, url))


def writers_mirror(base: str) -> DatasetSource:
    """The source of QMNIST's labels in a folder."""
    return DatasetSource(title=base, get=partial(_files, WRITERS, base, WRITER_SUMS))


def text_mirror(url: str) -> DatasetSource:
    """The source of the plays in one file."""
    return DatasetSource(title=url, get=partial(_text, url))


MNIST = idx_mirrors(
    MNIST_SUMS,
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
FASHION_MNIST = idx_mirrors(
    FASHION_SUMS,
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
)
CIFAR10 = cifar_mirror("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz")
QMNIST = writers_mirror("https://raw.githubusercontent.com/facebookresearch/qmnist/master/")
SHAKESPEARE = text_mirror(
    "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
)
