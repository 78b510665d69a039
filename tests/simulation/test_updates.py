"""The vectors that are kept are those that the links quantized."""

from pathlib import Path

import numpy as np
import pytest

from lossyfl import InputError
from lossyfl.links import Message, budget, policy, schedule
from lossyfl.simulation.experiment import Experiment
from lossyfl.simulation.run import run
from lossyfl.simulation.updates import rounds_of
from lossyfl.types import Quantized, Quantizer, Vector

TINY = "tests.simulation.tiny:make_task"


@pytest.mark.parametrize("scheme", ["lfl:q1=2,q2=2", "lean:down_budget=200B,up_budget=200B"])
def test_what_was_sent_and_what_is_left_add_up(
    scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Vector] = []

    def watching(x: Vector, quantizer: Quantizer, message: Message) -> Quantized:
        given.append(x.copy())
        return quantized(x, quantizer, message)

    quantized = policy.quantized
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


def test_lossless_links_keep_replies_alone(tmp_path: Path) -> None:
    chosen = Experiment(task=TINY, scheme="lossless", rounds=2)
    run(chosen, tmp_path / "out", save_updates=frozenset({1}))
    names = sorted(path.name for path in (tmp_path / "out" / "updates").iterdir())
    assert names == ["1-up-0.npy", "1-up-1.npy", "1-up-2.npy"]


@pytest.mark.parametrize("text", ["", "a", "1,", "-1", "1;2"])
def test_wrong_rounds(text: str) -> None:
    with pytest.raises(InputError, match="numbers of rounds"):
        rounds_of(text)
