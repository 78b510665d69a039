"""The search for the fewest bytes, on made-up accuracies."""

from dataclasses import replace
from itertools import product

import pytest

from lossyfl import InputError
from lossyfl.experiments.racing import Race
from lossyfl.experiments.trials import Trial, failure, frontier
from lossyfl.experiments.tune import (
    OTHERS,
    RATES,
    Hopeless,
    Question,
    answer,
    best_within,
    fewest,
    lower,
    within,
)
from lossyfl.tasks.metrics import KNOWN

ASK = Question(tensors=(100_000,), extra="server_optimizer=adam,server_lr=1")


def search(
    least_down: int, least_up: int, question: Question = ASK, better: str = "none"
) -> dict[str, Trial]:
    """All trials, if rates beyond these lose a point; with some options a rate more is kept."""
    tried: dict[str, Trial] = {}
    places = range(len(question.rates))
    while (spec := lower(question, tried)) is not None:
        assert spec not in tried
        found = [
            (d, u, options)
            for d, u, options in product(places, places, ("", *OTHERS))
            if question.lean(d, u, options) == spec
        ]
        down, up, options = found[0] if found else (-1, -1, "")
        more = 1 if options == better else 0
        good = down <= least_down + more and up <= least_up + more
        tried[spec] = Trial(
            scheme=spec, values=(0.95 if good else 0.94,), down=2.0**-down, up=2.0**-up
        )
    return tried


@pytest.mark.parametrize("down", range(len(RATES)))
@pytest.mark.parametrize("up", range(len(RATES)))
def test_finds_the_lowest_rates_that_keep_the_accuracy(down: int, up: int) -> None:
    tried = search(down, up)
    best = fewest(ASK, tried)
    assert best is not None
    assert best.scheme == ASK.lean(down, up)
    assert len(tried) <= 2 * len(RATES) + 1 + 2 * len(OTHERS)


@pytest.mark.parametrize("options", OTHERS)
def test_other_quantizers_may_go_lower(options: str) -> None:
    tried = search(3, 2, better=options)
    best = fewest(ASK, tried)
    assert best is not None
    assert best.scheme in (ASK.lean(4, 2, options), ASK.lean(3, 3, options))


def test_a_loss_of_just_the_tolerance_is_kept() -> None:
    lossless = Trial(scheme=ASK.spec("lossless"), values=(0.97388888888888888,), down=9, up=9)
    just = Trial(scheme=ASK.lean(0, 0), values=(0.96888888888888877,), down=1, up=1)
    tried = {each.scheme: each for each in (lossless, just)}
    assert lossless.value - just.value > ASK.margin(lossless.value)  # by rounding
    assert fewest(ASK, tried) == just


def test_none_keeps_it() -> None:
    tried = search(-1, -1, Question(tensors=(100_000,), keep=0.99))
    assert fewest(Question(tensors=(100_000,), keep=0.99), tried) is None
    assert len(tried) == 1


def test_nothing_on_the_frontier_is_beaten() -> None:
    tried = list(search(3, 2).values())
    front = frontier(tried)
    assert front
    for each in front:
        assert not any(
            o.value > each.value and o.down < each.down and o.up < each.up for o in tried
        )


def test_rates_that_say_nothing_are_left_out() -> None:
    assert Question(tensors=(13_706,)).rates == RATES[:-1]
    with pytest.raises(InputError, match="model of tune must be large enough for 2bit per entry"):
        answer(
            Question(tensors=(100,)), None, None, lambda spec, _: pytest.fail(f"{spec} was tried")
        )


def test_best_within_budgets_is_never_lossless() -> None:
    specs = within(ASK, "2kB", "1kB")
    tried = {s: Trial(scheme=s, values=(0.9 - i / 100,), down=9, up=9) for i, s in enumerate(specs)}
    tried["lossless"] = Trial(scheme="lossless", values=(0.99,), down=1000, up=1000)
    assert best_within(specs, tried) == tried[specs[0]]


def test_budgets_are_for_both_links() -> None:
    assert all("down_budget=2kB,up_budget=1kB" in spec for spec in within(ASK, "2kB", "1kB"))
    assert sum("predict=true" in spec for spec in within(ASK, "2kB", "1kB")) == 1
    with pytest.raises(InputError, match="budget of tune must be given for both links"):
        within(ASK, "2kB", None)


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ("20", "budget of the downlink must be a size as"),
        ("10B", "budget of the downlink must be between 96 B and exact floats"),
        ("1GB", "budget of the downlink must be between 96 B and exact floats"),
    ],
)
def test_budgets_that_are_none_are_refused_before_anything_is_trained(
    budget: str, message: str
) -> None:
    def attempt(spec: str, hopeless: Hopeless) -> Trial:
        del hopeless
        pytest.fail(f"{spec} was tried")

    with pytest.raises(InputError, match=message):
        answer(ASK, budget, "1kB", attempt)


def test_an_accuracy_to_keep_and_budgets_are_two_questions() -> None:
    with pytest.raises(InputError, match="keep of tune must be left out where budgets say"):
        within(Question(tensors=(100_000,), keep=0.9), "2kB", "1kB")
    with pytest.raises(
        InputError, match=r"keep of tune must be the accuracy to keep, in \(0, 1\], got 90"
    ):
        Question(tensors=(100_000,), keep=90)


def test_options_of_lean_alone_are_no_options_of_lossless_links() -> None:
    asked = Question(tensors=(100_000,), extra="first_budget=4bit,server_optimizer=adam")
    assert asked.spec("lossless") == "lossless:server_optimizer=adam"
    assert asked.lean(0, 0).endswith("first_budget=4bit,server_optimizer=adam")


@pytest.mark.parametrize("extra", ["predict=true", "server_lr=1,down=topk", "up_budget=3kB"])
def test_what_is_tried_is_no_extra(extra: str) -> None:
    with pytest.raises(InputError, match="extra of tune must be without down, up, down_budget"):
        Question(tensors=(100_000,), extra=extra)


def test_what_failed_is_neither_kept_nor_on_the_frontier() -> None:
    lossless = Trial(scheme=ASK.spec("lossless"), values=(0.1,), down=9, up=9)
    failed = failure("lean", "diverged")
    tried = {each.scheme: each for each in (lossless, failed)}
    assert fewest(ASK, tried) == lossless
    assert frontier([lossless, failed]) == [lossless]
    assert best_within(["lean"], tried) is None
    with pytest.raises(InputError, match="one that lossless links can do, got diverged"):
        lower(ASK, {lossless.scheme: failure(lossless.scheme, "diverged")})


def raced(first: dict[str, float], keep: float | None = None) -> tuple[dict[str, Trial], list[str]]:
    """A search over three seeds; values of a scheme rise by a thousandth a seed, and who was given up."""
    question = Question(tensors=(100_000,), keep=keep)
    up = list[str]()

    def attempt(spec: str, hopeless: Hopeless) -> Trial:
        value = next((v for part, v in first.items() if part in spec), 0.95)
        if hopeless(value):
            up.append(spec)
            return Trial(scheme=spec, values=(value,), down=1, up=1, given_up=True)
        values = (value, value + 0.001, value + 0.002)
        return Trial(scheme=spec, values=values, down=1, up=1)

    found = answer(question, None, None, attempt, Race(seeds=3))
    return dict(found.tried), up


def test_what_is_hopeless_after_its_first_seed_is_given_up_and_not_chosen() -> None:
    tried, up = raced({"down_budget=0.5bit": 0.30})
    assert up
    assert all("down_budget=0.5bit" in spec for spec in up)
    assert all(not each.given_up for spec, each in tried.items() if spec not in up)
    question = Question(tensors=(100_000,))
    best = fewest(question, tried)
    assert best is not None
    assert not best.given_up


def test_what_may_be_noise_is_not_given_up() -> None:
    assert raced({"down_budget=0.5bit": 0.944})[1] == []


def test_an_accuracy_to_reach_has_no_noise_of_its_own() -> None:
    """The first scheme is never given up: nobody knows yet how seeds vary."""
    assert raced({"lean": 0.3}, keep=0.9)[1] == []
    assert raced({"down_budget=0.5bit": 0.3}, keep=0.9)[1]


def test_who_cannot_win_any_more_is_given_up() -> None:
    def attempt(spec: str, hopeless: Hopeless) -> Trial:
        value = 0.2 if "topk" in spec else 0.95
        if hopeless(value):
            return Trial(scheme=spec, values=(value,), down=1, up=1, given_up=True)
        return Trial(scheme=spec, values=(value, value + 0.001, value), down=1, up=1)

    found = answer(Question(tensors=(100_000,)), "2kB", "1kB", attempt, Race(seeds=3))
    assert [spec for spec, each in found.tried.items() if each.given_up] == [
        spec for spec in found.tried if "topk" in spec
    ]
    assert found.best is not None
    assert "topk" not in found.best.scheme


def test_of_a_metric_to_be_low_less_is_kept() -> None:
    """Lossless links come to 2.0, and 1 % more is still kept; or what is said."""
    ask = Question(tensors=(100_000,), metric=KNOWN["MSE"])

    def came(spec: str, value: float) -> Trial:
        return Trial(scheme=spec, values=(value,), down=1, up=1, metric=KNOWN["MSE"])

    tried = {"lossless": came("lossless", 2.0)}
    assert ask.least(tried) == 2.02
    assert ask.is_kept(came("a", 2.02), tried)
    assert ask.is_kept(came("a", 0.1), tried)
    assert not ask.is_kept(came("a", 2.03), tried)
    assert replace(ask, tolerance=0.5).is_kept(came("a", 2.5), tried)
    assert replace(ask, keep=3.0).is_kept(came("a", 2.9), tried)
    low, high = came("low", 1.0), came("high", 3.0)
    both = {"low": low, "high": high}
    assert best_within(["low", "high"], both) == low
    assert frontier([low, high]) == [low]
    with pytest.raises(InputError, match="keep of tune must be the MSE to keep"):
        replace(ask, keep=float("nan"))
