"""What every rule for levels must do, found by name, and the compressor that follows it."""

from dataclasses import dataclass

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import FrameMeta, InputError, Stochastic, decode, encode, scheme, stream
from lossyfl.compressors import SendContext
from lossyfl.compressors.adaptive import (
    Adaptive,
    adaptive,
    check_positive,
    check_range,
    names,
)
from lossyfl.errors import NotFinite
from lossyfl.types import Bounds, Vector
from lossyfl.wire.values import values

EXAMPLES = {
    "eps": "eps(variance=0.5)",
    "distance": "distance(q=3,at=20)",
    "bound": "bound(q=3,rounds=40,mu=0.2,eta=0.3,tau=2)",
}
SHAPES = (1000, 2000)
each_rule = pytest.mark.parametrize("spec", names())
each_scale = pytest.mark.parametrize("scale", ["model", "tensor", 700])


def context(t: int = 5, threads: int = 1) -> SendContext:
    meta = FrameMeta(round=t)
    return SendContext(meta=meta, rng=stream(1, round=t), tensors=SHAPES, threads=threads)


def of(name: str, more: str = "") -> str:
    """The example of a rule; one without an example fails here."""
    return f"{EXAMPLES[name][:-1]}{more})"


@each_rule
@each_scale
def test_a_frame_is_that_of_the_papers_quantizer(spec: str, scale: str | int) -> None:
    chosen, x = adaptive(of(spec), scale), laplace(3000)  # type: ignore[arg-type]
    made, frame = chosen.make(x, context())
    levels = (made.table.alphabet - 1) // 2
    fixed = Stochastic(levels=levels, scale=scale)  # type: ignore[arg-type]
    meta = context().meta
    assert frame == encode(x, fixed, rng=stream(1, round=5), tensors=SHAPES, meta=meta)
    assert decode(frame).tobytes() == values(made).tobytes()


@each_rule
def test_the_same_vector_has_the_same_frame_on_any_number_of_threads(spec: str) -> None:
    chosen, x = adaptive(of(spec), "model"), laplace(3000)
    before = x.copy()
    frames = {chosen.make(x, context(threads=threads))[1] for threads in (1, 1, 4)}
    assert len(frames) == 1
    assert x.tobytes() == before.tobytes()


@each_rule
def test_levels_stay_within_the_range(spec: str) -> None:
    x = np.array([1e-30, 3e30, 0, -5], np.float32)
    for t in (0, 1, 20, 39, 40):
        for vector in (x, np.zeros(4, np.float32), laplace(100)):
            bounds = np.array([0, len(vector)])
            own = adaptive(of(spec, ",least=3,most=4"), "model").rule.levels(vector, bounds, t)
            assert own in (3, 4)


@each_rule
def test_its_quantizers_are_the_coarsest_and_the_finest(spec: str) -> None:
    chosen = adaptive(of(spec, ",least=2,most=9"), "tensor")
    ends = Stochastic(levels=2, scale="tensor"), Stochastic(levels=9, scale="tensor")
    assert chosen.quantizers == ends
    assert adaptive(of(spec, ",least=4,most=4"), "model").quantizers == (Stochastic(levels=4),)
    assert not chosen.damped


@each_rule
def test_vectors_that_are_none_are_refused_by_entry(spec: str) -> None:
    x = laplace(3000)
    x[17] = np.nan
    with pytest.raises(NotFinite, match="entry 17 of the vector must be finite"):
        adaptive(of(spec), "model").make(x, context())


@each_rule
def test_a_zero_vector_goes_through(spec: str) -> None:
    made, frame = adaptive(of(spec), "model").make(np.zeros(3000, np.float32), context())
    assert not values(made).any()
    assert not decode(frame).any()


@each_rule
def test_schemes_take_a_rule_for_each_q(spec: str) -> None:
    for text in (f"lfl:q1={of(spec)},q2=2", f"lfl:q2={of(spec, ',least=2')}", f"lgm:q1={of(spec)}"):
        assert of(spec)[:-1] in scheme(text).spec
    with pytest.raises(InputError, match="q of scheme must be a number, or levels and the rounds"):
        scheme(f"ltgm:q1={of(spec)}")


def test_wrong_words() -> None:
    for text, message in (
        (
            "lfl:q1=epps",
            r"name of level rule must be one of bound, distance, eps \(did you mean eps",
        ),
        ("lfl:q1=eps(varance=1)", r"did you mean variance"),
        ("lfl:q1=eps(least=0)", "levels of eps must be an int in"),
        ("lfl:q1=eps(least=5,most=4)", "least of eps must be at most 4"),
        ("lfl:q1=bound(q=2)", "options of bound must be those that it takes and needs"),
    ):
        with pytest.raises(InputError, match=message):
            scheme(text)
    check_range(1, 1, of="mine")
    with pytest.raises(InputError, match="v of mine must be a finite number > 0, got True"):
        check_positive("v", True, of="mine")


def test_a_range_that_may_have_one_level_is_one_level_where_errors_are_kept() -> None:
    with pytest.raises(InputError, match="one whose kept errors do not grow"):
        scheme("lfl:q1=eps,server_model=preserved")
    scheme("lfl:q1=eps(least=2),server_model=preserved")


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternating:
    """A rule of somebody else's: fine in odd rounds."""

    least: int = 2
    most: int = 200

    def check(self, rounds: int | None) -> None:
        del rounds

    def levels(self, x: Vector, bounds: Bounds, round: int) -> int:
        del x, bounds
        return self.most if round % 2 else self.least


def test_a_rule_from_outside_the_package() -> None:
    chosen = Adaptive(rule=Alternating())
    sizes = [len(chosen.make(laplace(3000), context(t))[1]) for t in (2, 3)]
    assert sizes[0] < sizes[1]
    named = adaptive("tests.compressors.test_adaptive:Alternating(most=9)", "model")
    assert named.rule.most == 9
