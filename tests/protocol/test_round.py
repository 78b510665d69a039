"""Algorithm 1 and its rivals against transcriptions of their equations, for 50 rounds, to the bit."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers import laplace, rows_of_all_sizes

from lossyfl import InputError, Stochastic, decode, encode, stream
from lossyfl.protocol.arguments import Listen
from lossyfl.protocol.device import Device
from lossyfl.protocol.round import run_round, sample
from lossyfl.protocol.schemes import scheme
from lossyfl.protocol.server import Server
from lossyfl.quantizers.rotated import Rotated
from lossyfl.types import Quantizer, Shape, Vector
from lossyfl.wire.shapes import entries_of, lengths_of

D, M, ROUNDS = 300, 4, 50
SAMPLES = {0: 10, 1: 30, 2: 20, 3: 15}
TARGETS = {m: laplace(D, seed=100 + m) for m in range(M)}

SHAPE = st.lists(st.integers(1, 40), min_size=1, max_size=4).map(tuple)

Q = Callable[[Vector, int, str, int, int], Vector]


def local(m: int, theta_hat: Vector) -> Vector:
    """Three local steps on the quadratic ||theta - target_m||^2 / 2."""
    theta = theta_hat.copy()
    for _ in range(3):
        theta -= np.float32(0.1) * (theta - TARGETS[m])
    return theta


def quantized(x: Vector, quantizer: Quantizer, purpose: str, t: int, m: int) -> Vector:
    return decode(encode(x, quantizer, rng=stream(7, purpose=purpose, round=t, device=m)))


def transcription(name: str, q1: int, q2: int, *, estimate: bool, compensate: bool) -> list[Vector]:
    """theta(t), t = 1 ... ROUNDS, straight from the table of systems in schemes.py."""
    up, down = Stochastic(levels=q2), Stochastic(levels=q1)
    theta = laplace(D, seed=1)
    theta_hat = theta.copy()
    delta = {m: np.zeros(D, np.float32) for m in range(M)}
    error = np.zeros(D, np.float32)
    models: list[Vector] = []
    for t in range(ROUNDS):
        if t > 0:
            if name in ("lossless", "lb"):
                theta_hat = theta
            elif name == "lfl":
                change = theta - theta_hat
                change = np.add(change, error) if compensate else change
                sent = quantized(change, down, "downlink", t, -1)
                error = change - sent if compensate else error
                theta_hat = theta_hat + sent
            elif name == "lgm":
                theta_hat = quantized(theta + error, down, "downlink", t, -1)
                error = theta + error - theta_hat
            else:
                theta_hat = quantized(theta, Rotated(inner=down), "downlink", t, -1)
        total = np.zeros(D, np.float32)
        for m in range(M):
            y = local(m, theta_hat) - theta_hat
            if name != "lossless":
                whole = y + delta[m]
                y = quantized(whole, up, "uplink", t, m)
                delta[m] = whole - y
            total += np.float32(SAMPLES[m]) * y
        base = theta_hat if estimate else theta
        theta = np.add(base, total / np.float32(sum(SAMPLES.values())), dtype=np.float32)
        models.append(theta)
    return models


def protocol(spec: str) -> list[Vector]:
    chosen = scheme(spec)
    server = Server(laplace(D, seed=1), chosen, samples=SAMPLES, seed=7)
    devices = {m: Device(m, chosen, seed=7) for m in range(M)}
    models: list[Vector] = []
    for t in range(ROUNDS):
        run_round(server, devices, local)
        assert server.round == t
        assert all(device.held == server.held for device in devices.values())
        assert all(np.array_equal(d.estimate, server.estimate) for d in devices.values())
        models.append(server.theta)
    return models


@pytest.mark.parametrize(
    ("spec", "name", "q1", "q2", "estimate", "compensate"),
    [
        ("lossless", "lossless", 1, 1, False, False),
        ("lb:q2=2", "lb", 1, 2, False, False),
        ("lfl:q1=2,q2=2", "lfl", 2, 2, True, False),
        ("lfl:q1=5,q2=3", "lfl", 5, 3, True, False),
        ("lfl:q1=2,q2=2,server_model=preserved", "lfl", 2, 2, False, False),
        ("lfl:q1=2,q2=2,compensate_server=true", "lfl", 2, 2, True, True),
        ("lgm:q1=2,q2=2", "lgm", 2, 2, False, True),
        ("lgm:q1=2,q2=2,server_model=estimate", "lgm", 2, 2, True, True),
        ("ltgm:q1=50,q2=2", "ltgm", 50, 2, False, False),
    ],
)
def test_protocol_is_the_transcription(
    spec: str, name: str, q1: int, q2: int, estimate: bool, compensate: bool
) -> None:
    expected = transcription(name, q1, q2, estimate=estimate, compensate=compensate)
    for got, wanted in zip(protocol(spec), expected, strict=True):
        assert got.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("listen", ["all", "participants"])
def test_a_fraction_trains_and_everybody_who_listens_is_in_sync(listen: Listen) -> None:
    chosen = scheme("lfl")
    server = Server(laplace(D), chosen, samples=SAMPLES, seed=7, listen=listen)
    devices = {m: Device(m, chosen, seed=7) for m in range(M)}
    seen: set[int] = set()
    for t in range(20):
        some = sample(SAMPLES, 0.5, seed=1, round=t)
        assert len(some) == 2
        run_round(server, devices, local, some)
        seen |= set(some)
        heard = range(M) if listen == "all" else some
        assert all(devices[m].held == server.held for m in heard)
    assert seen == set(range(M))


def test_samples_are_checked() -> None:
    assert sample([3], 0.1, seed=0, round=0) == [3]
    with pytest.raises(InputError, match="fraction of sample must be in"):
        sample([1, 2], 0.0, seed=0, round=0)


def test_lfl_learns_the_quadratic() -> None:
    best = sum(SAMPLES[m] * TARGETS[m] for m in range(M)) / sum(SAMPLES.values())
    start = np.linalg.norm(laplace(D, seed=1) - best)
    assert np.linalg.norm(protocol("lfl:q1=5,q2=5")[-1] - best) < 0.2 * start


@given(
    st.lists(SHAPE, min_size=1, max_size=4).filter(lambda shapes: entries_of(shapes) < 30_000),
    st.sampled_from(
        [
            "lfl",
            "lfl:q1=50,q2=3",
            "ltgm",
            "lean:down=topk,up=topk",
            "lean:down=sign(scale=99),up=natural",
        ]
    ),
    st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_shapes_change_no_model_and_make_no_frame_longer(
    shapes: list[tuple[int, ...]], spec: str, seed: int
) -> None:
    """But for `deadzone`, which chooses other symbols where shapes are given."""
    theta, entries = trained(shapes, spec, seed)
    same, longer = trained(lengths_of(shapes), spec, seed)
    assert theta.tobytes() == same.tobytes()
    assert all(a <= b for a, b in zip(entries, longer, strict=True))


def trained(tensors: Sequence[Shape], spec: str, seed: int) -> tuple[Vector, list[int]]:
    """The model after three rounds, and the lengths of all frames."""
    goals = [
        np.concatenate(
            [rows_of_all_sizes(1 + n // 20, 20, seed + m).ravel()[:n] for n in lengths_of(tensors)]
        )
        for m in range(2)
    ]

    def step(m: int, held: Vector) -> Vector:
        held += (goals[m] - held) / np.float32(9)
        return held

    start = np.zeros(entries_of(tensors), np.float32)
    chosen = scheme(spec)
    server = Server(start, chosen, samples={0: 1, 1: 2}, tensors=tensors)
    devices = {m: Device(m, chosen, tensors=tensors) for m in range(2)}
    for _ in range(3):
        run_round(server, devices, step)
    return server.theta, [each.nbytes for each in server.ledger.entries]


def test_sampling_is_random_unless_said_otherwise() -> None:
    plain = [sample(range(50), 0.1, seed=3, round=t) for t in range(50)]
    assert plain == [sample(range(50), 0.1, seed=3, round=t, recent=0.0) for t in range(50)]
    assert len({tuple(each) for each in plain}) == 50


@given(
    members=st.integers(1, 40),
    fraction=st.floats(0.01, 1),
    recent=st.floats(0, 0.99),
    held=st.lists(st.integers(-1, 5), min_size=40, max_size=40),
)
def test_a_share_of_participants_holds_the_newest_estimates(
    members: int, fraction: float, recent: float, held: list[int]
) -> None:
    """As many as at random, and nobody of those left out holds a newer one than the oldest of the share."""
    asked = sample(range(members), fraction, seed=0, round=1, recent=recent, held=held.__getitem__)
    assert asked == sorted(set(asked))
    assert len(asked) == len(sample(range(members), fraction, seed=0, round=1))
    near = min(int(recent * len(asked) + 0.5), len(asked) - 1)
    newest = sorted((held[m] for m in asked), reverse=True)[:near]
    left = [held[m] for m in range(members) if m not in asked]
    assert not newest or not left or newest[-1] >= max(left)


def test_everybody_is_asked_as_often_in_the_long_run() -> None:
    """20 devices, 4 a round, 3 of them the newest and one of the 17 others, for 4,000 rounds.

    A device that was asked is asked again with probability 3/4 + 1/4 1/17, another with 1/17: a Markov chain
    with pi = 1/5 and lambda = 0.706. So it is asked in 4,000 / 5 = 800 rounds, with a standard deviation of
    sqrt(4,000 pi (1 - pi) (1 + lambda) / (1 - lambda)) = 61. Six of these in 20 devices: a false alarm has a
    probability below 1e-7.
    """
    held = dict.fromkeys(range(20), -1)
    count = Counter[int]()
    for t in range(4000):
        asked = sample(held, 0.2, seed=1, round=t, recent=0.75, held=held.__getitem__)
        count.update(asked)
        held.update(dict.fromkeys(asked, t))
    assert set(count) == set(range(20))
    assert all(abs(asked - 800) < 6 * 61 for asked in count.values())
    assert max(count.values()) > 800  # it is random, no rota


@pytest.mark.parametrize("recent", [-0.1, 1.0, 2.0, float("nan")])
def test_a_share_of_the_newest_leaves_room_for_others(recent: float) -> None:
    with pytest.raises(InputError, match=r"recent of sample must be in \[0, 1\)"):
        sample(range(3), 0.5, seed=0, round=0, recent=recent)


def test_participants_are_those_with_the_smallest_bits() -> None:
    """Ties in the order of numbers: what every version has drawn."""
    for t in range(20):
        bits = stream(7, purpose="participants", round=t).bits(0, 40).tolist()
        expected = sorted(m for _, m in sorted(zip(bits, range(100, 140), strict=True))[:12])
        assert sample(range(139, 99, -1), 0.3, seed=7, round=t) == expected
