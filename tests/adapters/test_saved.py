"""A checkpoint is whole, of this training, and of finite numbers, or it is none."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.adapters.federation import new_training, start

from lossyfl.adapters.framework import Framework
from lossyfl.adapters.layout import layout_of
from lossyfl.adapters.saved import Saved, array_of, keep
from lossyfl.errors import InputError


def new_saved() -> Saved:
    return new_training().saved(2)


def test_there_and_back(tmp_path: Path) -> None:
    training = new_training()
    training.saved(2).write(tmp_path / "deep/saved", training.exact)
    saved, exact = Saved.read(tmp_path / "deep/saved")
    assert (saved.rounds, saved.training) == (2, training.name)
    assert exact == training.exact


def test_one_that_is_not_finite_is_never_written(tmp_path: Path) -> None:
    saved = new_saved()
    saved.server.theta = np.full(60, np.nan, np.float32)
    with pytest.raises(InputError, match="theta of the checkpoint saved must be finite"):
        saved.write(tmp_path / "saved", {})
    assert not (tmp_path / "saved").exists()


@pytest.mark.parametrize("changed", [{"training": "../up"}, {"rounds": -1}])
def test_fields_are_looked_at(changed: dict[str, str], tmp_path: Path) -> None:
    replace(new_saved(), **changed).write(tmp_path / "saved", {})
    with pytest.raises(InputError, match="a whole Saved"):
        Saved.read(tmp_path / "saved")


def test_one_of_another_training_is_refused_in_the_frameworks_words() -> None:
    saved, mine = new_saved(), Framework(name="mine", settings="MyServer")
    saved.check("lfl:q1=8,q2=8", layout_of(start()), mine)
    with pytest.raises(InputError, match="scheme of MyServer must be lfl:q1=8,q2=8"):
        saved.check("lossless", layout_of(start()), mine)
    with pytest.raises(InputError, match="the model's arrays of MyServer"):
        saved.check("lfl:q1=8,q2=8", layout_of({"w": start()["w"]}), mine)


def test_arrays_are_kept_to_the_bit() -> None:
    x = np.array([[1.5, -0.0]], np.float64)
    kept = keep("m", "dict", "w", x)
    assert array_of(kept).tobytes() == x.tobytes()
    with pytest.raises(InputError, match="array w of a checkpoint"):
        array_of(replace(kept, shape=(3,)))
    with pytest.raises(InputError, match="array w of a checkpoint"):
        array_of(replace(kept, dtype="O"))
