"""The paper's figures as settings."""

import re
from dataclasses import replace
from itertools import product

import pytest

from lossyfl import scheme
from lossyfl.errors import InputError
from lossyfl.experiments.figures import FIGURES, figure
from lossyfl.protocol.optimizers import Adam, PlainStep
from lossyfl.tasks.optimizers import optimizer


def test_every_reading_has_the_papers_five_systems() -> None:
    for chosen in (each for each in FIGURES if each.name != "readings"):
        names = [scheme(spec).name for spec in chosen.specs]
        assert names == ["lossless", "lb", "lfl", "lgm", "ltgm"]


def test_the_study_has_every_lgm_and_every_ltgm_with_every_optimizer() -> None:
    study = [chosen for chosen in FIGURES if chosen.name == "readings"]
    readings = ["carried", "reset", "kept", "shared", "server-adam"]
    assert [chosen.reading for chosen in study] == readings
    moments = [optimizer(chosen.experiment.optimizer or "").moments for chosen in study]
    assert moments == ["carried", "reset", "kept", "shared", "reset"]
    server = [type(scheme(chosen.specs[0]).optimizer) for chosen in study]
    assert server == [PlainStep] * 4 + [Adam]
    for chosen in study:
        lgm = [scheme(spec) for spec in chosen.named(["lgm"])]
        scales = [each.downlink.compressor.quantizers[0].scale for each in lgm]  # type: ignore[union-attr]
        of_lgm = list(zip(scales, [each.server_model for each in lgm], strict=True))
        assert sorted(of_lgm) == sorted(product(["model", "tensor"], ["estimate", "preserved"]))
        ltgm = [spec for spec in chosen.named(["ltgm"]) if "q1=20," in spec]
        of_ltgm = [tuple(re.findall(r"signs=(\w+),server_model=(\w+)", spec)[0]) for spec in ltgm]
        signs = ["fixed", "fresh", "none"]
        assert sorted(of_ltgm) == sorted(product(signs, ["estimate", "preserved"]))


def test_reduced_is_said() -> None:
    chosen = figure("fig1b")
    words = chosen.caption(chosen.experiment, 2)
    assert "Reduced: batch 20 instead of 250, evaluated every 5 rounds." in words
    assert "2 seeds" in words
    full = replace(chosen.experiment, batch=250, evaluate_every=1)
    assert "Reduced" not in chosen.caption(full, 1)


def test_unknown_words() -> None:
    with pytest.raises(InputError, match=r"one of fig1a, fig1b, readings"):
        figure("fig2")
    with pytest.raises(InputError, match=r"reading of fig1b must be one of carried, kept"):
        figure("fig1b", "server-adam")
    with pytest.raises(InputError, match=r"did you mean ltgm"):
        figure("fig1a").named(["ltg"])
