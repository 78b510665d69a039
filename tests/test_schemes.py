"""Schemes by name."""

import pytest

from lossyfl import InputError, Stochastic, scheme
from lossyfl.links import Direct, ErrorFeedback, Lossless, Schedule, Tracked
from lossyfl.optimizers import Adam, Momentum, Plain
from lossyfl.schemes import names


def test_the_papers_five() -> None:
    five = ["lb", "lfl", "lgm", "lossless", "ltgm"]
    assert set(names()) == {*five, "lean"}
    kinds = {n: (type(scheme(n).downlink), type(scheme(n).uplink)) for n in five}
    assert kinds == {
        "lossless": (Lossless, Lossless),
        "lb": (Lossless, ErrorFeedback),
        "lfl": (Tracked, ErrorFeedback),
        "lgm": (ErrorFeedback, ErrorFeedback),
        "ltgm": (Direct, ErrorFeedback),
    }


def test_options_reach_their_place() -> None:
    chosen = scheme(
        "lfl:q1=5,q2=3,scale=64,server_model=preserved,server_optimizer=adam,server_lr=0.1"
    )
    assert isinstance(chosen.downlink, Tracked)
    assert chosen.downlink.quantizer.quantizers == (Stochastic(levels=5, scale=64),)
    assert isinstance(chosen.uplink, ErrorFeedback)
    assert chosen.uplink.quantizer.quantizers == (Stochastic(levels=3, scale=64),)
    assert (chosen.server_model, chosen.optimizer) == ("preserved", Adam(rate=0.1))
    assert scheme("lb:server_optimizer=momentum").optimizer == Momentum()
    assert scheme("lb").optimizer == Plain()


@pytest.mark.parametrize("text", ["false", "False"])
def test_truth_values_in_any_case(text: str) -> None:
    link = scheme(f"lfl:compensate_server={text}").downlink
    assert isinstance(link, Tracked)
    assert not link.compensate


def test_levels_may_change_with_the_round() -> None:
    chosen = scheme("lfl:q1=8@0/4@50/2@100")
    assert isinstance(chosen.downlink, Tracked)
    assert isinstance(chosen.downlink.quantizer, Schedule)
    found = [chosen.downlink.quantizer.at(t) for t in (0, 49, 50, 99, 100, 1000)]
    assert found == [Stochastic(levels=q) for q in (8, 8, 4, 4, 2, 2)]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("lfll", r"did you mean lfl\?"),
        ("lfl:q3=2", r"option of lfl must be .*did you mean q"),
        ("lfl:q1=0", "levels of Stochastic must be an int in"),
        ("lfl:q1=two", "q of scheme must be a number, or levels and the rounds"),
        ("lfl:q1=2@5", "rounds of Schedule must be rounds that rise from 0"),
        ("lfl:server_model=mine", 'server_model of lfl must be "estimate" or "preserved"'),
        ("lfl:server_optimizer=adm", r"name of server_optimizer must be .*did you mean adam\?"),
        ("lfl:server_lr=0.1", "server_lr of scheme must be left out without a server_optimizer"),
        ("lfl:server_optimizer=adam,server_lr=0", "rate of Adam must be > 0"),
        ("lfl:server_optimizer=adam,server_lr=abc", "server_lr of scheme must be a number"),
        ("lfl:server_optimizer=2", "name of server_optimizer must be one of"),
        ("lfl:server_optimizer=adam(beta3=1)", "option of adam must be .*did you mean beta"),
        ("lfl:server_optimizer=adam(beta1=1)", r"beta1 of Adam must be in \[0, 1\)"),
        ("lfl:server_optimizer=adam(beta1=x)", r"beta1 of Adam must be in \[0, 1\)"),
        ("lfl:server_optimizer=adam(floor=0)", "floor of Adam must be > 0"),
        ("lfl:server_optimizer=adam(rate=1),server_lr=1", "server_lr of scheme must be left out"),
        ("lfl:server_optimizer=none(),server_lr=1", "server_lr of scheme must be left out"),
        ("lfl:server_optimizer=fractions:Fraction", "server_optimizer of scheme must be an optim"),
        ("lfl:server_optimizer=builtins:dict", "path of server_optimizer must be a class or func"),
        ("lfl:server_optimizer=adam(beta1=0.5", "parentheses of .* must be closed"),
        ("lossless:q1=2", "option of lossless must be"),
        ("ltgm:scale=tensor", "scale of Rotated must be"),
    ],
)
def test_wrong_specs(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scheme(spec)
