"""A data set in memory."""

from tests.data.small import SMALL_CIFAR


def test_arrays_are_in_the_order_of_their_known_sums() -> None:
    chosen, facts = SMALL_CIFAR.dataset, SMALL_CIFAR.facts
    named = [getattr(chosen, part.name) for part in facts.parts]
    assert all(one is other for one, other in zip(chosen.arrays, named, strict=True))
