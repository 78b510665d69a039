"""TensorBoard events, read back by TensorBoard."""

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from lossyfl.results.experiment import Experiment
from lossyfl.results.records import read_rounds
from lossyfl.simulation.run import resume, run
from lossyfl.simulation.tensorboard import TensorBoard


def test_curves_are_those_of_the_run_also_after_a_resume(tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = Experiment(task="tests.simulation.tiny:make_task", rounds=4)
    run(asked, out, watcher=TensorBoard(out / "tensorboard"))
    resume(out, rounds=7, watcher=TensorBoard(out / "tensorboard"))
    events = EventAccumulator(str(out / "tensorboard"))
    events.Reload()
    rounds = read_rounds(out / "rounds.jsonl")
    down = events.Scalars("bytes/down")
    assert [point.step for point in down] == list(range(7))
    assert [point.value for point in down] == [r.down.nbytes for r in rounds]
    assert len(events.Scalars("accuracy/test")) == 7
    assert len(events.Scalars("broadcast/eps")) == 6
