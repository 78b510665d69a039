"""What a scheme asks of its links and quantizers: own ones are held to the same rules as ours."""

from dataclasses import dataclass, replace

import pytest

from lossyfl import InputError, Quantizer, quantizer, scheme
from lossyfl.compressors import Schedule
from lossyfl.links import Tracked
from lossyfl.links.base import AbstractDownlink
from lossyfl.links.tracked import TrackedState
from lossyfl.quantizers.sign import Sign
from lossyfl.types import Scale


def by(spec: str) -> Schedule:
    chosen: Quantizer = quantizer(spec)
    return Schedule.constant(chosen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(Tracked):
    """A link that is no class of ours, with whatever properties."""

    keeps_error: bool = False
    forgets_error: bool = False
    several: bool = False

    @property
    def selects(self) -> bool:
        return self.several


LFL = scheme("lfl")


@pytest.mark.parametrize(
    ("keeps", "forgets", "server_model", "refused"),
    [
        (False, False, "estimate", True),
        (False, False, "preserved", False),
        (False, True, "preserved", True),
        (True, False, "estimate", False),
    ],
)
def test_a_biased_quantizer_needs_a_place_for_its_error(
    keeps: bool, forgets: bool, server_model: str, refused: bool
) -> None:
    link = Own(compressor=by("topk"), keeps_error=keeps, forgets_error=forgets)
    if not refused:
        replace(LFL, downlink=link, server_model=server_model)  # type: ignore[arg-type]
        return
    with pytest.raises(InputError, match="downlink quantizer of lfl must be unbiased, or the"):
        replace(LFL, downlink=link, server_model=server_model)  # type: ignore[arg-type]


def test_coarse_errors_that_are_kept_are_refused() -> None:
    coarse = by("stochastic:levels=1")
    with pytest.raises(InputError, match="quantizer of lfl must be one whose kept errors do not"):
        replace(LFL, downlink=Own(compressor=coarse, keeps_error=True), guarded=True)
    replace(LFL, downlink=Own(compressor=coarse), guarded=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranged(Sign):
    """A quantizer from outside the package."""

    errors_grow = True


def test_whoever_says_so_keeps_no_errors_on_one_range_for_all() -> None:
    def link(scale: Scale) -> Own:
        return Own(compressor=Schedule.constant(Ranged(scale=scale)), keeps_error=True)

    with pytest.raises(InputError, match=r"kept errors do not grow: .*, got Ranged\("):
        replace(LFL, downlink=link("model"), guarded=True)
    replace(LFL, downlink=link("tensor"), guarded=True).check([1000])
    shorter = replace(LFL, downlink=link(64), guarded=True)
    shorter.check([65])
    with pytest.raises(InputError, match="kept errors do not grow"):
        shorter.check([60])


def test_the_best_of_several_frames_needs_a_preserved_model() -> None:
    link = Own(compressor=by("qsgd"), several=True)
    with pytest.raises(InputError, match="predict of lfl must be false, or the server's model"):
        replace(LFL, downlink=link)
    replace(LFL, downlink=link, server_model="preserved")


def test_compensation_counts_twice_on_a_preserved_model() -> None:
    link = Own(compressor=by("qsgd"), keeps_error=True)
    assert "counts twice" in replace(LFL, downlink=link, server_model="preserved").cautions(10)[0]
    assert replace(LFL, downlink=link).cautions(10) == ()


def test_a_downlink_says_how_it_begins() -> None:
    class Unfinished(AbstractDownlink[TrackedState]):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Unfinished()  # type: ignore[abstract]
