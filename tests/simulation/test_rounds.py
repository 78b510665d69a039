"""The simulator is Algorithm 1 over complete devices, to the bit, whatever happens to replies."""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from lossyfl import Device, InputError, Server, stream
from lossyfl.files import safetensors
from lossyfl.protocol.entries import Entry
from lossyfl.protocol.round import sample
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.results.ledger_file import read
from lossyfl.results.records import Round, read_rounds
from lossyfl.simulation.pool import open_pool
from lossyfl.simulation.rounds import Simulation
from lossyfl.simulation.run import run
from lossyfl.simulation.setup import Setup, prepare
from lossyfl.simulation.store import DeviceStore, create
from lossyfl.tasks.partitions import sizes
from lossyfl.tasks.training import OptimizerMoments, Trainer
from lossyfl.types import Shape, Vector
from lossyfl.wire.shapes import lengths_of

if TYPE_CHECKING:
    from lossyfl.protocol.server import Listen

TINY = "tests.simulation.tiny:make_task"
BASE = Experiment(task=TINY, rounds=8)


def by_hand(setup: Setup, tensors: Sequence[Shape] | None = None) -> tuple[bytes, list[Entry]]:
    """The same rounds with a complete device each, that decodes and settles everything itself."""
    known = setup.tensors if tensors is None else tensors
    chosen = setup.experiment
    listen: Listen = "all" if chosen.listen == "all" else "participants"
    server = Server(
        setup.theta,
        setup.scheme,
        samples=sizes(setup.parts),
        seed=chosen.seed,
        listen=listen,
        tensors=known,
    )
    devices = {
        m: Device(m, setup.scheme, seed=chosen.seed, tensors=known) for m in range(setup.devices)
    }
    trainer = Trainer(setup.task, setup.parts, setup.local, seed=chosen.seed)
    for t in range(setup.rounds):
        away, late = (
            drawn(setup, "drop-out", chosen.drop_out, t),
            drawn(setup, "slow", chosen.slow, t),
        )
        asked = sample(
            server.members,
            chosen.participation,
            seed=chosen.seed,
            round=t,
            recent=chosen.ask_recent,
            held=lambda m: devices[m].held.round,  # as they say themselves
        )
        server.open_round([m for m in asked if not away[m]])
        for m in server.listeners:
            if not away[m]:
                devices[m].receive(server.frames_for(m, devices[m].held))
                assert devices[m].held == server.held
        for m in server.participants:
            theta = trainer.train(m, t, devices[m].estimate.copy(), OptimizerMoments()).theta.copy()
            reply = devices[m].reply(theta)
            if not late[m]:
                server.accept(m, reply)
        server.close_round()
    return server.theta.tobytes(), server.ledger.entries


@pytest.mark.parametrize(
    "spec",
    [
        "lfl",
        "ltgm",
        "lean:down=dithered(step=1),up=dithered(step=1)",
        "lean:down=topk(target=0.5bit),up=natural",
    ],
)
def test_shapes_make_frames_shorter_and_models_no_other(spec: str) -> None:
    setup = prepare(Experiment(task="digits", scheme=spec, rounds=3, devices=4))
    theta, entries = by_hand(setup)
    same, longer = by_hand(setup, lengths_of(setup.tensors))
    assert theta == same
    assert all(a.nbytes <= b.nbytes for a, b in zip(entries, longer, strict=True))
    assert sum(each.nbytes for each in entries) < sum(each.nbytes for each in longer)


def drawn(setup: Setup, purpose: str, probability: float, t: int) -> list[bool]:
    rng = stream(setup.experiment.seed, purpose=purpose, round=t)
    return (rng.bits(0, setup.devices) < probability * 2**32).tolist()


def model(folder: Path) -> bytes:
    return Results(folder).model.read_bytes()


@pytest.mark.parametrize(
    "spec",
    [
        "lossless",
        "lb",
        "lfl",
        "lgm",
        "ltgm",
        "lfl:scale=tensor",
        "lfl:membership=full-model",
        "lean:up_budget=300B,first_budget=200B",
        "lean:down=dithered",
        "lean:down_budget=300B,predict=true",
        "lfl:grid=true",
        "lean:first_budget=200B,down_budget=200B,grid=true",
    ],
)
@pytest.mark.parametrize(
    "faults",
    [
        {},
        {"participation": 0.4},
        {"drop_out": 0.3, "slow": 0.3},
        {"drop_out": 0.2, "slow": 0.2, "participation": 0.5, "listen": "participants"},
        {"drop_out": 0.2, "participation": 0.4, "listen": "participants", "ask_recent": 0.7},
    ],
    ids=["all", "some", "faults", "faults-participants", "recent"],
)
def test_same_as_complete_devices(spec: str, faults: dict[str, float], tmp_path: Path) -> None:
    asked = replace(BASE, scheme=spec, **faults)  # type: ignore[arg-type]
    theta, entries = by_hand(prepare(asked))
    run(asked, tmp_path / "out")
    assert model(tmp_path / "out").endswith(theta)  # the tensors come last, in order
    mine = read(tmp_path / "out" / "ledger.csv").entries
    order = [(e.round, e.direction, e.device) for e in mine]
    assert order == sorted(order)
    assert sorted(map(repr, mine)) == sorted(map(repr, entries))


@pytest.mark.parametrize(
    "settings",
    [
        {"scheme": "lfl"},
        {"scheme": "lossless", "optimizer": "adam:moments=kept", "lr": "0.01"},
        {"scheme": "lb", "optimizer": "adam:moments=shared", "lr": "0.01"},
        {"scheme": "lfl", "optimizer": "adam:moments=carried", "lr": "0.01"},
        {"optimizer": "sgd:momentum=0.9,moments=carried", "slow": 0.3, "participation": 0.6},
        {"scheme": "lgm", "slow": 0.3, "drop_out": 0.2, "participation": 0.6},
        {"participation": 0.4, "ask_recent": 0.7, "listen": "participants", "drop_out": 0.2},
    ],
)
def test_same_result_for_any_number_of_workers(settings: dict[str, str], tmp_path: Path) -> None:
    asked = replace(BASE, **settings)  # type: ignore[arg-type]
    folders = [tmp_path / str(workers) for workers in (1, 2, 3)]
    for workers, folder in enumerate(folders, start=1):
        run(asked, folder, workers=workers)
    for name in ("model.safetensors", "ledger.csv", "config.toml"):
        first, *others = ((folder / name).read_bytes() for folder in folders)
        assert all(other == first for other in others), name
    lines = [[replace(r, seconds=None) for r in rounds(folder)] for folder in folders]  # type: ignore[arg-type]
    assert lines[0] == lines[1] == lines[2]


def rounds(folder: Path) -> list[Round]:
    return read_rounds(folder / "rounds.jsonl")


def entries(folder: Path) -> Vector:
    """The model at the end, its tensors one after the other."""
    tensors = safetensors.read(folder / "model.safetensors").tensors
    return np.concatenate([np.frombuffer(tensor.data, dtype="<f4") for tensor in tensors])


def test_buffers_that_do_not_travel_do_not_leak_from_device_to_device(tmp_path: Path) -> None:
    asked = replace(BASE, task="tests.simulation.tiny:counting", lr="0.05")
    for workers in (1, 2, 3):
        run(asked, tmp_path / str(workers), workers=workers)
    one, two, three = (model(tmp_path / str(workers)) for workers in (1, 2, 3))
    assert one == two == three


def test_seed_decides(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        run(replace(BASE, seed=seed), tmp_path / name)
    a, b, c = (model(tmp_path / name) for name in "abc")
    assert a == b != c


def test_shared_moments_are_the_mean_of_the_devices(tmp_path: Path) -> None:
    """With one device, sharing is keeping."""
    task = f"{TINY}:samples=40"
    base = replace(BASE, task=task, devices=1, partition="iid", lr="0.01")
    for name in ("kept", "shared"):
        run(replace(base, optimizer=f"adam:moments={name}"), tmp_path / name)
    assert model(tmp_path / "kept") == model(tmp_path / "shared")
    base = replace(base, devices=2)
    for name in ("kept", "shared"):
        run(replace(base, optimizer=f"adam:moments={name}"), tmp_path / f"{name}2")
    assert model(tmp_path / "kept2") != model(tmp_path / "shared2")


@pytest.mark.parametrize("participation", [1.0, 0.5])
def test_carried_moments_are_one_optimizer_for_all_devices_in_turn(
    participation: float, tmp_path: Path
) -> None:
    """Against a plain loop over one model and one torch.optim.Adam that nobody resets.

    Line 6 is summed in float64 here and in float32 there: the models differ by roundings only.
    """
    asked = replace(BASE, scheme="lossless", optimizer="adam:eps=1e-7,moments=carried", lr="0.01")
    asked = replace(asked, participation=participation)
    setup = prepare(asked)
    trainer = Trainer(setup.task, setup.parts, setup.local, seed=asked.seed)  # for its batches
    module = setup.task.model()
    parameters = list(module.parameters())
    optimizer = torch.optim.Adam(parameters, lr=0.01, eps=1e-7)
    x, y = torch.from_numpy(setup.task.train.x), torch.from_numpy(setup.task.train.y).long()
    theta = setup.theta.astype(np.float64)
    for t in range(setup.rounds):
        chosen = sample(range(setup.devices), participation, seed=asked.seed, round=t)
        weights = {m: len(setup.parts[m]) for m in chosen}
        total = np.zeros_like(theta)
        for m in sorted(chosen):
            vector_to_parameters(torch.from_numpy(theta.astype(np.float32)), parameters)
            for batch in trainer.batches(m, t):
                optimizer.zero_grad()
                nn.functional.cross_entropy(module(x[batch]), y[batch]).backward()
                optimizer.step()
            trained = parameters_to_vector(parameters).detach().numpy()
            total += weights[m] / sum(weights.values()) * (trained - theta)
        theta = theta + total
    run(asked, tmp_path / "out")
    assert np.allclose(entries(tmp_path / "out"), theta, rtol=0, atol=2e-5)


def test_a_round_without_anyone_changes_nothing(tmp_path: Path) -> None:
    """One device that is always away: 0.999 of 8 rounds, by the seed."""
    asked = replace(BASE, devices=1, partition="iid", drop_out=0.999)
    run(asked, tmp_path / "out")
    records = rounds(tmp_path / "out")
    assert all(record.replies == 0 and record.train_loss is None for record in records)
    assert {record.away for record in records} == {1}
    assert np.all(prepare(asked).theta == 0)
    assert len({record.accuracy for record in records}) == 1


def test_evaluation_now_and_then_and_at_the_end(tmp_path: Path) -> None:
    run(replace(BASE, evaluate_every=3), tmp_path / "out")
    seen = [r.round for r in rounds(tmp_path / "out") if r.accuracy is not None]
    assert seen == [2, 5, 7]
    run(replace(BASE, evaluate_every=3, evaluate_last=4), tmp_path / "last")
    seen = [r.round for r in rounds(tmp_path / "last") if r.accuracy is not None]
    assert seen == [2, 4, 5, 6, 7]


def test_the_model_of_the_devices_can_be_evaluated(tmp_path: Path) -> None:
    """A round later it is the server's, where the downlink loses nothing."""
    exact = replace(BASE, scheme="lossless")
    run(exact, tmp_path / "server")
    run(replace(exact, evaluate="devices"), tmp_path / "devices")
    made, held = rounds(tmp_path / "server"), rounds(tmp_path / "devices")
    assert [r.test_loss for r in held[1:]] == [r.test_loss for r in made[:-1]]
    assert held[-1].test_loss != made[-1].test_loss
    with pytest.raises(
        InputError, match="evaluate of a run must be one of average, devices, server, got us"
    ):
        replace(exact, evaluate="us")


def test_the_average_of_what_devices_held_can_be_evaluated(tmp_path: Path) -> None:
    """It is kept as the model, and follows from the models of shorter runs."""
    held: list[Vector] = []
    for length in (1, 2, 3):
        asked = replace(BASE, evaluate="devices", rounds=length)
        run(asked, tmp_path / f"{length}")
        held.append(entries(tmp_path / f"{length}"))
    run(replace(BASE, evaluate="average", rounds=3), tmp_path / "average")
    expected = 0.64 * held[0] + 0.16 * held[1] + 0.2 * held[2]
    np.testing.assert_allclose(entries(tmp_path / "average"), expected, rtol=1e-5, atol=1e-7)


def test_records_add_up_to_the_ledger(tmp_path: Path) -> None:
    run(replace(BASE, drop_out=0.3, slow=0.3), tmp_path / "out")
    ledger, records = read(tmp_path / "out" / "ledger.csv"), rounds(tmp_path / "out")
    assert sum(r.down.nbytes for r in records) == ledger.total("down").nbytes
    assert sum(r.down.unicast for r in records) == ledger.total("down", view="unicast").nbytes
    assert sum(r.up.nbytes for r in records) == ledger.total("up").nbytes
    for r in records:
        assert r.down.initial + r.down.update + r.down.catch_up == r.down.nbytes
        assert r.late == 0 or r.late_bytes > 0
    assert any(r.late for r in records)
    assert any(r.down.catch_up for r in records)
    assert records[0].eps is None
    assert all(r.eps is not None and r.distance > 0 for r in records[1:])


class TestMeasures:
    """What is written of quantizing, against the definition."""

    @pytest.mark.parametrize("spec", ["lfl", "lgm", "ltgm:q1=5"])
    def test_of_broadcasts(self, spec: str, tmp_path: Path) -> None:
        with made(replace(BASE, scheme=spec), tmp_path) as simulation:
            simulation.run_round()
            server = simulation.server
            theta, before = server.theta, server.state()
            record, _ = simulation.run_round()
            after, estimate = server.state().link, server.estimate
        assert record.model_peak == pytest.approx(np.abs(theta).max() / np.sqrt(np.mean(theta**2)))
        assert record.broadcast is not None
        given, lost = theta, theta - estimate
        if spec == "lgm":
            given, lost = theta + before.link["memory"], after["memory"]
        elif server.scheme.downlink.incremental:
            given = theta - before.estimate
        norm = np.linalg.norm(given)
        assert record.broadcast.norm == pytest.approx(norm, rel=1e-5)
        assert record.broadcast.error == pytest.approx(np.linalg.norm(lost) / norm, rel=1e-4)

    def test_nothing_is_lost_by_exact_links(self, tmp_path: Path) -> None:
        with made(replace(BASE, scheme="lossless"), tmp_path) as simulation:
            records = [simulation.run_round()[0] for _ in range(2)]
        assert all(each.broadcast is None or each.broadcast.error == 0 for each in records)
        assert all(each.reply is not None and each.reply.error == 0 for each in records)
        assert [each.memory for each in records] == [0, 0]

    def test_of_replies(self, tmp_path: Path) -> None:
        with made(replace(BASE, scheme="lb:q2=2"), tmp_path) as simulation:
            record, _ = simulation.run_round()
            store, slots = simulation.store, simulation.slots
            left = [store.read(m, int(slots[m])).uplink["memory"] for m in range(10)]
        kept = np.sqrt(np.mean([float(v @ v) for v in left]))
        assert record.memory == pytest.approx(kept, rel=1e-5)
        assert record.reply is not None
        assert record.memory == pytest.approx(record.reply.error * record.reply.norm, rel=1e-5)
        assert 1 < record.reply.peak < np.sqrt(len(left[0]))


@contextmanager
def made(chosen: Experiment, folder: Path) -> Generator[Simulation]:
    """A simulation in this process."""
    setup = prepare(chosen, None)
    path = folder / "devices.bin"
    create(path, setup.shape)
    with ExitStack() as stack:
        pool = open_pool(setup, path, setup.shape, 1)
        stack.callback(pool.close)
        store = DeviceStore(path, setup.shape)
        stack.callback(store.close)
        yield Simulation(setup, pool, store)
