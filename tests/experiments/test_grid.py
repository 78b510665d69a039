"""Settings crossed, on words alone."""

import pytest

from lossyfl import InputError
from lossyfl.experiments.grid import Axis, GridPoint, axes_of, axis, grid
from lossyfl.results.experiment import Experiment


def crossed(*texts: str, scheme: str = "lfl:q1=2,q2=2") -> list[GridPoint]:
    return grid([axis(text) for text in texts], Experiment(scheme=scheme))


def test_every_combination_the_last_axis_first_to_change() -> None:
    points = crossed("q1=1,5", "tau=1,4,8")
    assert [point.values for point in points] == [
        ("1", "1"), ("1", "4"), ("1", "8"), ("5", "1"), ("5", "4"), ("5", "8")
    ]  # fmt: skip
    assert [point.experiment.tau for point in points] == [1, 4, 8] * 2
    assert points[-1].experiment.scheme == "lfl:q1=5,q2=2"


def test_numbers_texts_and_fractions_are_read_as_their_settings_are() -> None:
    (point,) = crossed("drop-out=0.25", "lr=0.1", "partition=dirichlet(alpha=0.5)", "devices=7")
    chosen = point.experiment
    assert (chosen.drop_out, chosen.lr, chosen.devices) == (0.25, "0.1", 7)
    assert chosen.partition == "dirichlet(alpha=0.5)"


def test_names_in_braces_stand_for_values_in_any_text() -> None:
    points = crossed("level=1,3", scheme="lgm:q1={level},q2={level}")
    assert [point.experiment.scheme for point in points] == ["lgm:q1=1,q2=1", "lgm:q1=3,q2=3"]
    found = grid([axis("step=0.1")], Experiment(lr="cosine:start={step},rounds=9"))
    assert found[0].experiment.lr == "cosine:start=0.1,rounds=9"


def test_a_scheme_without_an_option_is_one_experiment_for_all_its_values() -> None:
    points = crossed("scheme=lossless,lfl(q2=3),lgm", "q1=1,5")
    assert [point.experiment.scheme for point in points] == [
        "lossless", "lossless", "lfl:q2=3,q1=1", "lfl:q2=3,q1=5", "lgm:q1=1", "lgm:q1=5"
    ]  # fmt: skip


def test_a_value_in_braces_is_not_set_as_an_option_as_well() -> None:
    (point,) = crossed("q1=8", scheme="lfl:q1={q1},q2={q1}")
    assert point.experiment.scheme == "lfl:q1=8,q2=8"


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["q1"], "setting of a sweep must be NAME=VALUE,VALUE"),
        (["=1"], "setting of a sweep must be NAME=VALUE,VALUE"),
        (["q1="], "values of q1 must be at least one, each once"),
        (["q1=1,2,1"], "values of q1 must be at least one, each once"),
        (["q1=1", "q1=2"], "settings of a sweep must be at least one, each once"),
        ([], "settings of a sweep must be at least one, each once"),
        (["q3=1"], r"setting of a sweep must be one of .*\(did you mean q2\?\), got q3"),
        (["devises=1"], r"did you mean devices\?"),
        (["seed=1,2"], "seed of a sweep must be left out: --seed says the first"),
        (["tau=1,x"], "tau of a run must be an int >= 1, got x"),
        (["participation=2"], r"participation of a run must be a number in \(0, 1\]"),
        (["listen=al"], r"listen of a run must be one of all, participants \(did you mean all\?\)"),
    ],
)
def test_wrong_words(texts: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        crossed(*texts)


def test_braces_that_nothing_fills() -> None:
    with pytest.raises(InputError, match=r"\{q3\} of a sweep must be one of q1, tau"):
        crossed("tau=1", "q1=2", scheme="lfl:q1={q3}")


def test_values_of_python() -> None:
    assert axes_of({"q1": [1, 2], "drop-out": [0.5]}) == [
        Axis(name="q1", values=("1", "2")),
        Axis(name="drop_out", values=("0.5",)),
    ]
    assert axis("scheme=lossless,lfl").numbers is None
