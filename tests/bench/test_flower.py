"""Flower's peer: what cannot be measured is skipped with a reason, and nothing is left running."""

import os
import select
import sys
from pathlib import Path

import pytest

from lossyfl.bench import flower
from lossyfl.bench.flower import Failed, Peer, Report, Skipped, Work
from lossyfl.bench.flower_peer import Clock
from lossyfl.data.sources.source import SourceError

LINE = 'PEER {"launch": 4.0, "first": 6.0, "later": [0.5, 1.0, 0.75]}'


def _measure(rounds: int = 4) -> Peer | Skipped:
    return flower.measure("digits", 4, 1, 4, rounds, 1)


def _replace_peer(monkeypatch: pytest.MonkeyPatch, *program: str) -> None:
    """Have `measure` run another program."""

    def command(work: Work, rounds: int, cpus: int, folder: Path | None) -> list[str]:  # noqa: ARG001
        return list(program)

    monkeypatch.setattr(flower, "packages", lambda: None)
    monkeypatch.setattr(flower, "command", command)


def _no_flower(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr(flower, "find_spec", lambda name: None)  # noqa: ARG005


def test_pip_that_fails_is_a_reason_to_skip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], folder: Path) -> None:
        Path(command[command.index("--target") + 1]).mkdir()
        assert folder.is_dir()
        raise SourceError("ERROR: No matching distribution\nfound")

    _no_flower(monkeypatch, tmp_path)
    monkeypatch.setattr(flower, "run", run)
    assert _measure() == Skipped(reason="ERROR: No matching distribution found")
    assert list((tmp_path / "lossyfl").iterdir()) == []  # nothing half done


def test_a_cache_that_cannot_be_written_is_a_reason_to_skip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lossyfl").write_text("a file where the folder should be")
    _no_flower(monkeypatch, tmp_path)
    result = _measure()
    assert isinstance(result, Skipped)
    assert "lossyfl" in result.reason


def test_packages_are_installed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []

    def run(command: list[str], folder: Path) -> None:  # noqa: ARG001
        calls.append(command)
        target = Path(command[command.index("--target") + 1])
        target.mkdir()
        (target / "flwr").touch()

    _no_flower(monkeypatch, tmp_path)
    monkeypatch.setattr(flower, "run", run)
    first, second = flower.packages(), flower.packages()
    assert first == second
    assert first is not None
    assert (first / "flwr").exists()
    assert len(calls) == 1
    assert list((tmp_path / "lossyfl").iterdir()) == [first]


def test_installed_packages_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flower, "find_spec", lambda name: name)
    assert flower.packages() is None


def test_start_up_is_round_1_without_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """4.0 until round 1, 6.0 of round 1, less 0.75, the median of later rounds: 9.25."""
    _replace_peer(monkeypatch, sys.executable, "-c", f"print('noise'); print('{LINE}')")
    assert _measure() == Peer(start_up=9.25, seconds=(0.5, 1.0, 0.75))


def test_line_is_found_among_others() -> None:
    expected = Report(launch=4.0, first=6.0, later=(0.5, 1.0, 0.75))
    assert flower.parse(f"a PEER of ours\n{LINE}\nend\n") == expected


@pytest.mark.parametrize(
    "output",
    [
        "",
        f"{LINE}\n{LINE}",
        "PEER {",
        "PEER []",
        "PEER {}",
        LINE.replace("4.0", "null"),
        LINE.replace("4.0", '"x"'),
        'PEER {"launch": 1, "first": 1, "later": []}',
    ],
)
def test_output_without_one_good_line_fails(output: str) -> None:
    with pytest.raises(Failed, match="the peer gave"):
        flower.parse(output)


def test_crash_is_skipped_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_peer(monkeypatch, sys.executable, "-c", "print('x'); raise OSError('no   luck')")
    assert _measure() == Skipped(reason="OSError: no luck")


def test_silent_crash_is_skipped_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_peer(monkeypatch, "sh", "-c", "exit 7")
    assert _measure() == Skipped(reason="exit code 7")


def test_program_that_is_not_there_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_peer(monkeypatch, "/nowhere/python")
    result = _measure()
    assert isinstance(result, Skipped)
    assert "/nowhere/python" in result.reason


def test_peer_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    _replace_peer(monkeypatch, "sleep", "60")
    monkeypatch.setattr(flower, "SECONDS", 0.1)
    assert _measure() == Skipped(reason="no end within 0.1 s")


def test_what_the_peer_has_started_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child holds one end of a FIFO: the other end can be read, to nothing, when it is gone."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    end = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        _replace_peer(monkeypatch, "sh", "-c", f"exec 3>{fifo}; sleep 60 & exit 3")
        assert _measure() == Skipped(reason="exit code 3")
        assert select.select([end], [], [], 10)[0] == [end]
    finally:
        os.close(end)


def test_one_round_is_start_up_only() -> None:
    assert isinstance(_measure(rounds=1), Skipped)


def test_command_names_the_folder_only_if_there_is_one() -> None:
    work = Work(task="digits", devices=4, tau=1, batch=4)
    bare = flower.command(work, 3, 2, None)
    full = flower.command(work, 3, 2, Path("/somewhere"))
    assert bare[1:7] == ["-m", "lossyfl.bench.flower_peer", "--task", "digits", "--devices", "4"]
    assert "--packages" not in bare
    assert full[-2:] == ["--packages", "/somewhere"]


def test_clock_tells_the_launch_the_first_and_later_rounds() -> None:
    clock = Clock(began=[10.0, 15.0, 16.0], ended=[14.0, 15.5, 16.25])
    assert clock.report(7.0) == Report(launch=3.0, first=4.0, later=(0.5, 0.25))
