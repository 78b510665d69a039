"""The paper's figures as settings."""

from dataclasses import replace

import pytest

from lossyfl import scheme
from lossyfl.errors import InputError
from lossyfl.experiments.figures import FIGURES, figure


def test_every_reading_has_the_papers_five_systems() -> None:
    for chosen in FIGURES:
        names = [scheme(spec).name for spec in chosen.specs]
        assert names == ["lossless", "lb", "lfl", "lgm", "ltgm"]


def test_reduced_is_said() -> None:
    chosen = figure("fig1b")
    words = chosen.caption(chosen.experiment, 2)
    assert "Reduced: batch 20 instead of 250, a look every 5 rounds." in words
    assert "2 seeds" in words
    full = replace(chosen.experiment, batch=250, evaluate_every=1)
    assert "Reduced" not in chosen.caption(full, 1)


def test_unknown_words() -> None:
    with pytest.raises(InputError, match=r"one of fig1a, fig1b"):
        figure("fig2")
    with pytest.raises(InputError, match=r"reading of fig1b must be one of carried, kept"):
        figure("fig1b", "server-adam")
    with pytest.raises(InputError, match=r"did you mean ltgm"):
        figure("fig1a").named(["ltg"])
