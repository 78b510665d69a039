"""Laws that every partition keeps, and what each promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import InputError, stream
from lossyfl.tasks.partitions import (
    Indices,
    Labels,
    NaturalDevices,
    divide,
    grouped,
    names,
    natural,
    partition,
    sizes,
)

RNG = stream(0, purpose="partition")


def labels(count: int = 600, classes: int = 10) -> Labels:
    return (stream(1).bits(0, count) % classes).astype(np.uint8)


@given(
    spec=st.sampled_from(["paper", "iid", "dirichlet:alpha=1", "shards:k=2", "shards:k=5"]),
    devices=st.sampled_from([10, 20, 30]),
    seed=st.integers(0, 50),
)
def test_every_sample_belongs_to_one_device(spec: str, devices: int, seed: int) -> None:
    parts = divide(spec, labels(), devices, stream(seed))
    assert len(parts) == devices
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(600))
    assert sum(sizes(parts).values()) == 600


@pytest.mark.parametrize("name", [name for name in names() if natural(name) is None])
def test_the_seed_decides(name: str) -> None:
    first, again, other = (divide(name, labels(), 20, stream(seed)) for seed in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def test_paper_gives_one_class_a_device_in_equal_parts() -> None:
    y = labels()
    parts = divide("paper", y, 40, RNG)
    assert [len(np.unique(y[part])) for part in parts] == [1] * 40
    for name in range(10):
        own = [len(part) for part in parts if y[part][0] == name]
        assert len(own) == 4
        assert max(own) - min(own) <= 1


def test_iid_parts_are_equal_and_mixed() -> None:
    y = labels()
    parts = divide("iid", y, 7, RNG)
    assert {len(part) for part in parts} == {85, 86}
    assert all(len(np.unique(y[part])) == 10 for part in parts)


def test_shards_have_few_classes() -> None:
    y = np.repeat(np.arange(10), 60)
    parts = divide("shards:k=2", y, 30, RNG)
    assert all(len(np.unique(y[part])) <= 2 for part in parts)


def test_dirichlet_goes_from_one_class_to_all() -> None:
    y = np.repeat(np.arange(10), 500)

    def largest(parts: list[Indices]) -> float:
        return float(
            np.mean([np.bincount(y[part], minlength=10).max() / len(part) for part in parts])
        )

    even, uneven = (largest(divide(f"dirichlet:alpha={a}", y, 10, RNG)) for a in (1000, 0.1))
    assert even < 0.13
    assert uneven > 0.5


def test_tiny_alphas_give_a_class_to_one_device() -> None:
    y = np.repeat(np.arange(10), 100)
    parts = partition("dirichlet:alpha=1e-6").split(y, 10, RNG)
    for name in range(10):
        assert sum(bool((y[part] == name).any()) for part in parts) == 1


def test_dirichlet_shares_have_the_mean_and_variance_of_the_distribution() -> None:
    """Over 2,000 devices, shares are Gamma / sum: mean 1/M, variance (M-1) / (M^2 (M alpha + 1)).

    The variance of 2,000 near-independent draws has a relative deviation of about
    sqrt((kurtosis - 1) / 2000) < 0.1 for alpha = 0.5, so 0.4 is beyond four of them.
    """
    devices, alpha = 2000, 0.5
    y = np.zeros(2_000_000, dtype=np.int64)
    try:
        parts = partition(f"dirichlet:alpha={alpha}").split(y, devices, RNG)
    except InputError:  # pragma: no cover
        pytest.fail("split itself does not mind empty devices")
    shares = np.array([len(part) for part in parts]) / len(y)
    expected = (devices - 1) / (devices**2 * (devices * alpha + 1))
    assert abs(shares.var() / expected - 1) < 0.4


@pytest.mark.parametrize(
    ("spec", "devices", "message"),
    [
        (
            "paper",
            15,
            "devices of the partition paper must be a multiple of the 10 classes, got 15",
        ),
        ("iid", 601, r"devices of a partition must be in \[1, 600\]"),
        ("iid", 0, r"devices of a partition must be in \[1, 600\]"),
        ("dirichlet:alpha=0", 10, "alpha of dirichlet must be > 0, got 0"),
        ("dirichlet:alpha=-1", 10, "alpha of dirichlet must be > 0"),
        ("dirichlet:alpha=0.001", 100, "samples of device .* must be at least one"),
        ("shards:k=0", 10, "k of shards must be an int >= 1"),
        ("shard", 10, r"did you mean shards\?"),
        ("dirichlet:beta=1", 10, "option of dirichlet must be one of alpha"),
    ],
)
def test_errors(spec: str, devices: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        divide(spec, labels(), devices, RNG)


def test_targets_that_are_no_classes_can_only_be_iid() -> None:
    y = np.linspace(0, 1, 100)
    assert len(divide("iid", y, 10, RNG)) == 10
    with pytest.raises(InputError, match="labels of a partition by class must be one whole number"):
        divide("paper", y, 10, RNG)


class TestNaturalDevices:
    PARTS = grouped(np.array([4, 9, 4, 4, 1, 9]))

    def test_samples_of_every_owner(self) -> None:
        assert [part.tolist() for part in self.PARTS] == [[4], [0, 2, 3], [1, 5]]
        assert [part.tolist() for part in grouped(np.array([3, 3]))] == [[0, 1]]

    def test_small_devices_are_left_out(self) -> None:
        kept = NaturalDevices(least=2).keep(self.PARTS)
        assert [part.tolist() for part in kept] == [[0, 2, 3], [1, 5]]
        assert len(NaturalDevices().keep(self.PARTS)) == 3

    def test_some_must_be_left(self) -> None:
        with pytest.raises(InputError, match=r"least of natural must be at most 3, .* got 4"):
            NaturalDevices(least=4).keep(self.PARTS)
        with pytest.raises(InputError, match="least of natural must be at most 0"):
            NaturalDevices().keep([])

    @pytest.mark.parametrize("least", ["0", "1.5", "few"])
    def test_least_is_a_number(self, least: str) -> None:
        with pytest.raises(InputError, match="least of natural must be an int >= 1"):
            partition(f"natural:least={least}")

    def test_it_is_the_one_that_is_natural(self) -> None:
        assert natural("natural:least=3") == NaturalDevices(least=3)
        assert natural("iid") is None

    def test_samples_alone_do_not_say_whose_they_are(self) -> None:
        with pytest.raises(InputError, match="partition of a run must be another one"):
            divide("natural", labels(), 10, RNG)
