"""Budgets: never above, hardly below, and what cannot be is said at once."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import laplace, rows_of_all_sizes

from lossyfl import FrameMeta, InputError, Kind, decode, inspect, quantizer, scheme, stream
from lossyfl.compressors import SendContext
from lossyfl.compressors.budgeted import Budget, budgeted
from lossyfl.links import ErrorFeedback, Tracked
from lossyfl.quantizers import adjustable_names
from lossyfl.types import Quantized, Shape, Vector

ADJUSTABLE = [*adjustable_names(), "deadzone:scale=tensor"]


def context(t: int = 3, tensors: Sequence[Shape] | None = None) -> SendContext:
    meta = FrameMeta(kind=Kind.UPDATE, round=t)
    return SendContext(meta=meta, rng=stream(1, round=t), tensors=tensors)


def vector(kind: str, entries: int, seed: int = 4) -> Vector:
    rng = np.random.default_rng(seed)
    layers = np.repeat(np.geomspace(1, 100, 10), entries // 10)
    made = {
        "laplace": rng.laplace(size=entries),
        "normal": rng.normal(size=entries),
        "heavy": rng.standard_t(3, size=entries),
        "layers": rng.normal(size=len(layers)) * layers,
        "sparse": rng.normal(size=entries) * (rng.random(entries) < 0.05),
        "bursts": rng.standard_t(3, size=entries)
        * np.repeat(rng.random(entries // 20 + 1) < 0.3, 20)[:entries],
        "even": rng.uniform(-1, 1, size=entries),
        "whole": rng.integers(-3, 4, size=entries),
    }
    return made[kind].astype(np.float32)


@pytest.mark.parametrize("name", ADJUSTABLE)
@pytest.mark.parametrize(
    "kind", ["laplace", "normal", "heavy", "layers", "sparse", "bursts", "even", "whole"]
)
@pytest.mark.parametrize("limit", ["1kB", "3kB", "8kB", "0.5bit"])
def test_never_above_and_within_three_percent(name: str, kind: str, limit: str) -> None:
    x = vector(kind, 100_000)
    compressor = budgeted(limit, quantizer(name))
    _, frame = compressor.make(x, context(tensors=(40_000, 60_000)))
    most = 100_000 / 16 if limit == "0.5bit" else float(limit.removesuffix("kB")) * 1000
    assert len(frame) <= most
    assert np.square(decode(frame) - x).sum() < np.square(x).sum() * 1.01 or name == "dithered"
    # One magnitude for all gets worse with ever smaller entries, and what says all there is to say at its
    # finest need not fill a budget.
    coarse = name == "sparse_ternary" and limit in ("8kB", "0.5bit")
    finest = kind == "sparse" and name != "dithered" and limit != "1kB"
    assert len(frame) >= 0.97 * most or coarse or finest


@pytest.mark.parametrize("name", ADJUSTABLE)
@pytest.mark.parametrize("kind", ["laplace", "normal", "heavy", "layers"])
@pytest.mark.parametrize("limit", [300, 500, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_small_frames_are_filled_too(name: str, kind: str, limit: int, seed: int) -> None:
    """Where a count or a value more or less is one percent, entropies alone do not tell the size."""
    x = vector(kind, 13_700, seed)
    compressor = budgeted(f"{limit}B", quantizer(name))
    _, frame = compressor.make(x, context(tensors=(3_700, 10_000)))
    assert 0.97 * limit <= len(frame) <= limit


@pytest.mark.parametrize("name", ["deadzone", "deadzone:scale=tensor", "dithered"])
@pytest.mark.parametrize("limit", ["500B", "1500B", "0.3bit", "1bit"])
@pytest.mark.parametrize("seed", range(3))
def test_symbols_coded_by_class_fill_budgets_too(
    name: str, limit: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Entropies tell more than such frames take: the search goes beyond them, in a few attempts."""
    tried = watch(monkeypatch)
    parts = rows_of_all_sizes(300, 100, seed).ravel(), rows_of_all_sizes(150, 100, seed + 9).ravel()
    x, compressor = np.concatenate(parts), budgeted(limit, quantizer(name))
    _, frame = compressor.make(x, context(tensors=((300, 100), (150, 20, 5))))
    most = float(limit[:-3]) * len(x) / 8 if limit.endswith("bit") else float(limit[:-1])
    assert inspect(frame).coding == "classes" or limit == "500B"
    assert 0.97 * most <= len(frame) <= most
    assert len(tried) <= 5
    _, plain = compressor.make(x, context(tensors=(30_000, 15_000)))
    assert np.square(decode(frame) - x).sum() <= np.square(decode(plain) - x).sum()


@pytest.mark.parametrize("rate", [3.0, 3.5, 3.8, 4.0, 4.2, 4.5])
def test_budgets_are_filled_where_symbols_become_too_many_for_classes(
    rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Above 256 symbols frames are of order 0 and longer; large magnitudes share cells before."""
    tried = watch(monkeypatch)
    x, most = rows_of_all_sizes(300, 100, 0).ravel(), rate * 30_000 / 8
    _, frame = budgeted(f"{rate}bit", quantizer("deadzone")).make(x, context(tensors=((300, 100),)))
    assert 0.9 * most <= len(frame) <= most
    assert len(tried) <= 8


def watch(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rooms that will be tried."""
    tried: list[int] = []
    sized = Budget._sized  # pyright: ignore[reportPrivateUsage]

    def watched(self: Budget, x: Vector, note: SendContext, room: int) -> tuple[Quantized, bytes]:
        tried.append(room)
        return sized(self, x, note, room)

    monkeypatch.setattr(Budget, "_sized", watched)
    return tried


def test_no_room_is_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = watch(monkeypatch)
    for kind in ("normal", "sparse"):
        for limit in (110, 350, 2_000):
            tried.clear()
            budgeted(f"{limit}B", quantizer("dithered")).make(vector(kind, 2_000), context())
            assert len(set(tried)) == len(tried) <= 12


@given(st.integers(100, 50_000), st.integers(1, 10_000), st.integers(0, 50))
def test_never_above_for_any_length(limit: int, entries: int, seed: int) -> None:
    x = laplace(entries, seed=seed)
    if limit > 4 * entries:
        return
    _, frame = budgeted(f"{limit}B", quantizer("deadzone")).make(x, context())
    assert len(frame) <= limit


def test_an_error_instead_of_a_size() -> None:
    x = laplace(20_000)
    for nmse in (0.3, 0.1, 0.01):
        _, frame = budgeted(f"nmse={nmse}", quantizer("deadzone")).make(x, context())
        error = np.square(decode(frame) - x).sum() / np.square(x).sum()
        assert 0.97 * nmse <= error <= nmse * 1.0001


def test_budgets_change_with_the_round() -> None:
    x = laplace(50_000)

    def size(text: str, t: int) -> int:
        return len(budgeted(text, quantizer("deadzone")).make(x, context(t))[1])

    assert [size("8kB@0/2kB@5", t) > 4000 for t in (0, 4, 5, 99)] == [True, True, False, False]
    assert 2910 <= size("300kB/100rounds", 7) <= 3000
    assert 7760 <= size("8kB..2kB/100rounds", 0) <= 8000
    assert 3880 <= size("8kB..2kB/101rounds", 50) <= 4000
    assert 1940 <= size("8kB..2kB/100rounds", 99) <= 2000
    assert 1940 <= size("8kB..2kB/100rounds", 500) <= 2000


def test_a_budget_over_a_whole_run_is_spent_with_it() -> None:
    spread = scheme("lean:down_budget=600B/3rounds")
    spread.check([1000])
    spread.check([1000], 3)
    message_of = (
        r"budget of the downlink must be for as many rounds as there are, at least 4, got .* 3"
    )
    with pytest.raises(InputError, match=message_of):
        spread.check([1000], 4)
    compressor = budgeted("600B/3rounds", quantizer("deadzone"), of="the downlink")
    sizes = [len(compressor.make(laplace(1000), context(t))[1]) for t in range(3)]
    assert sum(sizes) <= 600
    with pytest.raises(
        InputError, match=message_of
    ):  # also who does not say how many there will be
        compressor.make(laplace(1000), context(3))
    scheme("lean:down_budget=600B..200B/3rounds").check([1000], 99)  # the last one stays


@pytest.mark.parametrize("text", ["95B", "0.0001bit", "2MB", "40bit"])
@pytest.mark.parametrize("link", ["down", "up"])
def test_too_small_or_too_large_for_the_model_before_the_first_round(text: str, link: str) -> None:
    from lossyfl import Server

    said = f"budget of the {link}link must be between 96 B and exact floats"
    with pytest.raises(InputError, match=said):
        Server(laplace(100_000), scheme(f"lean:{link}_budget={text}"), samples={0: 1})


def test_quantizers_whose_size_cannot_be_set() -> None:
    with pytest.raises(InputError, match=r"quantizer of a budget must be .*deadzone.*got sign"):
        scheme("lean:up=sign,up_budget=20kB")


def test_errors_with_a_scale_a_block() -> None:
    with pytest.raises(InputError, match="must be a size, with a scale a block, got an nmse"):
        scheme("lean:up=deadzone(scale=tensor),up_budget=nmse=0.1")


@pytest.mark.parametrize("name", ["topk", "sparse_ternary"])
def test_an_error_out_of_reach_is_said(name: str) -> None:
    """A few magnitudes are not exact, however many entries are kept."""
    chosen = budgeted("nmse=0.001", quantizer(name))
    with pytest.raises(
        InputError,
        match=r"budget of a link in round 3 must be an nmse of 0\.\d+ or more for this vector",
    ):
        chosen.make(laplace(50_000), context())


def test_a_spike_puts_an_error_out_of_reach() -> None:
    x = 1e-4 * laplace(50_000)
    x[7] = 1
    chosen = budgeted("nmse=1e-8", quantizer("dithered"))
    with pytest.raises(InputError, match=r"must be an nmse of \S+ or more for this vector"):
        chosen.make(x, context())


def test_errors_below_all_are_refused_beforehand() -> None:
    """A dead zone's thresholds lie on edges of bins, so the least error that it always reaches is known."""
    with pytest.raises(
        InputError, match="the downlink must be an nmse of 1e-05 or more, got nmse=1e-07"
    ):
        scheme("lean:down_budget=nmse=1e-7").check([1000])
    scheme("lean:down_budget=nmse=1e-5").check([1000])


@given(st.integers(0, 1000), st.sampled_from(["normal", "heavy", "even", "whole", "layers"]))
def test_the_least_error_is_always_reached(seed: int, kind: str) -> None:
    x = vector(kind, 2000, seed)
    _, frame = budgeted("nmse=1e-5", quantizer("deadzone")).make(x, context())
    assert np.square(decode(frame) - x).sum() <= 1.02e-5 * np.square(x).sum()


@pytest.mark.parametrize(
    "name", ["deadzone", *(f"{name}:scale=tensor" for name in ("deadzone", "dithered", "topk"))]
)
def test_what_is_accepted_can_be_sent(name: str) -> None:
    """With tensors of any lengths, which travel, too."""
    rng = np.random.default_rng(7)
    tensors = tuple(int(n) for n in rng.integers(1, 5000, size=120))
    x = laplace(sum(tensors))
    low, high = 96, 4000
    while high - low > 1:  # the least that is accepted
        middle = (low + high) // 2
        try:
            budgeted(f"{middle}B", quantizer(name)).check(tensors)
            high = middle
        except InputError:
            low = middle
    _, frame = budgeted(f"{high}B", quantizer(name)).make(x, context(tensors=tensors))
    assert len(frame) <= high


def test_a_size_is_said_once() -> None:
    with pytest.raises(InputError, match="target of Deadzone must be left out: a budget sets"):
        scheme("lean:down=deadzone(target=2kB),down_budget=1kB")
    with pytest.raises(InputError, match=r"keep of TopK must be left out: .*, got 0.02"):
        scheme("lean:up=topk(keep=0.02),up_budget=1kB")
    with pytest.raises(InputError, match=r"step of Dithered must be left out: .*, got 0.5"):
        budgeted("1kB", quantizer("rotated+dithered:step=0.5"))


@pytest.mark.parametrize("text", ["2kB/3rounds", "2kB@0/1kB@1", "2kB..1kB/3rounds"])
def test_the_first_model_is_one_frame(text: str) -> None:
    allowed = "budget of the initial model must be one for a single frame, as 3bit"
    with pytest.raises(InputError, match=allowed):
        scheme(f"lean:first_budget={text}")


def test_over_a_run_broadcasts_share_what_is_there() -> None:
    """The first round has the initial model instead of one."""
    chosen = scheme("lean:down_budget=6kB/3rounds,up_budget=6kB/3rounds")
    sizes: list[int] = []
    for link in (chosen.downlink, chosen.uplink):
        assert isinstance(link, Tracked | ErrorFeedback)
        _, frame = link.compressor.make(laplace(20_000), context(1))
        sizes.append(len(frame))
    assert 2910 <= sizes[0] <= 3000
    assert 1940 <= sizes[1] <= 2000


def test_room_for_scales() -> None:
    chosen = budgeted("0.25bit", quantizer("deadzone:scale=64"))
    with pytest.raises(InputError, match="budget of a link must be between 6,348 B"):
        chosen.check([100_000])
    chosen = budgeted("150B", quantizer("deadzone:scale=tensor"))
    chosen.check([10_000] * 10)
    with pytest.raises(InputError, match="budget of a link must be between 296 B"):
        chosen.check([2_000] * 50)
    chosen = budgeted("2200B", quantizer("rotated+deadzone:scale=64"))
    with pytest.raises(InputError, match="budget of a link must be between 4,192 B"):
        chosen.check([33_000])  # 65,536 when they are rotated


def test_rotated() -> None:
    x = laplace(50_000)
    _, frame = budgeted("5kB", quantizer("rotated+deadzone")).make(x, context())
    assert 4850 <= len(frame) <= 5000


def test_small_errors() -> None:
    x = laplace(2000)
    _, frame = budgeted("nmse=0.00001", quantizer("deadzone")).make(x, context())
    assert np.square(decode(frame) - x).sum() <= 1.01e-5 * np.square(x).sum()


@pytest.mark.parametrize("name", ["deadzone", "topk", "sparse_ternary"])
def test_entries_of_one_size_are_sent_part_by_part(name: str) -> None:
    """With kept errors, all of them arrive."""
    rng = np.random.default_rng(8)
    x = np.where(rng.random(20_000) < 0.5, -1e-3, 1e-3).astype(np.float32)
    left, chosen = x.copy(), budgeted("1.2kB", quantizer(name))
    for t in range(60):
        _, frame = chosen.make(left, context(t))
        assert len(frame) <= 1200
        left -= decode(frame)
    assert np.square(left).sum() < 0.2 * np.square(x).sum()


def test_a_model_too_small_for_any_budget() -> None:
    with pytest.raises(InputError, match="must be left out: exact floats of 10 entries are 76 B"):
        budgeted("1kB", quantizer("deadzone")).check([10])


OWN = """
from dataclasses import dataclass, replace
from lossyfl import Stochastic
from lossyfl.errors import OutOfReach

@dataclass(frozen=True, slots=True, kw_only=True)
class Powers(Stochastic):
    target: object = None

    def with_target(self, target):
        return replace(self, target=target)

    def quantize(self, x, bounds, *, rng, threads=1):
        bits = self.target.bits_for(len(x))
        if bits is None:
            raise OutOfReach("target", of="Powers", nmse=0.5, got=str(self.target))
        levels = max(1, int(2 ** (bits / len(x) - 1)))
        return Stochastic(levels=levels).quantize(x, bounds, rng=rng, threads=threads)
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A quantizer of somebody's package, whose size is set by the number of levels."""
    (tmp_path / "own_powers.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "own_powers", raising=False)
    return "own_powers:Powers"


@pytest.mark.parametrize("prefix", ["", "rotated+"])
def test_an_own_quantizer_within_a_budget(own: str, prefix: str) -> None:
    x = laplace(20_000)
    coarse, fine = (
        budgeted(f"{size}kB", quantizer(prefix + own)).make(x, context())[1] for size in (8, 16)
    )
    assert 4000 < len(coarse) <= 8000 < len(fine) <= 16_000
    link = scheme(f"lean:up={prefix}{own},up_budget=8kB").uplink
    assert isinstance(link, ErrorFeedback)
    _, frame = link.compressor.make(x, context())
    assert len(frame) <= 8000
    with pytest.raises(InputError, match=r"budget of a link in round 3 must be an nmse of 0\.5 or"):
        budgeted("nmse=0.1", quantizer(prefix + own)).make(x, context())


def test_numbers_do_not_travel_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """What somebody wrote is read when a budget is made, not when a frame is."""
    made = {text: budgeted(text, quantizer("rotated+deadzone")) for text in ("2kB", "nmse=0.3")}

    def reads(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(re, "fullmatch", reads)
    for each in made.values():
        each.make(laplace(20_000), context())


@pytest.mark.parametrize("name", adjustable_names())
def test_nothing_fits_into_too_little(name: str) -> None:
    """`check` would have said so beforehand."""
    chosen = budgeted("30B", quantizer(name))
    with pytest.raises(InputError, match=r"budget of a link must be enough for .* got 30 B"):
        chosen.make(laplace(1000), context())
