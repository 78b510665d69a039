"""What a strategy carries from round to round is saved by name, and put back to the bit."""

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord
from flwr.serverapp.strategy import DifferentialPrivacyServerSideAdaptiveClipping, FedAdam, FedAvgM

from lossyfl.adapters.saved import Kept, keep
from lossyfl.errors import InputError
from lossyfl.flower.inner_state import read_inner, restore_inner


def test_moments_and_numbers_there_and_back() -> None:
    one, other = FedAdam(eta=0.5), FedAdam(eta=0.5)
    one.m_t = {"w": np.array([1.5, -2.0])}
    one.current_arrays = {"w": np.ones(3, np.float32)}
    restore_inner(other, read_inner(one))
    assert other.m_t["w"].tobytes() == one.m_t["w"].tobytes()
    assert read_inner(other) == read_inner(one)


def test_records_and_lists_there_and_back() -> None:
    one, other = FedAvgM(), FedAvgM()
    one.current_arrays = ArrayRecord({"w": Array(np.ones(3, np.float32))})
    one.velocity = [np.array(2.5), np.zeros((2, 2))]
    restore_inner(other, read_inner(one))
    assert other.current_arrays["w"].numpy().tolist() == [1, 1, 1]
    assert [own.shape for own in other.velocity] == [(), (2, 2)]


def test_also_of_a_strategy_inside() -> None:
    def wrapped() -> DifferentialPrivacyServerSideAdaptiveClipping:
        return DifferentialPrivacyServerSideAdaptiveClipping(FedAdam(eta=0.5), 0.5, 10)

    one, other = wrapped(), wrapped()
    one.strategy.m_t, one.clipping_norm = {"w": np.ones(2)}, 0.75
    restore_inner(other, read_inner(one))
    assert other.clipping_norm == 0.75
    assert other.strategy.m_t["w"].tolist() == [1, 1]


def test_settings_are_those_of_the_checkpoint(caplog: pytest.LogCaptureFixture) -> None:
    restore_inner(other := FedAdam(eta=0.1), read_inner(FedAdam(eta=0.5)))
    assert other.eta == 0.5
    assert "eta of FedAdam is 0.5 as in the checkpoint, not 0.1" in caplog.text


@pytest.mark.parametrize("path", ["__class__", "start", "a b", "none.eta", "eta.real"])
def test_a_file_names_no_attribute_that_is_none(path: str) -> None:
    kept = keep(path, "number", "", np.asarray(0.5))
    with pytest.raises(InputError, match="attribute of a checkpoint must be one of FedAdam"):
        restore_inner(FedAdam(), (kept,))


def test_a_number_is_one_number() -> None:
    kept: Kept = keep("eta", "number", "", np.zeros(2))
    with pytest.raises(InputError, match="eta of a checkpoint must be one number"):
        restore_inner(FedAdam(), (kept,))
