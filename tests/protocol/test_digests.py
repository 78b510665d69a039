"""Digests: of estimates, and of whose reply it is."""

from itertools import product

import numpy as np
from tests.helpers import f32, laplace

from lossyfl.protocol.digests import NOTHING, EstimateVersion, digest, reply_digest, training_id


def test_one_bit_of_one_entry_is_another_estimate() -> None:
    x = laplace(1000)
    other = x.copy()
    other.view(np.uint32)[317] ^= 1
    assert digest(x) == digest(x.copy()) != digest(other)
    assert digest(f32([0.0])) != digest(f32([-0.0]))


def test_an_estimate_has_the_same_digest_in_any_byte_order() -> None:
    x = laplace(100)
    assert digest(x.astype(">f4")) == digest(x.astype("<f4"))


def test_digests_are_those_of_earlier_versions() -> None:
    """Stored frames name them."""
    assert digest(f32([1, 2, 3])) == 0x7977FBB9AC817D62
    assert training_id(3, "mine") == 0x8EE416FD4F442524
    assert reply_digest(1, device=2, training=3) == 0x7C68B4906E7EA780


def test_a_reply_is_bound_to_estimate_device_and_training() -> None:
    facts = [*product((1, 2), repeat=3)]
    named = {reply_digest(e, device=m, training=t) for e, m, t in facts}
    assert len(named) == len(facts)
    trainings = {training_id(seed, name) for seed in (0, 1) for name in ("", "a", "b")}
    assert len(trainings) == 6


def test_a_new_device_holds_nothing_of_any_round() -> None:
    assert NOTHING.round == -1
    assert EstimateVersion(round=0, digest=NOTHING.digest) != NOTHING
