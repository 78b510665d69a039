"""What of a model is no weight, by name and by form."""

from collections.abc import Callable

import numpy as np
import pytest
from torch import nn

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.exact import check_exact
from lossyfl.adapters.layout import layout_of
from lossyfl.adapters.statistics import is_statistic
from lossyfl.errors import InputError


@pytest.mark.parametrize(
    "name",
    [
        "layer1.0.bn1.running_mean",
        "running_var",
        "batch_normalization_3/moving_variance:0",
        "sequential/bn/moving_mean",
        "batch_stats.BatchNorm_0.var",
        "bn._variance",
        "conv.parametrizations.weight.0._u",
        "conv.activation_post_process.min_val",
        "conv.weight_fake_quant.scale",
    ],
)
def test_statistics_of_all_frameworks_are_known_by_name(name: str) -> None:
    assert is_statistic(name)


@pytest.mark.parametrize("name", ["bn.weight", "mean", "u", "0", "", "running_mean.weight"])
def test_weights_are_no_statistics(name: str) -> None:
    assert not is_statistic(name)


MODULES: dict[str, Callable[[], nn.Module]] = {
    "BatchNorm1d": lambda: nn.BatchNorm1d(4),
    "BatchNorm2d": lambda: nn.BatchNorm2d(4, affine=False),
    "BatchNorm3d": lambda: nn.BatchNorm3d(4).double(),
    "SyncBatchNorm": lambda: nn.SyncBatchNorm(4),
    "InstanceNorm": lambda: nn.InstanceNorm2d(4, affine=True, track_running_stats=True),
    "LayerNorm": lambda: nn.LayerNorm(4),
    "spectral_norm": lambda: nn.utils.parametrizations.spectral_norm(nn.Conv2d(4, 4, 3)),
    "old spectral_norm": lambda: nn.utils.spectral_norm(nn.Linear(4, 4)),
    "weight_norm": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)),
    "old weight_norm": lambda: nn.utils.weight_norm(nn.Linear(4, 4)),
}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", MODULES)
def test_what_torch_trains_is_in_the_vector_and_nothing_else(name: str) -> None:
    model = nn.ModuleList([nn.Linear(2, 2), MODULES[name]()])
    layout = layout_of({name: Array.of(own.numpy()) for name, own in model.state_dict().items()})
    trained = {name for name, _ in model.named_parameters()}
    assert {slot.name for slot in layout.slots if slot.in_vector} == trained


def test_a_count_of_batches_may_be_a_float() -> None:
    model = {"w": Array.of(_zeros(4)), "bn.num_batches_tracked": Array.of(np.array(3, np.float32))}
    assert layout_of(model).tensors == ((4,),)


class TestNamedByTheUser:
    @pytest.fixture
    def model(self) -> dict[str, Array]:
        return {name: Array.of(_zeros(4)) for name in ("w", "ema.a", "ema.b")}

    def test_patterns_say_what_else_travels_exactly(self, model: dict[str, Array]) -> None:
        layout = layout_of(model, ["ema.*"])
        assert [slot.name for slot in layout.statistics] == ["ema.a", "ema.b"]

    def test_a_pattern_that_names_nothing(self, model: dict[str, Array]) -> None:
        with pytest.raises(InputError, match="exact of a model must be names of arrays"):
            layout_of(model, ["emma.*"])


@pytest.mark.parametrize("of", ["the model", "the reply"])
def test_a_variance_below_zero_is_refused(of: str) -> None:
    layout = layout_of({"w": Array.of(_zeros(4)), "bn.running_var": Array.of(_zeros(2))})
    with pytest.raises(InputError, match=f"running_var of {of} must be not below zero, got -0.5"):
        check_exact({"bn.running_var": Array.of(np.array([1, -0.5], np.float32))}, layout, of=of)


def _exact(*arrays: np.ndarray) -> list[str]:
    layout = layout_of({str(place): Array.of(own) for place, own in enumerate(arrays)})
    return [slot.name for slot in layout.slots if not slot.in_vector]


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


class TestWithoutNames:
    KERNEL = (8, 8, 3, 3)

    def test_a_batch_norm_shows_by_its_form(self) -> None:
        """Kernel, bias; gamma, beta, mean, variance, count; kernel of the next."""
        row = [_zeros(8) for _ in range(5)]
        model = [_zeros(*self.KERNEL), *row, np.array(3), _zeros(*self.KERNEL)]
        assert _exact(*model) == ["4", "5", "6"]

    def test_biases_are_weights(self) -> None:
        assert _exact(_zeros(64, 32), _zeros(32), _zeros(32, 10), _zeros(10)) == []

    def test_two_long_vectors_are_no_statistics(self) -> None:
        assert _exact(_zeros(1000), _zeros(1000)) == []


def test_a_model_of_statistics_alone_is_one_of_weights() -> None:
    layout = layout_of({"bn.running_mean": Array.of(_zeros(4))})
    assert layout.tensors == ((4,),)
