"""All or nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lossyfl.files import disk
from lossyfl.files.atomic import (
    STATE,
    is_temporary,
    open_private,
    private_folder,
    remove_leftovers,
    write_atomically,
)


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def pieces() -> Iterator[bytes]:
        yield b"new"
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, pieces())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    write_atomically(path, [b"ne", memoryview(b"w")])
    assert path.read_bytes() == b"new"


def test_a_mode_holds_whatever_the_umask_and_the_default_follows_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_atomically(tmp_path / "state", [b"x"], mode=STATE)
        os.umask(0o777)
        write_atomically(tmp_path / "strict", [b"x"], mode=STATE)
        os.umask(0o027)
        write_atomically(tmp_path / "result", [b"x"])
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"state": 0o600, "strict": 0o600, "result": 0o640}


def test_the_folder_is_synced_after_the_rename(tmp_path: Path) -> None:
    seen: list[str] = []
    with disk.watched(lambda operation: seen.append(operation.name)):
        write_atomically(tmp_path / "f", [b"new"])
        write_atomically(tmp_path / "f", [b"newer"], durable=False)
    durable, quick = ["create", "write", "sync", "replace", "sync-folder"], ["create", "write"]
    assert seen == [*durable, *quick, "replace"]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of 3.12: the child only writes
def test_what_a_killed_process_left_is_removed_and_what_is_written_is_not(tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        with disk.watched(_killing("replace")):
            write_atomically(tmp_path / "f", [b"half"])
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert [is_temporary(path.name, of="f") for path in tmp_path.iterdir()] == [True]

    def pieces() -> Iterator[bytes]:
        yield b"one"
        write_atomically(tmp_path / "f", [b"another, while the first is being written"])
        yield b" two"

    write_atomically(tmp_path / "f", pieces())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"f": b"one two"}


def test_only_files_of_the_pattern_are_leftovers(tmp_path: Path) -> None:
    link, victim = tmp_path / f".f.{'0' * 16}.tmp", tmp_path / "victim"
    victim.write_text("kept")
    link.symlink_to(victim)
    os.mkfifo(tmp_path / f".f.{'1' * 16}.tmp")
    for name in (f".g.{'0' * 16}.tmp", ".f.tmp", f".f.{'0' * 15}x.tmp"):
        (tmp_path / name).touch()
    before = sorted(tmp_path.iterdir())
    remove_leftovers(tmp_path, of="f")
    assert sorted(tmp_path.iterdir()) == before
    remove_leftovers(tmp_path)
    assert sorted(set(before) - set(tmp_path.iterdir())) == [tmp_path / f".g.{'0' * 16}.tmp"]


def test_a_temporary_name_that_is_taken_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        disk.create(tmp_path / "link")
    write_atomically(tmp_path / "link", [b"x"])
    assert not (tmp_path / "link").is_symlink()
    assert not (tmp_path / "elsewhere").exists()


def test_long_names_leave_room_for_the_temporary_one(tmp_path: Path) -> None:
    for name in ("n" * 255, "ß" * 127):
        write_atomically(tmp_path / name, [b"x"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["n" * 255, "ß" * 127]


def test_private_files_and_folders_are_no_links_and_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    private_folder(tmp_path / "open")
    assert (tmp_path / "open").stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(tmp_path / "open")
    with pytest.raises(OSError, match="link"):
        private_folder(tmp_path / "link")
    os.close(open_private(tmp_path / ".lock"))
    assert (tmp_path / ".lock").stat().st_mode & 0o777 == 0o600
    (tmp_path / "lock").symlink_to(tmp_path / ".lock")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "another").touch()
    os.link(tmp_path / "another", tmp_path / "hard")
    for name in ("lock", "fifo", "hard"):
        with pytest.raises(OSError, match=name):
            open_private(tmp_path / name)


def _killing(name: str) -> disk.Hook:
    """End the process as by a signal, before an operation."""

    def hook(operation: disk.Operation) -> None:
        if operation.name == name:
            os._exit(7)

    return hook
