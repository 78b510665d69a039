"""The strategy inside keeps its own loop and its attributes."""

from pathlib import Path

import pytest
from flwr.app import ArrayRecord, ConfigRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg, FedMedian, Result
from tests.flower.app import NODES, look, make_app, start
from tests.flower.grid import LocalGrid

from lossyfl.flower import LossyStrategy, lossy_mod


class Own(FedMedian):
    """As apps log or keep the best model: Flower's loop, with something around it."""

    seen: ArrayRecord | None = None

    def start(self, grid: Grid, initial_arrays: ArrayRecord, *more: object) -> Result:  # type: ignore[override]
        self.fraction_train = 0.5
        result = super().start(grid, initial_arrays, *more)  # type: ignore[arg-type]
        self.seen = result.arrays
        return result


class Loop(FedAvg):
    """A loop of its own, step by step."""

    rounds = 0

    def start(self, grid: Grid, initial_arrays: ArrayRecord, *more: object) -> Result:  # type: ignore[override]
        arrays, _ = initial_arrays, more
        for number in (1, 2):
            messages = self.configure_train(number, arrays, ConfigRecord(), grid)
            made, _ = self.aggregate_train(number, grid.send_and_receive(messages))
            arrays = made or arrays
            self.rounds += 1
        return Result(arrays=arrays)


def test_its_own_start_is_called_and_frames_travel(tmp_path: Path) -> None:
    own = Own(fraction_evaluate=0.0, min_available_nodes=NODES)
    lossy = LossyStrategy(own)
    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
    result = lossy.start(grid, start(), 3, evaluate_fn=look)
    assert own.seen is result.arrays
    assert [each.replies for each in lossy.rounds] == [NODES // 2] * 3
    assert own.configure_train.__self__ is own  # its steps are its own again


def test_its_own_loop_is_run(tmp_path: Path) -> None:
    lossy = LossyStrategy(Loop(fraction_evaluate=0.0, min_available_nodes=NODES))
    lossy.start(LocalGrid(make_app(lossy_mod), NODES, tmp_path), start(), 9)
    assert lossy.rounds[0].replies == NODES
    assert (lossy.inner.rounds, len(lossy.rounds)) == (2, 2)  # type: ignore[attr-defined]


class TestAttributes:
    def test_are_read_and_set_through_the_wrapper(self) -> None:
        inner = FedAvg(fraction_train=0.5)
        lossy = LossyStrategy(inner)
        assert lossy.fraction_train == 0.5
        lossy.fraction_train = 0.25
        assert inner.fraction_train == 0.25

    def test_of_the_wrapper_stay_its_own(self) -> None:
        lossy = LossyStrategy(FedAvg())
        lossy.seed, lossy.mine = 7, 8
        assert not hasattr(lossy.inner, "seed")
        assert not hasattr(lossy.inner, "mine")

    def test_that_nobody_has(self) -> None:
        with pytest.raises(AttributeError, match="fraction_trian"):
            _ = LossyStrategy(FedAvg()).fraction_trian
