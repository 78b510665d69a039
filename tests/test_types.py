"""Tables, scales, and what changes with the round."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import InputError, UniformTable
from lossyfl.types import (
    Codebook,
    Scale,
    Scaled,
    Steps,
    Table,
    check_scale,
    paper_bits,
    parse_steps,
    read_only,
    symbol_type,
)


@given(q=st.integers(1, 40), twin=st.booleans(), seed=st.integers(0, 10**6))
def test_look_up_is_the_rows(q: int, twin: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = rng.random(7).astype(np.float32) * np.float32(twin)
    high = low + rng.random(7).astype(np.float32)
    table = UniformTable(low=low, high=high, alphabet=2 * q + 1 + twin)
    symbols = rng.integers(0, table.alphabet, 300).astype(np.uint8)
    blocks = rng.integers(0, 7, 300)
    expected = table.rows(0, 7)[blocks, symbols]
    assert np.array_equal(table.look_up(symbols, blocks), expected)


@pytest.mark.parametrize("alphabet", [0, 1, 2, 65_537])
def test_a_uniform_table_without_levels_cannot_be_made(alphabet: int) -> None:
    one = np.ones(1, np.float32)
    with pytest.raises(InputError, match=r"alphabet of UniformTable must be in \[3, 65536\]"):
        UniformTable(low=one, high=one, alphabet=alphabet)


def test_read_only_shares_memory() -> None:
    x = np.ones(3, np.float32)
    view = read_only(x)
    x[0] = 5
    assert view[0] == 5
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1


@given(seed=st.integers(0, 10**6))
def test_scaled_look_up_is_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = Scaled(
        scales=rng.random(7).astype(np.float32), row=rng.normal(size=5).astype(np.float32)
    )
    symbols, blocks = rng.integers(0, 5, 300).astype(np.uint8), rng.integers(0, 7, 300)
    assert np.array_equal(table.look_up(symbols, blocks), table.rows(0, 7)[blocks, symbols])


ROW = np.array([-3, 0, 2], np.float32)


@pytest.mark.parametrize(
    "table",
    [
        UniformTable(low=np.zeros(2, np.float32), high=np.array([1, 6], np.float32), alphabet=3),
        Codebook(values=np.stack([ROW, 2 * ROW])),
        Scaled(scales=np.array([1, 2], np.float32), row=ROW),
    ],
    ids=lambda table: type(table).__name__,
)
def test_a_table_has_a_row_for_each_block(table: Table) -> None:
    rows = table.rows(0, table.blocks)
    assert rows.shape == (2, 3) == (table.blocks, table.alphabet)
    assert np.array_equal(table.rows(1, 2), rows[1:])
    assert table.peak == np.abs(rows).max() == 6


def test_a_peak_beyond_all_floats_is_infinite() -> None:
    largest = np.array([3e38], np.float32)
    assert Scaled(scales=largest, row=largest).peak == np.inf


@pytest.mark.parametrize(
    ("alphabet", "narrow"), [(2, True), (256, True), (257, False), (65_536, False)]
)
def test_symbols_are_bytes_as_long_as_they_fit(alphabet: int, narrow: bool) -> None:
    assert symbol_type(alphabet) is (np.uint8 if narrow else np.uint16)
    assert np.iinfo(symbol_type(alphabet)).max >= alphabet - 1


@pytest.mark.parametrize("scale", ["model", "tensor", 1, 2**32 - 2])
def test_scales_that_can_be(scale: Scale) -> None:
    check_scale(scale, of="x")


@pytest.mark.parametrize("scale", ["layer", 0, -1, 2**32 - 1, True, 1.5, None])
def test_scales_that_cannot(scale: object) -> None:
    with pytest.raises(InputError, match='scale of x must be "model", "tensor" or a block length'):
        check_scale(scale, of="x")


def test_the_papers_count_has_64_bits_for_each_block() -> None:
    """R_Q = 64 + d (1 + log2(q + 1)): with q = 3, three bits an entry."""
    assert paper_bits(1000, 5, 3) == 5 * 64 + 3000


class TestSteps:
    @pytest.mark.parametrize(("round", "value"), [(0, 8), (49, 8), (50, 4), (99, 4), (10**9, 2)])
    def test_a_value_holds_until_the_next(self, round: int, value: int) -> None:
        wrong = InputError("q", of="x", allowed="levels", got="")
        assert parse_steps("8@0/4@50/2@100", int, wrong=wrong).at(round) == value

    @pytest.mark.parametrize(
        ("rounds", "rise"),
        [((0,), True), ((0, 1, 9), True), ((1,), False), ((0, 9, 9), False), ((0, 9, 3), False)],
    )
    def test_every_round_has_one_value(self, rounds: tuple[int, ...], rise: bool) -> None:
        assert Steps(rounds, rounds).rise is rise

    @pytest.mark.parametrize("text", ["", "x", "8@x", "8@0/", "8@0/x@3", "8@0@3"])
    def test_what_cannot_be_read_is_the_owners_error(self, text: str) -> None:
        wrong = InputError("q", of="x", allowed="levels", got=text)
        with pytest.raises(InputError) as caught:
            parse_steps(text, int, wrong=wrong)
        assert caught.value is wrong

    def test_an_error_of_the_value_says_more(self) -> None:
        def picky(said: str) -> int:
            raise InputError("levels", of="picky", allowed="more", got=said)

        wrong = InputError("q", of="x", allowed="levels", got="8@0")
        with pytest.raises(InputError, match="levels of picky must be more, got 8"):
            parse_steps("8@0", picky, wrong=wrong)
