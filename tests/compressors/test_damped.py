"""Links that keep errors: what diverges, and what keeps it from that.

A quadratic, F(theta) = 1/2 sum_i h_i (theta_i - 1)^2, whose noisy gradient is taken where the devices are;
the server steps from its own model ("preserved") or from theirs ("estimate").
"""

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import FrameMeta, InputError, Kind, Stochastic, decode, quantizer, scheme, stream
from lossyfl.compressors import Compressor, Damped, Schedule, SendContext, VarianceGuard
from lossyfl.compressors.damped import damping
from lossyfl.compressors.guarded import variance
from lossyfl.errors import Caution
from lossyfl.links import Compensated, ErrorFeedback, Tracked
from lossyfl.types import Quantized, Vector

ENTRIES = 2000
HARDNESS = np.geomspace(0.05, 1, ENTRIES)


def context(t: int) -> SendContext:
    return SendContext(meta=FrameMeta(kind=Kind.UPDATE, round=t), rng=stream(1, round=t))


def descend(compressor: Compressor, *, preserved: bool, step: float = 0.1) -> float:
    """F at the devices' model, as a part of what it was; infinity if it blew up."""
    link, theta = Tracked(compressor=compressor), laplace(ENTRIES, seed=2)
    state, rng = link.init(theta), np.random.default_rng(0)
    first = float(HARDNESS @ np.square(theta - 1.0))
    for t in range(300):
        state = link.send(theta, state, context(t)).state
        base = theta if preserved else state.estimate
        noise = rng.normal(size=ENTRIES) * (np.arange(ENTRIES) % 10 == t % 10)
        gradient = HARDNESS * (state.estimate - 1.0) + noise
        theta = (base - step * gradient).astype(np.float32)
        if not np.abs(theta).max() < 1e6:
            return np.inf
    return float(HARDNESS @ np.square(state.estimate - 1.0)) / first


def plain(spec: str) -> Schedule:
    return Schedule.constant(quantizer(spec))


EXACT = 0.0059
"""Where exact links end: the noise of the gradient."""


def test_exact() -> None:
    assert descend(plain("stochastic:levels=4096"), preserved=True) == pytest.approx(
        EXACT, rel=0.02
    )


def test_coarse_and_unbiased_diverges_preserved_and_converges_damped() -> None:
    coarse = plain("stochastic:levels=1")
    assert descend(coarse, preserved=True) > 1e6
    assert descend(Damped(inner=coarse), preserved=True) < 1.1 * EXACT
    assert 2 * EXACT < descend(coarse, preserved=False) < 1  # line 6: noisy, but it stays


@pytest.mark.parametrize(
    "spec", ["topk:keep=0.05", "deadzone:target=0.5bit", "sparse_ternary:keep=0.05"]
)
def test_biased_stalls_on_the_estimate_and_converges_preserved(spec: str) -> None:
    assert descend(plain(spec), preserved=False) > 20 * EXACT
    assert descend(plain(spec), preserved=True) < 1.2 * EXACT


def test_very_coarse_needs_small_steps() -> None:
    coarse = plain("topk:keep=0.02")
    assert descend(coarse, preserved=True) < 1.5 * EXACT
    assert descend(coarse, preserved=True, step=0.3) > 1


@pytest.mark.parametrize(
    "spec", ["stochastic:levels=1", "qsgd:levels=4", "eden", "dithered:step=9"]
)
def test_damped_is_a_contraction_with_the_best_factor(spec: str) -> None:
    x = laplace(ENTRIES)
    made, frame = Damped(inner=plain(spec)).make(x, context(0))
    whole, _ = plain(spec).make(x, context(0))
    omega = variance(x, whole)
    assert variance(x, made) < 1
    assert variance(x, made) == pytest.approx(omega / (1 + omega), rel=0.3)
    assert damping(x, whole) == pytest.approx(1 / (1 + omega), rel=0.2)
    assert np.allclose(decode(frame), decode_of(whole) * damping(x, whole), rtol=1e-5, atol=1e-6)


def test_no_draw_is_worse_than_nothing() -> None:
    x = laplace(4)
    for t in range(200):
        made, _ = Damped(inner=plain("dithered:step=9")).make(x, context(t))
        assert variance(x, made) <= 1 + 1e-6


def decode_of(made: Quantized) -> Vector:
    from lossyfl.wire.values import values

    return values(made)


def test_what_is_biased_is_not_damped() -> None:
    x = laplace(ENTRIES)
    assert (
        Damped(inner=plain("sign")).make(x, context(0))[1] == plain("sign").make(x, context(0))[1]
    )


def test_kept_errors_of_one_level_outgrow_the_updates() -> None:
    def memory(compressor: Compressor) -> float:
        link, update = ErrorFeedback(compressor=compressor), laplace(ENTRIES, seed=5)
        state = link.init(update)
        for t in range(50):
            state = link.send(update, state, context(t)).state
        return float(np.linalg.norm(state.memory) / np.linalg.norm(update))

    coarse = plain("stochastic:levels=1")
    assert memory(coarse) > 10
    assert memory(Damped(inner=coarse)) < memory(coarse) - 1


class TestRules:
    @pytest.mark.parametrize("name", ["deadzone", "topk", "sparse_ternary", "sign"])
    def test_biased_needs_preserved(self, name: str) -> None:
        with pytest.raises(InputError, match="downlink quantizer of lean must be unbiased, or the"):
            scheme(f"lean:down={name},server_model=estimate")
        assert scheme(f"lean:down={name}").server_model == "preserved"

    def test_unbiased_may_do_without(self) -> None:
        chosen = scheme("lean:down=qsgd(levels=64),server_model=estimate")
        assert isinstance(chosen.downlink, Tracked)

    @pytest.mark.parametrize("spec", ["lb:q2=1", "lfl:q2=1", "lgm:q1=1", "ltgm:q2=1"])
    def test_one_level_on_one_range_is_the_papers_own_and_warned_of(self, spec: str) -> None:
        chosen = scheme(spec)
        with pytest.warns(Caution, match=r"keeps errors of Stochastic\(levels=1, .* diverge"):
            chosen.check([1000])
        scheme(f"{spec},damping=true").check([1000])  # a warning would be an error here

    def test_one_level_on_one_range_is_refused_by_our_own_rules(self) -> None:
        spec = "lfl:q1=1,server_model=preserved"
        with pytest.raises(InputError, match="must be one whose kept errors do not grow: q >= 2"):
            scheme(spec)
        assert scheme(f"{spec},damping=true")

    def test_compensation_on_top_of_a_preserved_model_is_warned_of(self) -> None:
        chosen = scheme("lfl:server_model=preserved,compensate_server=true")
        assert isinstance(chosen.downlink, Compensated)
        assert not isinstance(chosen.downlink.compressor, VarianceGuard)
        with pytest.warns(Caution, match=r"counts twice.*Remark 1"):
            chosen.check([1000])

    def test_one_level_where_errors_are_dropped(self) -> None:
        scheme("lfl:q1=1").check([1000])

    def test_a_block_as_long_as_the_model_is_no_block(self) -> None:
        chosen = scheme("lb:q2=1,scale=64")
        assert chosen.cautions(65) == ()
        assert len(chosen.cautions(64)) == len(chosen.cautions(63)) == 1

    def test_a_rotation_hides_nothing(self) -> None:
        with pytest.raises(InputError, match="must be one whose kept errors do not grow: q >= 2"):
            scheme("lean:up=rotated+stochastic(levels=1),damping=false")

    def test_what_forgets_is_not_damped(self) -> None:
        link = scheme("lgm:compensate_server=false,damping=true").downlink
        assert link.forgets_error
        assert link.compressor is not None
        assert not link.compressor.damped

    def test_compensated_is_damped_if_asked(self) -> None:
        link = scheme("lfl:q1=1,compensate_server=true,damping=true").downlink
        assert isinstance(link, Compensated)
        assert link.compressor.damped

    def test_leans_uplink_without_damping_is_watched(self) -> None:
        link = scheme("lean:up=qsgd(levels=4),damping=false").uplink
        assert isinstance(link, ErrorFeedback)
        assert isinstance(link.compressor, VarianceGuard)

    @pytest.mark.parametrize("word", ["no", "off", "1"])
    def test_damping_is_true_or_false(self, word: str) -> None:
        with pytest.raises(InputError, match="damping of scheme must be true or false"):
            scheme(f"lean:damping={word}")

    def test_preserved_without_damping_is_watched(self) -> None:
        link = scheme("lfl:q1=2,server_model=preserved").downlink
        assert isinstance(link, Tracked)
        assert isinstance(link.compressor, VarianceGuard)
        assert link.compressor.quantizers == (Stochastic(levels=2),)
