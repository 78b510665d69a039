"""What commands put out, on a terminal that obeys what it is sent."""

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.experiments.test_bound_report import outcome
from tests.helpers import laplace
from tests.report.synthetic import SETTINGS, record

from benchmarks import peer
from benchmarks.deployment.federation import Seen
from benchmarks.flower import Skipped
from lossyfl import Stochastic, cli, encode, inspect, stream
from lossyfl.commands import bound, codec, data, program, trials, tune
from lossyfl.commands.board import Board
from lossyfl.commands.output import console, echo
from lossyfl.commands.progress import Live, PlainLines
from lossyfl.commands.table import show
from lossyfl.commands.terminal import Terminal
from lossyfl.data import status as data_status
from lossyfl.errors import Caution, DiskError, Stopped
from lossyfl.experiments.bound_settings import Grid
from lossyfl.experiments.choice import choice
from lossyfl.experiments.compare import Planned
from lossyfl.experiments.side_by_side import Begun, Ended
from lossyfl.experiments.trials import Trial
from lossyfl.experiments.tune import Question, SearchResult
from lossyfl.experiments.vectors import CodedVector
from lossyfl.report.groups import Group
from lossyfl.report.runs import About, Run
from lossyfl.report.text_table import TextTable
from lossyfl.results.experiment import Experiment
from scripts import deploy_demo

SOURCES = Path(cli.__file__).parent
EVIL = "\x1b]0;title\x07\x1b[2J[red]x[/]"
SPELLED = "\\x1b]0;title\\x07\\x1b[2J[red]x[/]"


def test_a_line_is_only_shown(capsys: pytest.CaptureFixture[str]) -> None:
    echo(EVIL)
    echo(f"{EVIL}\n{EVIL}", err=True)
    said = capsys.readouterr()
    assert said.out == f"{SPELLED}\n"
    assert said.err == f"{SPELLED}\n{SPELLED}\n"


@pytest.mark.parametrize("error", [DiskError(EVIL), Stopped(EVIL)])
def test_errors_of_all_kinds_are_only_shown(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        warnings.warn(Caution(EVIL), stacklevel=1)
        raise error

    monkeypatch.setattr(program, "app", fail)
    monkeypatch.setattr(program, "_leave_out_others", lambda _: None)
    monkeypatch.setattr(program, "_said", set[str]())
    monkeypatch.setattr(program.signal, "signal", lambda *_: None)
    with warnings.catch_warnings(action="always"), pytest.raises(SystemExit):
        cli.main()
    said = capsys.readouterr().err
    assert said == f"lossyfl: caution: {SPELLED}\nlossyfl: {SPELLED}\n"


def test_progress_is_only_shown() -> None:
    plain, live = StringIO(), StringIO()
    PlainLines(Console(file=plain)).say(EVIL)
    assert plain.getvalue() == f"{SPELLED}\n"
    display = Live(Console(file=live, force_terminal=True, width=100))
    display.preparing(EVIL)
    display.say(EVIL)
    display.ended()
    assert live.getvalue().count(SPELLED) >= 2
    assert "\x1b]" not in live.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_a_board_is_only_shown(terminal: bool, tmp_path: Path) -> None:
    text = StringIO()
    planned = [Planned(experiment=Experiment(scheme=EVIL, rounds=2), folder=tmp_path)]
    board = Board(planned, Console(file=text, force_terminal=terminal, width=200))
    board(0, Begun(process=1, entries=110, done=(record(0),)))
    board(0, record(1))
    board(0, Ended(state="stopped", why=EVIL))
    board.close()
    assert f"{SPELLED}, seed 0: {SPELLED}" in text.getvalue()
    assert "\x1b]" not in text.getvalue()


def test_a_table_is_only_shown() -> None:
    text = StringIO()
    run = Run(name="a", settings=SETTINGS, about=About(), rounds=(record(0),), longest=(1.0,))
    show([Group(label=EVIL, runs=(run,))], "A title", Console(file=text, width=200))
    assert SPELLED in text.getvalue()


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")


def show_trials() -> None:
    good = Trial(scheme=EVIL, values=(0.9, 0.8), down=1.0, up=1.0)
    found = SearchResult(tried={EVIL: good}, best=good, words="none")
    asked = Question(tensors=(), keep=0.9)
    chosen = choice(asked, found, confidence=0.95, samples=9, budgets=False)
    trials.show(found, chosen, Path(EVIL), as_json=False)


def show_vector() -> None:
    coded = CodedVector(quantizer=EVIL, kind="", nbytes=1, bits=1.0, nmse=1.0)
    tune._show_vector(EVIL, [coded])


def show_frame() -> None:
    codec._print_info(
        replace(inspect(encode(laplace(100), Stochastic(), rng=stream(0))), coding=EVIL)
    )


def show_data_sets() -> None:
    here = data_status.status("digits")
    data._print_states([replace(here, place=EVIL), replace(here, place=None, hint=EVIL)])


def show_bound() -> None:
    bound._show([outcome(replace(Grid().settings()[0], task=EVIL))])


def show_progress_of_bound() -> None:
    clock = bound.Progress()
    clock._last = -1e9  # long ago
    clock(EVIL, 1, 2)


def show_sheet() -> None:
    TextTable(title=EVIL, columns=(EVIL,), rows=[(EVIL,)]).show(console())


def show_deployment() -> None:
    seen = Seen(round=1, accuracy=0.5, seconds=1.0, down=1, up=1)
    ran = [deploy_demo.Ran(scheme=scheme, seen=(seen,)) for scheme in ("plain", EVIL)]
    deploy_demo._show(ran, Path("nowhere"))


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize(
    "show",
    [
        show_trials,
        show_vector,
        show_frame,
        show_data_sets,
        show_bound,
        show_progress_of_bound,
        show_sheet,
        show_deployment,
    ],
)
def test_what_commands_lay_out_is_only_shown(
    show: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    show()
    said = "".join(capsys.readouterr())
    assert SPELLED in said
    assert "\x1b" not in said


def test_progress_of_a_bound_is_only_shown_on_a_terminal() -> None:
    shown = StringIO()
    with bound.Progress(Terminal(file=shown, force_terminal=True, width=200)) as clock:
        clock(EVIL, 1, 2)
    assert SPELLED in shown.getvalue()
    assert "\x1b]" not in shown.getvalue()


def test_a_peer_that_is_skipped_is_only_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def skip(*_: object, **__: object) -> Skipped:
        return Skipped(reason=EVIL)

    monkeypatch.setattr(peer.flower, "measure", skip)
    shown = StringIO()
    assert peer.against_flower([], Terminal(file=shown, width=200)) is None
    assert shown.getvalue() == f"Flower is skipped: {SPELLED}\n"


def test_no_command_writes_to_a_terminal_by_itself() -> None:
    files = [
        SOURCES / "cli.py",
        SOURCES / "experiments" / "codec_demo.py",
        *(SOURCES / "commands").glob("*.py"),
    ]
    benchmarks = Path(peer.__file__).parent.glob("*.py")
    files += (path for path in benchmarks if not path.stem.endswith("_jobs"))  # another Python's
    own = re.compile(r"\btyper\.s?echo\(|^\s*print\(|\bConsole\(|sys\.std(out|err)", re.MULTILINE)
    bare = [path.name for path in files if own.search(path.read_text())]
    assert sorted(bare) == ["cli.py", "output.py"]  # the overview is a text of ours
