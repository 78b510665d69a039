"""Several runs side by side on a terminal of 80 columns."""

from io import StringIO
from pathlib import Path

from rich.console import Console

from lossyfl.commands.board import Board
from lossyfl.experiments.compare import Planned
from lossyfl.experiments.side_by_side import Begun
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import read_rounds
from lossyfl.simulation.run import run

TINY = "tests.simulation.tiny:make_task"


def test_a_long_scheme_hides_nothing_that_matters(tmp_path: Path) -> None:
    chosen = Experiment(task=TINY, rounds=2)
    run(chosen, tmp_path / "out")
    first, second = read_rounds(tmp_path / "out" / "rounds.jsonl")
    text = StringIO()
    long = Experiment(scheme=f"lean:down=deadzone,up=deadzone{',' * 80}", rounds=2)
    planned = [Planned(experiment=long, folder=tmp_path / name) for name in ("a", "b")]
    board = Board(planned, Console(file=text, force_terminal=True, width=80))
    for index in (0, 1):
        board(index, Begun(process=1, entries=110, done=(first,)))
    board(0, second)
    board.close()
    said = text.getvalue()
    assert f"round 2/2, accuracy {100 * (second.accuracy or 0):.2f} %, down " in said
    assert "x, up " in said
    assert board.left() != "?"
