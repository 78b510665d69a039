"""Results directories that anybody may have written: a report is made of them, or our error says why not."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.hostile import TEXTS, changed, damaged, texts
from tests.report.synthetic import SETTINGS, ledger, record, write

from lossyfl import report
from lossyfl.errors import InputError, LossyflError
from lossyfl.report import runs, savings
from lossyfl.report.link import LinkSpeeds
from lossyfl.report.rows import row
from lossyfl.results import ledger_file
from lossyfl.results.directory import Results
from lossyfl.results.experiment import experiment, read_toml
from lossyfl.results.records import read_rounds

NAMES = ("config.toml", "rounds.jsonl", "run.json", "ledger.csv")
ROUND = asdict(record(1))
NUMBERS = (0, -1, 1, 5e-324, 1e100, 1e308, -1e308, float("nan"), float("inf"), 1 << 62)
ABOUT = {"state": "done", "command": "lossyfl run", "machine": {"processor": "abacus"}}
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("results") / "run")


@pytest.fixture(autouse=True)
def as_it_was(folder: Path) -> Iterator[None]:
    before = {name: (folder / name).read_bytes() for name in NAMES}
    yield
    for name, content in before.items():
        (folder / name).write_bytes(content)


def look(folder: Path) -> None:
    """Everything that is ever read of results."""
    for reader in (
        lambda: experiment(read_toml(folder / "config.toml")),
        lambda: read_rounds(folder / "rounds.jsonl"),
        lambda: ledger_file.read(folder / "ledger.csv"),
        Results(folder).state,
    ):
        with suppress(InputError):
            reader()
    with suppress(LossyflError):
        groups = report.group(report.find([folder]))
        link = LinkSpeeds(uplink=1e6, downlink=1e6)
        texts = (
            report.markdown(groups, link=link),
            report.csv_of_groups(groups),
            report.csv_of_rounds(groups),
            report.page(groups, report.Options()),
        )
        assert all(text.encode() for text in texts)
        for way in savings.WORDS:
            savings.points(groups, way)


def put(folder: Path, name: str, text: str) -> None:
    (folder / name).write_bytes(text.encode(errors="surrogatepass"))
    look(folder)


@same_folder
@given(text=texts(ROUND))
def test_rounds(text: str, folder: Path) -> None:
    put(folder, "rounds.jsonl", record(0).line() + text + "\n")


def numbers(record: dict[str, object], at: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The places of all numbers of a round."""
    own = [(*at, name) for name, value in record.items() if not isinstance(value, dict)]
    inner = ((name, value) for name, value in record.items() if isinstance(value, dict))
    return own + [place for name, value in inner for place in numbers(value, (*at, name))]


@settings(same_folder, max_examples=200)
@given(
    place=st.sampled_from(numbers(ROUND)),
    values=st.lists(st.sampled_from(NUMBERS) | st.floats() | st.integers(0, 1 << 63), max_size=3),
)
@example(place=("metrics", "accuracy"), values=[float("nan"), 0.5])
@example(place=("metrics", "accuracy"), values=[1e308, 1e308])
@example(place=("seconds", "total"), values=[1e308, 1e308])
@example(place=("seconds", "total"), values=[float("nan")])
@example(place=("down", "raw"), values=[0])
def test_numbers(place: tuple[str, ...], values: list[float], folder: Path) -> None:
    lines = [record(0).line()]
    for number, value in enumerate(values, start=1):
        changed = asdict(record(number))
        inner = changed if len(place) == 1 else changed[place[0]]
        inner[place[-1]] = value
        lines.append(json.dumps(changed) + "\n")
    put(folder, "rounds.jsonl", "".join(lines))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("down", "raw"), -1),
        (("down", "unicast"), -1),
        (("up", "nbytes"), -1),
        (("up", "entropy"), -0.5),
        (("up", "paper"), -1),
        (("replies",), -1),
        (("late_bytes",), -1),
    ],
)
def test_a_negative_count_is_named_with_its_line(
    place: tuple[str, ...], value: float, folder: Path
) -> None:
    bad = asdict(record(1))
    (bad if len(place) == 1 else bad[place[0]])[place[-1]] = value
    (folder / "rounds.jsonl").write_text(f"{record(0).line()}{json.dumps(bad)}\n")
    wanted = f"line 2 of rounds.jsonl must be a round, got {place[-1]} is {value}"
    with pytest.raises(InputError, match=wanted):
        read_rounds(folder / "rounds.jsonl")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e308"])
def test_a_number_that_no_run_has_is_named_with_its_line(value: str, folder: Path) -> None:
    bad = record(1).line().replace('"total": 0.55', f'"total": {value}')
    (folder / "rounds.jsonl").write_text(record(0).line() + bad)
    with pytest.raises(InputError, match=r"content of line 2 of rounds\.jsonl must be .* total is"):
        report.find([folder])


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e308"])
def test_an_accuracy_that_is_no_number_is_none(value: str, folder: Path) -> None:
    bad = record(1).line().replace('"accuracy": 0.5', f'"accuracy": {value}')
    (folder / "rounds.jsonl").write_text(record(0, accuracy=0.25).line() + bad)
    assert row(report.group(report.find([folder]))[0]).last == 0.25


def test_a_figure_of_savings_without_any_bytes(folder: Path, tmp_path: Path) -> None:
    none = replace(record(1), down=replace(record(1).down, raw=0))
    (folder / "rounds.jsonl").write_text(none.line())
    for x in ("rounds", "bytes", "savings"):
        report.draw(report.group(report.find([folder])), tmp_path / "a.svg", x=x)
    assert (tmp_path / "a.svg").is_file()


@same_folder
@given(text=texts(ABOUT))
def test_about(text: str, folder: Path) -> None:
    put(folder, "run.json", text)


@same_folder
@given(value=changed({"a": 1}), name=st.sampled_from([*asdict(SETTINGS), "other"]))
def test_settings(value: object, name: str, folder: Path) -> None:
    lines = [line for line in SETTINGS.toml().splitlines() if not line.startswith(f"{name} =")]
    put(folder, "config.toml", "\n".join([*lines, f"{name} = {json.dumps(value)}"]))


LEDGERS = damaged(ledger([record(0), record(1)]).encode()) | st.binary(max_size=20)


@same_folder
@given(text=LEDGERS, older=st.booleans())
def test_ledgers(text: bytes, older: bool, folder: Path) -> None:
    if older:
        (folder / "rounds.jsonl").write_text(older_rounds())
    (folder / "ledger.csv").write_bytes(text)
    look(folder)


def older_rounds() -> str:
    """As older versions wrote them on Flower: what was sent to each node is in the ledger only."""
    rounds = (record(number) for number in range(2))
    return "".join(replace(each, down=replace(each.down, carrier=9)).line() for each in rounds)


@pytest.mark.parametrize("name", NAMES)
def test_texts(name: str, folder: Path) -> None:
    whole = (folder / name).read_text()
    for text in (*TEXTS, "\udcff", f"{whole}\x00", whole.replace(",", "\x00,")):
        put(folder, name, text + "\n")


@pytest.mark.parametrize("devices", ["0-99999999999", " ".join(["0-999999"] * 9)])
def test_a_short_ledger_is_no_bomb(devices: str, folder: Path) -> None:
    """Reports count the devices that a line names; with an entry for each it would not end."""
    (folder / "rounds.jsonl").write_text(older_rounds())
    line = f"0,down,update,{devices},1,1,1.0,1.0,7\n"
    (folder / "ledger.csv").write_text(ledger_file.HEADER + 9 * line)
    look(folder)
    first, _ = runs.read(folder).rounds
    last = int(devices.rpartition("-")[2])
    assert first.handed.entries == last + 1  # a model for each device, however often it is named
    with pytest.raises(
        InputError, match=r"devices of ledger\.csv must be at most 1,000,000 in all"
    ):
        ledger_file.read(folder / "ledger.csv")


@pytest.mark.parametrize("column", range(9))
@pytest.mark.parametrize("value", ["9" * 400, "-1", "nan", "inf", "1e308", "x", ""])
def test_a_number_that_no_frame_has_is_refused(column: int, value: str, folder: Path) -> None:
    (folder / "rounds.jsonl").write_text(older_rounds())
    cells: list[str] = ["0", "down", "update", "0-2", "250", "1000", "2640.0", "1600.0", "7"]
    cells[column] = value
    (folder / "ledger.csv").write_text(f"{ledger_file.HEADER}{','.join(cells)}\n")
    look(folder)
    if (column, value) != (3, ""):  # nobody was handed it
        with pytest.raises(InputError):
            ledger_file.read(folder / "ledger.csv")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", ["folder", "loop"])
def test_what_is_no_file(name: str, what: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "run")
    (folder / name).unlink()
    if what == "folder":
        (folder / name).mkdir()
    else:
        (folder / name).symlink_to(folder / name)
    look(folder)
