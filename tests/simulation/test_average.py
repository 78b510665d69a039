"""The running average of models."""

import numpy as np

from lossyfl.simulation.average import KEEP, averaged

NONE = np.zeros(0, dtype=np.float32)


def test_it_begins_with_the_first_model_in_memory_of_its_own() -> None:
    model = np.ones(3, dtype=np.float32)
    average = averaged(NONE, model)
    model[0] = 7
    assert average.tolist() == [1, 1, 1]


def test_weights_of_earlier_models_fall_by_a_factor() -> None:
    models = [np.eye(4, dtype=np.float32)[t] for t in range(4)]
    average = NONE
    for model in models:
        average = averaged(average, model)
    keep = float(KEEP)
    expected = [keep**3, *((1 - keep) * keep**age for age in (2, 1, 0))]
    np.testing.assert_allclose(average, expected, rtol=1e-6)
    assert average.dtype == np.float32


def test_a_model_that_stays_is_the_average_exactly() -> None:
    model = np.random.default_rng(0).normal(size=50).astype(np.float32)
    assert np.array_equal(averaged(model, model), model)
