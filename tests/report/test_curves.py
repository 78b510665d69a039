"""Means and bands over seeds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.report.synthetic import SETTINGS, write

from lossyfl.report.curves import bands, over_seeds
from lossyfl.report.groups import group
from lossyfl.report.runs import find


def test_few_seeds_have_a_band_from_minimum_to_maximum() -> None:
    curve = over_seeds([[1.0, None], [2.0, None], [6.0, 4.0, 9.0]])
    np.testing.assert_array_equal(curve.mean, [3, 4, 9])
    np.testing.assert_array_equal(curve.low, [1, 4, 9])
    np.testing.assert_array_equal(curve.high, [6, 4, 9])


def test_many_seeds_have_a_band_of_a_standard_deviation() -> None:
    curve = over_seeds([[1.0], [2.0], [3.0], [4.0], [5.0]])
    deviation = np.std([1, 2, 3, 4, 5], ddof=1)
    assert curve.low == pytest.approx([3 - deviation])
    assert curve.high == pytest.approx([3 + deviation])


def test_nothing_and_what_is_no_number() -> None:
    assert over_seeds([[], []]).mean.shape == (0,)
    assert np.isnan(over_seeds([[None], [float("inf")]]).mean).all()
    assert np.isnan(over_seeds([[None]] * 6).high).all()


def test_bands_in_words(tmp_path: Path) -> None:
    for name, count in (("a", 1), ("b", 2), ("c", 4), ("d", 6)):
        for seed in range(count):
            write(tmp_path / f"{name}{seed}", replace(SETTINGS, scheme=name, seed=seed))
    made = group(find([tmp_path]))
    assert bands(made[:1]) == ""
    assert bands(made[:2]) == "band: minimum to maximum of 2 seeds"
    assert bands(made) == (
        "band: minimum to maximum of 2 to 4 seeds, or one standard deviation of 6 seeds each way"
    )
