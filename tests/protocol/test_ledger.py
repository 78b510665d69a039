"""Bytes handed over, both ways of adding them up, and the paper's count beside them."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.helpers import laplace

import lossyfl.protocol.ledger as ledger_module
from lossyfl import Device, InputError, Ledger, Server, run_round, scheme
from lossyfl.files import snapshot
from lossyfl.protocol.entries import Direction, Entry, EntryKind, Total, View
from lossyfl.protocol.ledger import MOST, Sink
from lossyfl.protocol.states import ServerState
from lossyfl.types import Vector

D = 3000


def play(spec: str, rounds: int = 4, devices: int = 5, sink: Sink | None = None) -> Server:
    chosen = scheme(spec)
    server = Server(laplace(D), chosen, samples=dict.fromkeys(range(devices), 7), sink=sink)
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


KINDS: tuple[EntryKind, ...] = ("initial", "update", "catch-up", "reply")


def totals(ledger: Ledger) -> list[Total]:
    """Every sum that can be asked for."""
    some = [kinds for n in range(1, 5) for kinds in itertools.combinations(KINDS, n)]
    directions: tuple[Direction, ...] = ("down", "up")
    views: tuple[View, ...] = ("broadcast", "unicast")
    return [
        ledger.total(direction, view=view, kinds=kinds)
        for direction in directions
        for view in views
        for kinds in [None, *some]
    ]


def entries(rounds: int, rng: np.random.Generator) -> list[Entry]:
    """Updates and catch-ups of a few devices, and replies; sizes that sums of floats keep exact."""
    return [
        Entry(
            round=t,
            direction="up" if kind == "reply" else "down",
            device=int(device),
            kind=kind,
            nbytes=int(rng.integers(50, 60)),
            entries=100,
            paper_bits=float(rng.integers(400)),
            entropy_bits=float(rng.integers(400)),
            frame=int(rng.integers(3)),
        )
        for t in range(rounds)
        for device in rng.integers(5, size=4)
        for kind in rng.choice(np.array(KINDS), size=2).tolist()
    ]


class TestSummary:
    """Rounds of long ago are in sums only; nobody who asks for totals can tell."""

    @pytest.mark.parametrize("seed", range(20))
    def test_totals_stay(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        noted = entries(12, np.random.default_rng(seed))
        expected = totals(Ledger(noted))
        monkeypatch.setattr(ledger_module, "MOST", 20)
        ledger = Ledger()
        for t in range(12):
            ledger.fold(before=t - 1)
            for entry in noted:
                if entry.round == t:
                    ledger.add(entry)
        assert 8 <= len(ledger.entries) <= 20 + 2 * 8
        assert totals(ledger) == expected

    def test_a_hundred_thousand_rounds_in_the_memory_of_few(self) -> None:
        ledger, one = Ledger(), entries(1, np.random.default_rng(0))
        most = 0
        for t in range(100_000):
            ledger.fold(before=t - 1)
            ledger.eps[t] = 0.5
            for entry in one[:2]:
                ledger.add(replace(entry, round=t))
            most = max(most, len(ledger.entries) + len(ledger.eps))
        assert most <= MOST + 9
        assert len(ledger.summary.rows) <= 20
        assert sum(ledger.total(d, view="unicast").frames for d in ("up", "down")) == 200_000

    def test_a_round_that_is_in_sums_only_is_refused(self) -> None:
        handed: list[Ledger] = []
        ledger = Ledger(entries(MOST // 8 + 1, np.random.default_rng(0)), sink=handed.append)
        ledger.fold(before=0)
        assert not handed
        ledger.fold(before=100)
        assert ledger.total("down", round=100).frames
        with pytest.raises(InputError, match=r"round of Ledger must be > 99 .*, got 99"):
            ledger.total("down", round=99)

    def test_whoever_wants_the_lines_gets_each_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ledger_module, "MOST", 20)
        lines: list[Entry] = []
        eps: dict[int, float] = {}

        def keep(folded: Ledger) -> None:
            lines.extend(folded.entries)
            eps.update(folded.eps)

        server = play("lfl", rounds=30, sink=keep)
        state = server.state()
        assert len(state.entries) <= 20 + 2 * 10
        assert len(lines) + len(state.entries) == 30 * 10
        assert [entry.round for entry in lines] == sorted(entry.round for entry in lines)
        assert sorted([*eps, *state.eps]) == list(range(1, 30))
        whole = Ledger([*lines, *state.entries])
        assert whole.total("down").nbytes == server.ledger.total("down").nbytes
        assert whole.total("up").saving == server.ledger.total("up").saving

    def test_saved_and_restored(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(ledger_module, "MOST", 20)
        server = play("lfl", rounds=30)
        snapshot.save(tmp_path / "s", server.state())
        other = play("lfl", rounds=1)
        other.restore(snapshot.load(tmp_path / "s", ServerState))
        assert totals(other.ledger) == totals(server.ledger)
        with pytest.raises(InputError, match="round of Ledger"):
            other.ledger.total("up", round=2)
