"""One grammar for errors."""

import pytest

from lossyfl import FrameError, InputError, LossyflError, MissingExtra
from lossyfl.errors import DiskError, one_of


def test_input_error_says_what_owner_allowed_and_got() -> None:
    error = InputError("levels", of="Stochastic", allowed="an int >= 1", got=0)
    assert str(error) == "levels of Stochastic must be an int >= 1, got 0"


def test_what_a_file_says_moves_no_cursor_and_fills_no_screen() -> None:
    error = InputError("x\x07", of="f", allowed="y", got="\x1b]0;title\ud800" + "z" * 10**6)
    assert str(error).startswith("x\\x07 of f must be y, got \\x1b]0;title\\ud800zz")
    assert len(str(error)) < 2100


def test_frame_error_knows_its_offset() -> None:
    error = FrameError(7, "a lamp", "a fish")
    assert str(error) == "bad frame at byte 7: expected a lamp, got a fish"
    assert (error.offset, error.expected) == (7, "a lamp")


def test_missing_extra_is_a_command() -> None:
    assert "pip install 'lossyfl[bench]'" in str(MissingExtra("zstandard", extra="bench"))


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (InputError, ValueError),
        (FrameError, ValueError),
        (MissingExtra, ImportError),
        (DiskError, OSError),
    ],
)
def test_the_tree(kind: type, base: type) -> None:
    assert issubclass(kind, LossyflError)
    assert issubclass(kind, base)


def test_nearest_name_is_suggested_only_when_near() -> None:
    assert one_of(["alpha", "beta"], "alpa").endswith("(did you mean alpha?)")
    assert one_of(["alpha", "beta"], "zzz") == "one of alpha, beta"
