"""What a device remembers is whole or nothing, and nobody else's."""

import logging
import os
import stat
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from lossyfl.adapters.folders import KEEP
from lossyfl.adapters.remembered import Remembered
from lossyfl.adapters.store import CURRENT, SLOTS, InUse, Store
from lossyfl.errors import InputError
from lossyfl.files.disk import Operation, watched
from lossyfl.protocol.states import DeviceState

TRAINING = "b" * 16
LAYOUT = '[["w", "float32", [9]], ["n", "int64", []]]'
STATE = Remembered(
    scheme="lb",
    layout=LAYOUT,
    names=("n",),
    dtypes=("int64",),
    stypes=("numpy.ndarray",),
    shapes=("",),
    arrays=(b"x" * 20,),
    device=DeviceState(
        round=3,
        estimate=np.arange(9, dtype=np.float32),
        uplink={"memory": np.ones(9, np.float32)},
        replied=3,
        reply=b"frame",
    ),
)


@pytest.fixture
def store(tmp_path: Path) -> Generator[Store]:
    store = Store(tmp_path, TRAINING, 0)
    with store.locked():
        store.save(STATE)
        yield store


def same(one: Remembered, other: Remembered) -> bool:
    return str(one) == str(other)


class TestDamage:
    def test_of_any_bit_is_noticed(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        """All bits where it is deep, else one of each byte."""
        monkeypatch.setattr(logging.getLogger("lossyfl"), "disabled", True)
        deep = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
        assert same(store.load("lb"), STATE)
        for path in (store.path, store.folder / CURRENT):
            whole = path.read_bytes()
            for bit in range(0, 8 * len(whole), 1 if deep else 9):
                damaged = bytearray(whole)
                damaged[bit // 8] ^= 1 << bit % 8
                path.write_bytes(damaged)
                found = store.load("lb")
                assert found.layout == "" or same(found, STATE), f"bit {bit} of {path.name}"
                tensors = len(whole) - bit // 8 <= 4 * 18 + 20 + 5
                assert not (tensors and found.layout), f"bit {bit} of {path.name}"
            path.write_bytes(whole)
        assert same(store.load("lb"), STATE)

    def test_is_in_the_log(self, store: Store, caplog: pytest.LogCaptureFixture) -> None:
        store.path.write_bytes(store.path.read_bytes()[:-3])
        assert store.load("lb").layout == ""
        assert "the device begins anew" in caplog.text

    @pytest.mark.parametrize(
        "change",
        [
            {"layout": "[["},
            {"layout": '[["w", "float32", [-1]]]'},
            {"layout": ""},
            {"layout": 7},
            {"scheme": 7},
            {"names": ()},
            {"names": (3,)},
            {"shapes": ("x",)},
            {"device": DeviceState(round=cast("int", "3"), estimate=np.ones(9, np.float32))},
            {"device": DeviceState(round=1 << 70, estimate=np.ones(9, np.float32))},
        ],
    )
    def test_malformed_content_is_as_good_as_none(
        self, change: dict[str, Any], store: Store
    ) -> None:
        store.save(replace(STATE, **change))
        assert store.load("lb").layout == ""

    @pytest.mark.parametrize(
        "content", [b"", b"\0" * 7, b"\xff" * 99, b"\5" + b"\0" * 7 + b"[[[[[", b"PK\3\4" * 40]
    )
    def test_foreign_files_are_as_good_as_none(self, content: bytes, store: Store) -> None:
        for name in SLOTS:
            (store.folder / name).write_bytes(content)
        assert store.load("lb").layout == ""
        store.save(STATE)
        assert same(store.load("lb"), STATE)
        (store.folder / CURRENT).write_bytes(content)
        assert store.load("lb").layout == ""
        store.save(STATE)
        assert same(store.load("lb"), STATE)


class Killed(BaseException):
    """The process ends here."""


def interrupt(at: int, error: BaseException) -> tuple[Callable[[Operation], None], list[Operation]]:
    """A hook that lets half of a write happen at the n-th operation, and no more."""
    done: list[Operation] = []

    def hook(operation: Operation) -> None:
        done.append(operation)
        if len(done) == at:
            if operation.name == "write":
                os.write(operation.fd, operation.data[: len(operation.data) // 2])
            raise error

    return hook, done


class TestCrash:
    @pytest.mark.parametrize("before", [0, 1, 2])
    @pytest.mark.parametrize("error", [Killed(), OSError(28, "No space left on device")])
    def test_at_any_step_leaves_the_old_state_or_the_new(
        self, error: BaseException, before: int, tmp_path: Path
    ) -> None:
        """After none, one and two saves: new files, one new file, files that are written over."""
        new = replace(STATE, device=DeviceState(round=4, estimate=np.ones(9, np.float32)))
        old = STATE if before else Remembered(scheme="lb")
        at, last = 0, 1
        while at < last:
            at += 1
            store = Store(tmp_path / str(at), TRAINING, 0)
            with store.locked():
                for _ in range(before):
                    store.save(STATE)
            hook, done = interrupt(at, error)
            shown = InputError if isinstance(error, OSError) else Killed
            with watched(hook), suppress(shown), store.locked():
                store.save(new)
            last = len(done) if len(done) < at else at + 1
            with store.locked():
                found = store.load("lb")
                assert same(found, old) or same(found, new), f"step {at}, {done[-1].name}"
                store.save(new)
                assert same(store.load("lb"), new)
            assert not list(store.folder.glob("*.tmp"))
        assert at > 8  # folders, the lock, the pieces of a file, its end, the pointer


class TestPrivacy:
    @pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
    def test_files_are_the_owners_whatever_the_umask(self, mask: int, tmp_path: Path) -> None:
        before = os.umask(mask)
        try:
            store = Store(tmp_path / "root", TRAINING, 0)
            with store.locked():
                for _ in range(3):
                    store.save(STATE)
        finally:
            os.umask(before)
        modes = {
            path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "root").rglob("*")
        }
        files = dict.fromkeys([*SLOTS, CURRENT, ".lock"], 0o600)
        assert modes == {TRAINING: 0o700, "0": 0o700, **files}

    def test_files_of_an_older_version_become_the_owners(self, tmp_path: Path) -> None:
        folder = tmp_path / TRAINING / "0"
        folder.mkdir(parents=True)
        for name in (*SLOTS, CURRENT, ".lock"):
            (folder / name).touch()
            (folder / name).chmod(0o644)
        store = Store(tmp_path, TRAINING, 0)
        with store.locked():
            store.save(STATE)
            store.save(STATE)
        assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    def test_a_folder_that_was_there_keeps_its_mode(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o755)
        with Store(tmp_path, TRAINING, 0).locked():
            assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755

    @pytest.mark.parametrize("name", [".lock", CURRENT, *SLOTS])
    @pytest.mark.parametrize("kind", ["link", "dangling", "folder", "fifo"])
    def test_links_are_refused_and_not_followed(self, name: str, kind: str, tmp_path: Path) -> None:
        victim, store = tmp_path / "victim", Store(tmp_path / "root", TRAINING, 0)
        with store.locked():
            store.save(STATE)
            store.save(STATE)
        path = store.folder / name
        path.unlink()
        make: dict[str, Callable[[], object]] = {
            "link": lambda: (victim.write_text("mine"), path.symlink_to(victim)),
            "dangling": lambda: path.symlink_to(victim),
            "folder": path.mkdir,
            "fifo": lambda: os.mkfifo(path),
        }
        make[kind]()
        with pytest.raises(InputError, match=r"state of a device must be .* no links"):
            use_twice(store)
        assert not victim.exists() or victim.read_text() == "mine"

    def test_a_folder_that_is_a_link_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / TRAINING).symlink_to(tmp_path / "elsewhere")
        with (
            pytest.raises(InputError, match="no links in it"),
            Store(tmp_path, TRAINING, 0).locked(),
        ):
            pass
        assert not list((tmp_path / "elsewhere").iterdir())


def use_twice(store: Store) -> None:
    """As two messages do: both files are written."""
    for _ in range(2):
        with store.locked():
            store.load("lb")
            store.save(STATE)


def test_sweeps_old_trainings_and_nothing_else(tmp_path: Path) -> None:
    old, other = tmp_path / ("a" * 16), tmp_path / "photos"
    (old / "0").mkdir(parents=True)
    (old / "0/.lock").touch()
    other.mkdir()
    for folder in (old, old / "0/.lock", other):
        os.utime(folder, (0, time.time() - 2 * KEEP))
    with Store(tmp_path, TRAINING, 0).locked():
        pass
    assert not old.exists()
    assert other.exists()


def test_one_process_at_a_time(tmp_path: Path) -> None:
    store = Store(tmp_path, TRAINING, 0)
    with (
        store.locked(),
        pytest.raises(InUse, match="give each its own number"),
        store.locked(),
    ):
        pass
