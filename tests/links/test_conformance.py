"""What every link must do, in both directions: those of all schemes, and of a link of somebody's own.

A link that is registered with a scheme is tested here without being named; options bring out the others.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import FrameMeta, InputError, Kind, scheme, stream
from lossyfl.compressors import SendContext
from lossyfl.links import Downlink, Link
from lossyfl.links.state import arrays_of, state_from
from lossyfl.protocol.schemes import names
from lossyfl.wire.header import read_header

D = 500
OPTIONS = (
    "lfl:compensate_server=true",
    "lfl:q2=exact",
    "lgm:compensate_server=false",
    "lean:predict=true",
    "lean:grid=true",
    "lfl:grid=true",
    "lean:damping=false,down=qsgd(levels=64),up=qsgd(levels=64)",
)
"""Options of registered schemes that lead to other links."""
SCHEMES = {spec: scheme(spec) for spec in (*names(), *OPTIONS)}


def named() -> Iterator[tuple[str, Link[Any]]]:
    """Every link of these schemes, once, and those inside of links."""
    seen: list[Link[Any]] = []
    for spec, chosen in SCHEMES.items():
        ends = [("down", chosen.downlink), ("up", chosen.uplink)]
        carrier = getattr(chosen.downlink, "carrier", None)
        ends += [("carrier", carrier)] if carrier is not None else []
        for end, link in ends:
            if link not in seen:
                seen.append(link)
                yield f"{spec} {end}", link


LINKS = dict(named())
DOWN = {spec: chosen.downlink for spec, chosen in SCHEMES.items()}
each_link = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS.keys())
each_downlink = pytest.mark.parametrize("link", DOWN.values(), ids=DOWN.keys())


def context(t: int) -> SendContext:
    return SendContext(meta=FrameMeta(kind=Kind.UPDATE, round=t), rng=stream(1, round=t))


def stored(state: object) -> dict[str, bytes]:
    return {name: vector.tobytes() for name, vector in arrays_of(state).items()}


def test_all_kinds_of_links_are_among_them() -> None:
    import lossyfl.links as room

    own = {each for each in vars(room).values() if isinstance(each, type)}
    concrete = {each for each in own if dataclasses.is_dataclass(each) and hasattr(each, "send")}
    assert concrete == {type(link) for link in LINKS.values()}


@each_link
def test_both_ends_agree_after_every_frame(link: Link[Any]) -> None:
    """On all that they share; a memory is the sender's own."""
    sender = receiver = link.init(laplace(D))
    for t in range(20):
        sent = link.send(laplace(D, seed=t), sender, context(t))
        heard, receiver = link.receive(sent.frame, receiver)
        sender = sent.state
        assert np.isfinite(heard).all()
        ends = stored(sender), stored(receiver)
        for end in ends:
            end.pop("memory", None)
        assert ends[0] == ends[1]


@each_link
def test_state_goes_in_and_comes_out_unchanged(link: Link[Any]) -> None:
    state = link.init(laplace(D))
    before = stored(state)
    first, again = (link.send(laplace(D, seed=2), state, context(0)) for _ in range(2))
    link.receive(first.frame, state)
    link.undo(first.frame, state)
    assert stored(state) == before
    assert (first.frame, stored(first.state)) == (again.frame, stored(again.state))


@each_link
def test_context_is_in_the_frame(link: Link[Any]) -> None:
    sent = link.send(laplace(D), link.init(laplace(D)), context(9))
    assert read_header(sent.frame).meta == context(9).meta


@each_link
def test_zero_vector_goes_through(link: Link[Any]) -> None:
    zero = np.zeros(64, np.float32)
    sent = link.send(zero, link.init(zero), context(0))
    heard, _ = link.receive(sent.frame, link.init(zero))
    assert not heard.any()


@each_link
def test_what_was_lost_is_what_the_receiver_lacks_of_the_source(link: Link[Any]) -> None:
    """In norm: a rotated source is another vector of the same length."""
    state = link.init(np.zeros(D, np.float32))
    for t in range(3):
        x = laplace(D, seed=t)
        sent = link.send(x, state, context(t))
        heard, _ = link.receive(sent.frame, state)
        kept = arrays_of(state).get("memory", np.zeros(D, np.float32))
        lost = np.zeros(D) if sent.lost is None else sent.lost
        assert np.allclose(heard + lost, x + kept, atol=1e-4)
        assert (sent.lost is None) == (link.compressor is None)
        assert len(sent.source()) >= D
        state = sent.state


@each_link
def test_what_the_receiver_will_know_is_what_it_says_that_it_knows(link: Link[Any]) -> None:
    state = link.init(np.zeros(D, np.float32))
    for t in range(3):
        sent = link.send(laplace(D, seed=t), state, context(t))
        heard, _ = link.receive(sent.frame, state)
        assert sent.heard is None or sent.heard.tobytes() == heard.tobytes()
        state = sent.state


@each_link
def test_what_is_kept_of_a_frame_that_never_arrived_is_all_of_it(link: Link[Any]) -> None:
    x = laplace(D, seed=3)
    state = link.init(np.zeros(D, np.float32))
    sent = link.send(x, state, context(0))
    after = arrays_of(link.undo(sent.frame, sent.state))
    if link.keeps_error and not link.incremental:
        assert np.allclose(after["memory"], x, atol=1e-4)
    else:
        assert stored(link.undo(sent.frame, sent.state)) == stored(sent.state)


@each_link
def test_states_are_saved_by_name_and_come_back(link: Link[Any]) -> None:
    state = link.send(laplace(D), link.init(laplace(D, seed=1)), context(0)).state
    arrays, like = arrays_of(state), link.init(np.zeros(0, np.float32))
    again = state_from(arrays, like, D)
    assert type(again) is type(state)
    assert stored(again) == stored(state)
    assert all(vector.shape == (D,) for vector in arrays.values())
    assert state_from({**arrays, "another": laplace(D)}, like, D) is None
    for name in arrays:
        assert state_from({**arrays, name: laplace(D - 1)}, like, D) is None
        assert state_from({n: v for n, v in arrays.items() if n != name}, like, D) is None


@each_link
def test_an_error_is_kept_or_forgotten_but_not_both(link: Link[Any]) -> None:
    assert not (link.keeps_error and link.forgets_error)
    if link.compressor is None:
        assert not link.keeps_error
        assert not link.forgets_error
    assert link.keeps_error == ("memory" in arrays_of(link.init(laplace(D))))


@each_downlink
def test_a_downlink_holds_the_estimate(link: Downlink[Any]) -> None:
    state = link.init(laplace(D))
    assert state.estimate.tobytes() == laplace(D).tobytes()
    sent = link.send(laplace(D, seed=1), state, context(0))
    heard, receiver = link.receive(sent.frame, state)
    assert heard.tobytes() == receiver.estimate.tobytes() == sent.state.estimate.tobytes()


@each_downlink
def test_who_joins_follows_from_then_on(link: Downlink[Any]) -> None:
    sender = link.init(laplace(D))
    for t in range(3):
        sender = link.send(laplace(D, seed=t), sender, context(t)).state
    joined = link.join(sender.estimate, link.trend(sender))
    for t in range(3, 6):
        sent = link.send(laplace(D, seed=t), sender, context(t))
        _, joined = link.receive(sent.frame, joined)
        sender = sent.state
        assert joined.estimate.tobytes() == sender.estimate.tobytes()


@each_downlink
def test_an_incremental_link_is_no_uplink(link: Downlink[Any]) -> None:
    chosen = SCHEMES["lossless"]
    if not link.incremental:
        assert dataclasses.replace(chosen, uplink=link).uplink is link
        return
    with pytest.raises(InputError, match="uplink of lossless must be one whose frames say all"):
        dataclasses.replace(chosen, uplink=link)
