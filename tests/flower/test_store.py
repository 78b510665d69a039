"""Damage to what a node keeps costs a round at most, and never moves the model."""

from pathlib import Path

import pytest
from flwr.serverapp.strategy import FedAvg
from tests.flower.app import make_app, start
from tests.flower.grid import LocalGrid

from lossyfl.adapters.remembered import Remembered
from lossyfl.adapters.store import Store
from lossyfl.files import snapshot
from lossyfl.flower import LossyStrategy, lossy_mod
from lossyfl.protocol.states import DeviceState


class TestDamage:
    @pytest.mark.parametrize("spec", ["lfl:q1=8,q2=8", "lossless", "lb", "ltgm:q1=64"])
    def test_does_not_move_the_model(self, spec: str, tmp_path: Path) -> None:
        """All devices hold the server's estimate after a bit of one was flipped."""
        lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0), spec)
        grid = LocalGrid(make_app(lossy_mod), 3, tmp_path)

        broadcast: list[bytes] = []

        def flip(_: object, node: int) -> None:
            broadcast.append(lossy.server.estimate.tobytes())
            if node == 1000 and lossy.server.round == 1:
                (pointer,) = tmp_path.glob("*/0/current")
                path = pointer.with_name(pointer.read_text().split()[0])
                data = bytearray(path.read_bytes())
                data[-1000] ^= 64
                path.write_bytes(data)

        grid.change = flip
        lossy.start(grid, start(), num_rounds=5)
        assert [r.replies for r in lossy.rounds] == [3, 3, 2, 3, 3]
        held = {
            snapshot.load(
                path.with_name(path.read_text().split()[0]), Remembered
            ).device.estimate.tobytes()
            for path in tmp_path.glob("*/*/current")
        }
        assert held == {broadcast[-1]}

    def test_of_the_content_is_over_with_the_next_message(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """A file that is whole but senseless fails one round, not all later ones."""
        lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0))
        grid = LocalGrid(make_app(lossy_mod), 3, tmp_path)

        def spoil(_: object, node: int) -> None:
            if node == 1000 and lossy.server.round == 1:
                (pointer,) = tmp_path.glob("*/0/current")
                store = Store(tmp_path, pointer.parts[-3], 0)
                found = store.load(lossy.spec)
                device = DeviceState(round=2, estimate=found.device.estimate[:5].copy())
                fields = {name: getattr(found, name) for name in Remembered.__slots__}
                store.save(Remembered(**fields | {"device": device}))

        grid.change = spoil
        lossy.start(grid, start(), num_rounds=5)
        assert [r.replies for r in lossy.rounds] == [3, 3, 2, 3, 3]
        assert "begins anew" in caplog.text
