"""The scheme with the fewest bytes that still learns as well, found on short runs.

`lower` says which scheme to try next, given all that was tried: lossless links first, which say what is to
be kept; then both links at the highest rate; then the downlink at ever lower ones while the metric is kept;
then the uplink; then other quantizers one rate below, on either link. `within` is the other question: of all
quantizers that can keep to a budget, which learns best. Both depend on nothing but what was tried, so a
search can be stopped and repeated. Schemes run several seeds; one that is hopeless after its first runs no
other (`racing`). `choice` says how much of what was found is more than noise.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from lossyfl.compressors.budgeted import SMALLEST
from lossyfl.errors import InputError
from lossyfl.experiments.racing import Race
from lossyfl.experiments.trials import Trial, failure
from lossyfl.protocol.schemes import scheme
from lossyfl.quantizers.targets import target
from lossyfl.registry import items
from lossyfl.results.records import LARGEST_NUMBER
from lossyfl.tasks.metrics import ACCURACY, Metric
from lossyfl.types import Shape
from lossyfl.wire.shapes import entries_of

RATES = ("2bit", "1bit", "0.5bit", "0.25bit", "0.125bit", "0.0625bit", "0.03125bit")
"""The rates to try, from the highest down."""
POINTS, PART = 0.005, 0.01
"""What is kept if nobody says how exactly: half a point of a fraction, or this part of any other value."""
ROUNDING = 1e-9
"""Of means: a loss of just the tolerance is kept."""
TRIED = ("down", "up", "down_budget", "up_budget", "predict")
"""Options of `lean` that a search sets."""
QUANTIZERS = ("deadzone", "deadzone(scale=tensor)", "topk", "sparse_ternary", "dithered")
"""Those that can keep to a budget."""
OTHERS = ("predict=true", "down=sparse_ternary,up=sparse_ternary")
"""What may keep the metric at a rate at which a dead zone does not."""


def _is_of_server(option: str) -> bool:
    """Whether an option says what the server does with exact updates, too."""
    return option.startswith("server_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked of a search.

    tensors:   shapes of the model's
    rounds:    of every run, if that is known
    metric:    of the task, what is to be kept
    keep:      its value; None for that of lossless links
    tolerance: how much worse is still kept; None for half a point, or 1 % of what is no fraction
    extra:     options that every scheme gets, as "server_optimizer=adam,server_lr=0.003"
    """

    tensors: Sequence[Shape]
    rounds: int | None = None
    metric: Metric = ACCURACY
    keep: float | None = None
    tolerance: float | None = None
    extra: str = ""

    def __post_init__(self) -> None:
        most = 1.0 if self.metric.is_fraction else LARGEST_NUMBER
        least = 0.0 if self.metric.is_fraction else -LARGEST_NUMBER
        if self.keep is not None and not least < self.keep <= most:
            allowed = f"the {self.metric.name} to keep" + (", in (0, 1]" if most == 1 else "")
            raise InputError("keep", of="tune", allowed=allowed, got=self.keep)
        if self.tolerance is not None and not 0 <= self.tolerance <= most:
            allowed = "in [0, 1]" if most == 1 else ">= 0"
            raise InputError("tolerance", of="tune", allowed=allowed, got=self.tolerance)
        for item in items(self.extra):
            if item.partition("=")[0] in TRIED:
                allowed = f"without {', '.join(TRIED)}, which are tried"
                raise InputError("extra", of="tune", allowed=allowed, got=item)

    @property
    def entries(self) -> int:
        """How many the model has."""
        return entries_of(self.tensors)

    @property
    def rates(self) -> tuple[str, ...]:
        """Those that make frames which are long enough to say something."""
        shortest = 8 * SMALLEST
        return tuple(
            rate for rate in RATES if (target(rate, of="tune").rate or 0) * self.entries >= shortest
        )

    def spec(self, name: str, options: str = "") -> str:
        """A scheme with options and the extra ones; lossless links with those of the server only."""
        extra = [each for each in items(self.extra) if name != "lossless" or _is_of_server(each)]
        both = ",".join(filter(None, (options, *extra)))
        return f"{name}:{both}" if both else name

    def check(self, spec: str) -> None:
        """Raise if a scheme cannot be used for this model."""
        scheme(spec).check(self.tensors, self.rounds)

    def check_rates(self) -> None:
        """Raise if there is none."""
        if not self.rates:
            allowed = f"large enough for {RATES[0]} per entry to be {SMALLEST} B, or budgets given"
            raise InputError("model", of="tune", allowed=allowed, got=f"{self.entries} entries")

    def lean(self, down: int, up: int, options: str = "") -> str:
        """The scheme with these of the rates."""
        limits = f"down_budget={self.rates[down]},up_budget={self.rates[up]}"
        return self.spec("lean", ",".join(filter(None, (options, limits))))

    def margin(self, value: float) -> float:
        """How much worse than a value is still kept."""
        if self.tolerance is not None:
            return self.tolerance
        return POINTS if self.metric.is_fraction else PART * abs(value)

    def least(self, tried: Mapping[str, Trial]) -> float:
        """The value that counts as kept, and all better ones."""
        if self.keep is not None:
            return self.keep
        lossless = tried[self.spec("lossless")]
        if lossless.failed:
            allowed = "one that lossless links can do"
            raise InputError("training", of="tune", allowed=allowed, got=lossless.failed)
        return lossless.value - self.metric.sign * self.margin(lossless.value)

    def is_kept(self, each: Trial, tried: Mapping[str, Trial]) -> bool:
        """Whether a trial learned well enough, in the mean over its seeds."""
        if each.failed or each.given_up:
            return False
        return self.metric.sign * (each.value - self.least(tried)) >= -ROUNDING


Hopeless: TypeAlias = Callable[[float], bool]
"""Whether what the first seed of a scheme came to makes others needless."""
Attempt: TypeAlias = Callable[[str, Hopeless], Trial]
"""Runs a scheme over all seeds, or one if that is hopeless."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search came to.

    best:  None if no scheme will do
    words: what it is best in
    """

    tried: Mapping[str, Trial]
    best: Trial | None
    words: str


def answer(
    question: Question,
    down: str | None,
    up: str | None,
    attempt: Attempt,
    race: Race | None = None,
) -> SearchResult:
    """The best scheme under the budgets `down` and `up`, or without any the one with the fewest bytes.

    attempt: the trial of a scheme that can be used; takes long
    race:    how many seeds each has, and how sure a verdict is
    """
    tried: dict[str, Trial] = {}
    chosen = replace(race or Race(), sign=question.metric.sign)
    if down is None and up is None:
        question.check(question.spec("lean"))  # wrong options are found before lossless links run
        question.check_rates()
        chosen = replace(chosen, tests=2 * (len(question.rates) + len(OTHERS)) + 1)
        while (spec := lower(question, tried)) is not None:
            tried[spec] = attempt(spec, _hopeless_to_keep(question, tried, chosen))
        words = f"fewest bytes with the {question.metric.name} kept"
        return SearchResult(tried=tried, best=fewest(question, tried), words=words)
    specs = within(question, down, up)
    chosen = replace(chosen, tests=len(specs) * (len(specs) - 1) // 2)
    for spec in (question.spec("lossless"), *specs):
        try:
            question.check(spec)
        except InputError as error:
            tried[spec] = failure(spec, str(error))
        else:
            tried[spec] = attempt(spec, _hopeless_to_win(specs, tried, chosen))
    words = "learns best within the budgets"
    return SearchResult(tried=tried, best=best_within(specs, tried), words=words)


def _hopeless_to_keep(question: Question, tried: Mapping[str, Trial], race: Race) -> Hopeless:
    """Whether a first seed says that a scheme will not learn well enough."""
    reference = tried.get(question.spec("lossless"))
    if reference is None and question.keep is None:
        return _never  # it is the reference itself
    alike = [each.values for each in tried.values() if question.is_kept(each, tried)]
    alike += [reference.values] if reference and question.keep is None else []
    seeds = len(reference.values) if reference and question.keep is None else 0
    least = question.least(tried)
    return lambda first: race.is_hopeless(first, least, alike, seeds)


def _hopeless_to_win(specs: Sequence[str], tried: Mapping[str, Trial], race: Race) -> Hopeless:
    """Whether a first seed says that a scheme will not learn as well as the best before it."""
    best = best_within([spec for spec in specs if spec in tried], tried)
    if best is None:
        return _never
    return lambda first: race.is_hopeless(first, best.value, [best.values], len(best.values))


def _never(first: float) -> bool:
    """All seeds are run."""
    del first
    return False


def lower(question: Question, tried: Mapping[str, Trial]) -> str | None:
    """The scheme to try next; None at the end."""
    if question.keep is None and question.spec("lossless") not in tried:
        return question.spec("lossless")
    question.least(tried)  # raises now if lossless links failed, not after more runs
    last = len(question.rates) - 1
    places = [0, 0]  # of the downlink and of the uplink among the rates
    for link in range(2):
        while (here := question.lean(places[0], places[1])) in tried:
            if not question.is_kept(tried[here], tried):
                places[link] = max(places[link] - 1, 0)
                break
            if places[link] == last:
                break
            places[link] += 1
        else:
            return here
    return _other(question, tried, places[0], places[1])


def _other(question: Question, tried: Mapping[str, Trial], down: int, up: int) -> str | None:
    """One of the other quantizers at a rate below those that are kept; None if all were tried."""
    if not question.is_kept(tried[question.lean(down, up)], tried):
        return None
    last = len(question.rates) - 1
    below = [(d, u) for d, u in ((down + 1, up), (down, up + 1)) if max(d, u) <= last]
    specs = [question.lean(d, u, options) for options in OTHERS for d, u in below]
    return next((spec for spec in specs if spec not in tried), None)


def words(question: Question, down: str | None, up: str | None) -> list[str]:
    """Schemes with all that was said, to be built before anything takes time; raises if it contradicts."""
    if (down is None) != (up is None):
        allowed = "given for both links, or for none"
        raise InputError("budget", of="tune", allowed=allowed, got="one")
    if question.keep is not None and down is not None:
        allowed = "left out where budgets say what to keep to"
        raise InputError("keep", of="tune", allowed=allowed, got=question.keep)
    limits = "" if down is None else f"down_budget={down},up_budget={up}"
    return [question.spec("lossless"), question.spec("lean", limits)]


def within(question: Question, down: str | None, up: str | None) -> list[str]:
    """All schemes to try under budgets; raises if these are none that any of them could keep to."""
    words(question, down, up)
    limits = f"down_budget={down},up_budget={up}"
    question.check(question.spec("lean", limits))
    plain = [question.spec("lean", f"down={each},up={each},{limits}") for each in QUANTIZERS]
    return [*plain, question.spec("lean", f"{limits},predict=true")]


def fewest(question: Question, tried: Mapping[str, Trial]) -> Trial | None:
    """Of those that keep the metric, the one with the fewest bytes both ways; None if none does."""
    kept = [each for each in tried.values() if question.is_kept(each, tried)]
    return min(kept, key=lambda each: each.down + each.up, default=None)


def best_within(specs: Sequence[str], tried: Mapping[str, Trial]) -> Trial | None:
    """Of schemes under a budget, the one that learned best; the fewest bytes decide between equals."""
    some = [tried[spec] for spec in specs if not (tried[spec].failed or tried[spec].given_up)]
    return max(some, key=lambda t: (t.metric.sign * t.value, -(t.down + t.up)), default=None)
