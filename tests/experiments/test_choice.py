"""What is said of a search, on made-up trials."""

import math

from lossyfl.experiments.choice import Choice, choice
from lossyfl.experiments.trials import Trial, failure
from lossyfl.experiments.tune import Question, SearchResult

ASK = Question(tensors=(100_000,))
LOSSLESS = (0.972, 0.974, 0.973)


def trial(name: str, *values: float, nbytes: float = 10) -> Trial:
    return Trial(scheme=name, values=values, down=nbytes, up=nbytes)


def judged(
    *others: Trial, best: Trial | None, samples: int = 360, keep: float | None = None
) -> Choice:
    tried = [trial("lossless", *LOSSLESS, nbytes=99), *others]
    asked = Question(tensors=(100_000,), keep=keep)
    found = SearchResult(tried={each.scheme: each for each in tried}, best=best, words="fewest")
    return choice(asked, found, confidence=0.95, samples=samples, budgets=False)


def test_half_a_point_of_360_images_is_below_the_noise() -> None:
    """The issue of small test sets: two images more or less say nothing."""
    near = trial("near", 0.967, 0.970, 0.968)
    made = judged(near, best=near)
    own = made.of("near")
    assert own.words == "as good, within the noise"
    assert own.samples is not None
    assert own.samples > 0.02  # points of 360 images
    assert "which is below the noise of" in made.sentences[1]
    assert "test samples" in made.sentences[1]
    assert "The tolerance of 0.50 points is 1.8 of 360 test samples." in made.sentences


def test_on_a_large_test_set_seeds_tell() -> None:
    near = trial("near", 0.960, 0.962, 0.961)
    made = judged(near, best=near, samples=10_000_000)
    assert made.of("near").words == "worse"
    assert "which is above the noise of" in made.sentences[1]
    good = trial("good", 0.972, 0.974, 0.9731)
    assert judged(good, best=good, samples=10_000_000).of("good").words == "as good"


def test_the_margin_is_of_seeds_and_of_the_test_set() -> None:
    near = trial("near", 0.967, 0.970, 0.968)
    own = judged(near, best=near).of("near")
    assert own.margin is not None
    assert own.seeds is not None
    assert own.margin == math.hypot(own.seeds, own.samples or 0)
    unknown = judged(near, best=near, samples=0).of("near")
    assert (unknown.samples, unknown.margin) == (None, unknown.seeds)


def test_what_is_far_off_is_more_than_noise() -> None:
    near, far = trial("near", 0.97, 0.971, 0.972), trial("far", 0.50, 0.51, 0.49)
    made = judged(near, far, best=near)
    assert made.of("far").words == "worse"
    assert not any("far" in sentence for sentence in made.sentences)
    assert made.of("lossless").words == "the reference"


def test_one_seed_says_so() -> None:
    one = trial("one", 0.97)
    made = judged(one, best=one)
    assert made.of("one").words == "as good, by one seed"
    assert "one seed says nothing of how much seeds differ" in made.sentences[1]


def test_who_was_given_up_is_counted_with_the_rate_of_false_alarms() -> None:
    near = trial("near", 0.97, 0.971, 0.972)
    out = Trial(scheme="out", values=(0.1,), down=1, up=1, given_up=True)
    made = judged(near, out, failure("bad", "diverged"), best=near)
    assert made.of("out").words == "given up after one seed"
    assert made.of("bad").words == "failed: diverged"
    assert "1 given up after one seed" in made.sentences[-1]
    assert "at most 5 %" in made.sentences[-1]


def test_a_number_to_reach() -> None:
    near = trial("near", 0.95, 0.951, 0.952)
    made = judged(near, best=near, samples=0, keep=0.90)
    assert made.reference == ""
    assert made.of("near").words == "as good"
    assert made.sentences[1].startswith("It is 5.10 points from 90.00 %")


def test_none_will_do() -> None:
    assert judged(best=None).sentences == ("fewest: none of 1 schemes.",)


def test_within_budgets_others_are_compared_with_the_best() -> None:
    best, other = trial("best", 0.97, 0.971, 0.972), trial("other", 0.969, 0.972, 0.971)
    tried = {each.scheme: each for each in (best, other)}
    found = SearchResult(tried=tried, best=best, words="learns best")
    made = choice(ASK, found, confidence=0.95, samples=360, budgets=True)
    assert made.reference == "best"
    assert made.of("other").words == "worse, within the noise"
    assert "Whether these are as good cannot be told: other." in made.sentences
