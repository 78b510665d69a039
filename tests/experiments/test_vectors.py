"""What quantizers make of a vector, by size."""

from pathlib import Path

import numpy as np
import pytest
from tests.helpers import f32, laplace

from lossyfl import InputError
from lossyfl.experiments.vectors import FIXED, RATES, measure, read
from lossyfl.quantizers import adjustable_names


def test_every_quantizer_at_every_rate_by_size() -> None:
    found = measure(laplace(20_000))
    assert not found.refused
    names = {row.quantizer for row in found.rows}
    adjustable = {f"{name} {rate}" for name in adjustable_names() for rate in RATES}
    assert names == adjustable | set(FIXED)
    sizes = [row.nbytes for row in found.rows]
    assert sizes == sorted(sizes)
    assert all(row.bits == 8 * row.nbytes / 20_000 for row in found.rows)


def test_rates_at_which_a_frame_says_nothing_are_left_out() -> None:
    """0.05 bit for each of 5,000 entries are 31 bytes, no more than a header."""
    rates = {row.quantizer for row in measure(laplace(5000)).rows if row.kind == "deadzone"}
    assert "deadzone 0.05bit" not in rates
    assert "deadzone 1bit" in rates


def test_all_keep_to_a_budget() -> None:
    rows = {row.kind: row for row in measure(laplace(5000), "500B").rows if "500B" in row.quantizer}
    assert rows.keys() == set(adjustable_names())
    assert all(row.nbytes <= 500 for row in rows.values())
    assert rows["deadzone"].nmse < 1


def test_what_a_quantizer_does_not_take_is_said_beside_the_others() -> None:
    found = measure(np.float32(3e37) * laplace(5000), "nmse=0.1")
    assert "entries of Natural must be at most 2^127" in found.refused["natural"]
    assert found.refused.keys().isdisjoint(row.quantizer for row in found.rows)


class TestRead:
    def test_a_vector(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", laplace(7).astype(np.float64))
        assert read(tmp_path / "x.npy").tobytes() == laplace(7).tobytes()

    @pytest.mark.parametrize("wrong", [[1, np.nan], [np.inf]])
    def test_what_is_not_finite_is_refused(self, wrong: list[float], tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", f32(wrong))
        with pytest.raises(InputError, match=r"x\.npy: entry \d of the vector must be finite"):
            read(tmp_path / "x.npy")

    def test_a_pickle_is_not_opened(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.array([object()]), allow_pickle=True)
        with pytest.raises(InputError, match=r"a \.npy file with a vector of finite floats, got"):
            read(tmp_path / "x.npy")

    def test_a_file_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="No such file"):
            read(tmp_path / "x.npy")
