"""The binary version of CIFAR-10."""

from pathlib import Path

import numpy as np
import pytest
from tests.data.small import SMALL_CIFAR

from lossyfl.data.batches import Batch, pack_batch, read_batch
from lossyfl.errors import InputError

BATCH = Batch(x=SMALL_CIFAR.dataset.train_x, y=SMALL_CIFAR.dataset.train_y)


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "b.bin"
    path.write_bytes(pack_batch(BATCH))
    back = read_batch(path)
    assert np.array_equal(back.x, BATCH.x)
    assert np.array_equal(back.y, BATCH.y)


def test_a_record_is_the_label_and_three_planes() -> None:
    record = pack_batch(BATCH)[:3073]
    assert record[0] == BATCH.y[0]
    assert record[1 + 1024 + 32 * 5 + 7] == BATCH.x[0, 1, 5, 7]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "size of .*b.bin must be a multiple of 3,073 bytes, got 0 bytes"),
        (pack_batch(BATCH)[:-1], "must be a multiple of 3,073 bytes, got 30,729 bytes"),
        (b"\x0a" + bytes(3072), "labels of .*b.bin must be in 0 to 9, got 10"),
    ],
)
def test_damage_is_a_clear_error(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "b.bin"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_batch(path)
