"""The vectors that are kept are those that the links quantized."""

import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lossyfl import InputError
from lossyfl.commands.execution import rounds_of
from lossyfl.compressors import SendContext, base
from lossyfl.compressors import budgeted as budget
from lossyfl.compressors import scheduled as schedule
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import Round
from lossyfl.simulation.run import resume, run
from lossyfl.simulation.watcher import Silent
from lossyfl.types import Quantized, Quantizer, Vector

TINY = "tests.simulation.tiny:make_task"


@pytest.mark.parametrize(
    "scheme",
    [
        "lfl:q1=2,q2=2",
        "lfl:q1=2,q2=2,compensate_server=true",
        "lean:down_budget=200B,up_budget=200B",
        "lean:down_budget=200B,up_budget=200B,predict=true",
    ],
)
def test_what_was_sent_and_what_is_left_add_up(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Vector] = []

    def watching(x: Vector, quantizer: Quantizer, message: SendContext) -> Quantized:
        given.append(x.copy())
        return quantized(x, quantizer, message)

    quantized = base.quantized
    for module in (budget, schedule):
        monkeypatch.setattr(module, "quantized", watching)
    run(
        Experiment(task=TINY, scheme=scheme, rounds=4),
        tmp_path / "out",
        save_updates=frozenset({0, 3}),
    )
    kept = [np.load(path) for path in sorted((tmp_path / "out" / "updates").iterdir())]
    assert len(kept) == 7
    for vector in kept:
        near = min(float(np.abs(vector - x).max()) for x in given)
        assert near <= 1e-6 * float(np.abs(vector).max())


def test_a_resumed_run_keeps_what_was_asked_for(tmp_path: Path) -> None:
    chosen = Experiment(task=TINY, scheme="lfl:q1=2,q2=2", rounds=4)
    run(chosen, tmp_path / "whole", save_updates=frozenset({0, 3}))
    run(replace(chosen, rounds=2), tmp_path / "out", save_updates=frozenset({0}))
    resume(tmp_path / "out", rounds=3, save_updates=frozenset({2}))
    resume(tmp_path / "out", rounds=4, save_updates=frozenset({3}))
    kept = {path.name: path.read_bytes() for path in (tmp_path / "out" / "updates").iterdir()}
    for path in (tmp_path / "whole" / "updates").iterdir():
        assert kept[path.name] == path.read_bytes()
    assert "2-down.npy" in kept
    with pytest.raises(InputError, match="rounds from 4 to 4"):
        resume(tmp_path / "out", rounds=5, save_updates=frozenset({5}))


def test_rounds_that_were_asked_for_survive_an_interruption(tmp_path: Path) -> None:
    chosen = Experiment(task=TINY, scheme="lfl:q1=2,q2=2", rounds=4)

    class Impatient(Silent):
        def round_done(self, record: Round) -> None:
            if record.round == 1:
                signal.raise_signal(signal.SIGINT)

    run(chosen, tmp_path / "out", save_updates=frozenset({3}), watcher=Impatient())
    resume(tmp_path / "out")
    assert (tmp_path / "out" / "updates" / "3-down.npy").exists()


def test_lossless_links_keep_replies_alone(tmp_path: Path) -> None:
    chosen = Experiment(task=TINY, scheme="lossless", rounds=2)
    run(chosen, tmp_path / "out", save_updates=frozenset({1}))
    names = sorted(path.name for path in (tmp_path / "out" / "updates").iterdir())
    assert names == ["1-up-0.npy", "1-up-1.npy", "1-up-2.npy"]


@pytest.mark.parametrize("text", ["", "a", "1,", "-1", "1;2"])
def test_wrong_rounds(text: str) -> None:
    with pytest.raises(InputError, match="numbers of rounds"):
        rounds_of(text)
