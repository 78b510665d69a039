"""Saved state comes back to the bit, or is refused with the reason."""

from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from typing_extensions import TypeAliasType

from lossyfl import InputError
from lossyfl.files import snapshot
from lossyfl.types import Vector

T = TypeVar("T", bound=np.generic)
Newer = TypeAliasType("Newer", np.ndarray[Any, np.dtype[T]], type_params=(T,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    values: Vector
    frames: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    round: int
    parts: dict[int, Part]
    note: str | None = None


STATE = State(
    round=7,
    parts={
        3: Part(values=np.array([1.5, -0.0, np.inf], dtype=np.float32), frames=(b"", b"\x00\xff")),
        11: Part(values=np.zeros(0, dtype=np.float32), frames=()),
    },
)


@pytest.mark.parametrize("mapped", [False, True])
def test_comes_back_to_the_bit(mapped: bool, tmp_path: Path) -> None:
    path = tmp_path / "state"
    snapshot.save(path, STATE)
    loaded = snapshot.load(path, State, mapped=mapped)
    assert loaded.round == 7
    assert loaded.note is None
    assert list(loaded.parts) == [3, 11]
    for number, part in loaded.parts.items():
        assert part.values.tobytes() == STATE.parts[number].values.tobytes()
        assert part.frames == STATE.parts[number].frames


def test_overwriting_gives_the_same_file(tmp_path: Path) -> None:
    snapshot.save(tmp_path / "saved", STATE)
    snapshot.overwrite(tmp_path / "overwritten", STATE)
    assert (tmp_path / "saved").read_bytes() == (tmp_path / "overwritten").read_bytes()


def test_every_changed_byte_of_the_body_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "state"
    snapshot.save(path, STATE)
    whole = path.read_bytes()
    for at in range(len(whole) - 14, len(whole)):  # 3 floats and 2 bytes
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(InputError, match="must be a whole State, got damaged"):
            snapshot.load(path, State)


def test_another_kind(tmp_path: Path) -> None:
    snapshot.save(tmp_path / "state", STATE)
    with pytest.raises(InputError, match=r"must be .* of Part, got .* of State"):
        snapshot.load(tmp_path / "state", Part)


def test_a_state_of_another_version(tmp_path: Path) -> None:
    """A field that was added since is named: nothing is damaged."""

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Older:
        round: int

    Older.__name__ = "State"
    snapshot.save(tmp_path / "state", Older(round=7))
    with pytest.raises(
        InputError, match="a State of this version of lossyfl, got one without 'parts'"
    ):
        snapshot.load(tmp_path / "state", State)


def test_what_an_older_version_did_not_know_has_its_default(tmp_path: Path) -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Older:
        round: int
        parts: dict[int, Part]

    Older.__name__ = "State"
    snapshot.save(tmp_path / "state", Older(round=7, parts={}))
    assert snapshot.load(tmp_path / "state", State) == State(round=7, parts={})


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be one that exists"):
        snapshot.load(tmp_path / "state", State)


def test_an_array_is_one_by_the_alias_of_a_newer_numpy_too(tmp_path: Path) -> None:
    """NumPy 2.5 has `type NDArray[T] = ...`, which is no ndarray until its value is looked at."""
    newer = make_dataclass("newer", [("x", Newer[np.float32])], frozen=True)
    snapshot.save(tmp_path / "s", newer(np.arange(3, dtype=np.float32)))
    assert snapshot.load(tmp_path / "s", newer).x.tolist() == [0.0, 1.0, 2.0]
