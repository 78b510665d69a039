"""The Python version of CIFAR-10, and pickles that want more than to be read."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from tests.data.small import SMALL_CIFAR, python2_pickle

from lossyfl.data.pickled import read_pickled
from lossyfl.errors import InputError

X = SMALL_CIFAR.dataset.train_x
Y = SMALL_CIFAR.dataset.train_y
ROWS = X.reshape(len(X), -1)


class Hostile:
    """Creates a file when it is unpickled by a reader that trusts."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Path.touch, (self.target,))


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "data_batch_1"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        python2_pickle(X, Y),
        pickle.dumps({b"data": ROWS, b"labels": Y.tolist()}, protocol=2),
        pickle.dumps({"data": ROWS, "labels": Y.tolist()}, protocol=4),
    ],
    ids=["python 2", "protocol 2", "protocol 4"],
)
def test_batches_of_every_age_are_read(content: bytes, tmp_path: Path) -> None:
    back = read_pickled(written(tmp_path, content))
    assert np.array_equal(back.x, X)
    assert np.array_equal(back.y, Y)


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_in_a_pickle_is_run(protocol: int, tmp_path: Path) -> None:
    target = tmp_path / "owned"
    content = pickle.dumps({b"data": Hostile(target), b"labels": []}, protocol=protocol)
    pickle.loads(content)
    assert target.exists()  # so the pickle does work where it is trusted
    target.unlink()
    with pytest.raises(InputError, match="must be a pickled CIFAR-10 batch, got a call of "):
        read_pickled(written(tmp_path, content))
    assert not target.exists()


@pytest.mark.parametrize(
    "name",
    ["os system", "builtins eval", "numpy load", "numpy ndarray.tofile", "numpy.core.multiarray x"],
)
def test_other_names_are_refused(name: str, tmp_path: Path) -> None:
    module, attribute = name.split()
    content = b"\x80\x04\x8c" + bytes([len(module)]) + module.encode()
    content += b"\x8c" + bytes([len(attribute)]) + attribute.encode() + b"\x93."
    with pytest.raises(InputError, match=f"got a call of {module}.{attribute}"):
        read_pickled(written(tmp_path, content))


@pytest.mark.parametrize("name", ["_codecs\nencode", "numpy\ndtype", "numpy\nndarray"])
def test_a_name_has_no_state(name: str, tmp_path: Path) -> None:
    """A state that would set an attribute of the named thing itself, for all later files."""
    state = b"(N}\x8c\x0c__defaults__)st"  # (None, {"__defaults__": ()})
    with pytest.raises(InputError, match="a state of no call"):
        read_pickled(written(tmp_path, b"\x80\x04c" + name.encode() + b"\n" + state + b"b."))
    assert len(read_pickled(written(tmp_path, python2_pickle(X, Y))).y) == len(Y)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "exhausted before seeing STOP"),
        (python2_pickle(X, Y)[:-40], "remain"),
        (b"not a pickle", "must be a pickled CIFAR-10 batch"),
        (pickle.dumps([1, 2]), "no dictionary"),
        (pickle.dumps({"labels": [1]}), "no data"),
        (pickle.dumps({"data": b"", "labels": [1]}), "no rows of 3,072 bytes"),
        (python2_pickle(X[:, :1], Y), "no rows of 3,072 bytes"),
        (python2_pickle(X, Y[:-1]), "10 images and 9 labels"),
        (python2_pickle(X[:0], Y[:0]), "0 images and 0 labels"),
        (python2_pickle(X, Y + 10), "labels of .* must be in 0 to 9"),
        (pickle.dumps({"data": ROWS, "labels": ["a"] * 10}, protocol=2), "no byte"),
        (pickle.dumps({"data": ROWS, "labels": "a"}, protocol=2), "no list"),
        (pickle.dumps({"data": ROWS.astype(int), "labels": [1]}, protocol=2), "no rows"),
        (b"\x80\x04c_codecs\nencode\n\x8c\x01x\x8c\x03zip\x86R.", "text that is not latin1"),
    ],
)
def test_damage_is_a_clear_error(content: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=reason):
        read_pickled(written(tmp_path, content))
