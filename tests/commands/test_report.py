"""`lossyfl report`, as a user types it."""

import json
from contextlib import ExitStack
from pathlib import Path

import pytest
import typer
from tests.report.synthetic import record, write
from typer.testing import CliRunner

from lossyfl.commands import report
from lossyfl.commands.spread import spread
from lossyfl.errors import InputError
from lossyfl.results.directory import Results

app = typer.Typer()
app.command()(spread(report.report))


def good(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    if result.exception is not None:
        raise result.exception
    return result.output


def test_everything_at_once(tmp_path: Path) -> None:
    write(tmp_path / "runs" / "a")
    out = tmp_path / "out"
    out.mkdir()
    files = [out / name for name in ("r.html", "r.md", "r.csv", "r.png", "r.svg")]
    said = good(
        tmp_path / "runs", "--out", files[0], "--markdown", files[1], "--csv", files[2],
        "--figure", files[3], "--figure", files[4], "--downlink", "2Mbit", "--title", "Mine",
    )  # fmt: skip
    assert f"1 run in {files[0]}" in said
    assert all(path.stat().st_size > 100 for path in files)
    assert '"downlink":2000000.0' in files[0].read_text()
    assert "<title>Mine</title>" in files[0].read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--downlink", "fast"), "downlink of a report must be a number > 0 with one of bit"),
        (("--uplink", "0kbit"), "uplink of a report"),
        (("--latency", "50"), "latency of a report"),
        (("--out", "none/r.html"), "output of lossyfl must be a file in a folder that exists"),
        (("--out", "r.pdf"), "suffix of the output must be one of .html"),
        (("--figure", "r.gif"), "suffix of the output must be one of .png, .svg, .pdf"),
    ],
)
def test_wrong_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a")
    with pytest.raises(InputError, match=message):
        good(tmp_path / "a", *arguments)
    assert not list(tmp_path.glob("r.*"))


def test_no_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder of a report must be a results directory"):
        good(tmp_path, "--out", tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


def test_watch_ends_with_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "a", rounds=[record(0)], state="running")
    pages: list[str] = []

    def sleep(seconds: float) -> None:
        assert seconds == report.EVERY
        pages.append((tmp_path / "r.html").read_text())
        with (folder / "rounds.jsonl").open("a") as file:
            file.write(record(len(pages)).line())
        if len(pages) == 3:
            (folder / "run.json").write_text(json.dumps({"state": "done"}))
            lock.close()

    lock = ExitStack()
    lock.enter_context(Results(folder).locked())
    monkeypatch.setattr(report.time, "sleep", sleep)
    good(tmp_path / "a", "--out", tmp_path / "r.html", "--watch")
    assert all(f'"rounds":{number},' in page for number, page in enumerate(pages, 1))
    assert all('"reload":3.0' in page for page in pages)
    assert '"reload":null' in (tmp_path / "r.html").read_text()
    assert '"rounds":4,' in (tmp_path / "r.html").read_text()


def test_watch_ends_with_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a", state="running")

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(report.time, "sleep", interrupt)
    with Results(tmp_path / "a").locked():
        said = good(tmp_path / "a", "--out", tmp_path / "r.html", "--watch")
    assert "stopped watching" in said
    assert '"reload":null' in (tmp_path / "r.html").read_text()
