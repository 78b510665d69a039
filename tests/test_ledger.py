"""Bytes handed over, both ways of adding them up, and the paper's count beside them."""

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import Device, Server, run_round, scheme
from lossyfl.types import Vector

D = 3000


def play(spec: str, rounds: int = 4, devices: int = 5) -> Server:
    chosen = scheme(spec)
    server = Server(laplace(D), chosen, samples=dict.fromkeys(range(devices), 7))
    made = {m: Device(m, chosen) for m in range(devices)}

    def local(m: int, theta_hat: Vector) -> Vector:
        step: Vector = np.float32(0.1) * laplace(D, seed=m)
        return theta_hat + step

    for _ in range(rounds):
        run_round(server, made, local)
    return server


def test_broadcast_counts_once_what_unicast_counts_for_everyone() -> None:
    ledger = play("lfl").ledger
    once, each = ledger.total("down"), ledger.total("down", view="unicast")
    assert each.nbytes == 5 * once.nbytes
    assert (once.frames, each.frames) == (4, 20)
    assert ledger.total("down", round=0).nbytes == 4 * D + 36
    assert ledger.total("up").frames == 20
    initial = ledger.total("down", kinds=("initial",))
    updates = ledger.total("down", kinds=("update",))
    assert initial.nbytes + updates.nbytes == once.nbytes


def test_the_papers_saving_is_its_formula() -> None:
    """33 / (1 + log2(q + 1)) for long vectors: 12.77 for q = 2, by the paper's count."""
    updates = play("lfl:q1=2").ledger.total("down", kinds=("update",))
    expected = 33 * D / (64 + D * (1 + np.log2(3)))
    assert updates.paper_saving == pytest.approx(expected)
    assert updates.saving > updates.paper_saving
    lossless = play("lossless").ledger.total("down")
    assert lossless.paper_saving == 1
    assert lossless.saving < 1  # the header


def test_a_broadcast_as_long_as_the_model_is_still_one_broadcast() -> None:
    ledger = play("lfl:scale=1", rounds=3).ledger
    assert ledger.total("down").frames == 3


def test_real_bytes_are_near_the_entropy() -> None:
    updates = play("lfl:q1=2").ledger.total("down", kinds=("update",))
    overhead = updates.nbytes - updates.entropy_bits / 8
    assert 0 < overhead < updates.frames * 90


def test_eps_of_every_broadcast() -> None:
    ledger = play("lfl").ledger
    assert sorted(ledger.eps) == [1, 2, 3]
    assert all(0 < value < 1 for value in ledger.eps.values())
