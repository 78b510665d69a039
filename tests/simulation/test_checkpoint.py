"""A run goes on from what it saved, or says what is not as it was."""

import dataclasses
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import given, settings
from tests.hostile import again, changed

from lossyfl import InputError, LossyflError
from lossyfl.files import safetensors, snapshot
from lossyfl.results.experiment import Experiment, experiment, read_toml
from lossyfl.simulation import checkpoint
from lossyfl.simulation.run import resume, run
from lossyfl.simulation.store import DIGEST

BASE = Experiment(task="tests.simulation.tiny:make_task", rounds=3, scheme="lfl")


def interrupted(out: Path) -> Path:
    run(BASE, out)
    return out


@pytest.mark.parametrize(
    ("name", "value"),
    [("lr", "0.25"), ("seed", 7), ("batch", 2), ("scheme", "lb"), ("drop_out", 0.5), ("tau", 5)],
)
def test_an_edited_setting_is_refused_by_name(name: str, value: object, tmp_path: Path) -> None:
    out = interrupted(tmp_path / "out")
    config = out / "config.toml"
    asked = experiment(read_toml(config) | {name: value})
    config.write_text(asked.toml())
    before = (out / "rounds.jsonl").read_bytes()
    with pytest.raises(InputError, match=rf"^{name} of config.toml must be .*, as when the run be"):
        resume(out, rounds=5)
    assert (out / "rounds.jsonl").read_bytes() == before


def test_rounds_may_change_and_what_is_not_said_is_as_it_suits_the_task(tmp_path: Path) -> None:
    out = interrupted(tmp_path / "out")
    (out / "config.toml").write_text(f'task = "{BASE.task}"\nscheme = "lfl"\nrounds = 4\n')
    assert resume(out).summary.rounds == 4
    assert resume(out, rounds=5).summary.rounds == 5


def test_a_flipped_bit_of_a_device_is_noticed(tmp_path: Path) -> None:
    out = interrupted(tmp_path / "out")
    store = checkpoint.store_path(out / "checkpoint")
    slots = np.frombuffer(checkpoint.load(out / "checkpoint").slots, np.int8)
    content = bytearray(store.read_bytes())
    size = len(content) // len(slots)
    content[7 * size + (size // 2) * int(slots[7]) + 100] ^= 1
    store.write_bytes(content)
    with pytest.raises(
        InputError, match=r"state of device 7 of devices\.bin must be as at the che"
    ):
        resume(out, rounds=5)


def test_checkpoints_of_older_versions_go_on(tmp_path: Path) -> None:
    """They say neither settings nor digests; devices that never train again have theirs nevertheless."""
    asked = replace(BASE, participation=0.3)
    whole, out = tmp_path / "whole", tmp_path / "out"
    run(replace(asked, rounds=5), whole)
    run(asked, out)
    saved = checkpoint.load(out / "checkpoint")
    store = checkpoint.store_path(out / "checkpoint")
    content = np.fromfile(store, np.int64).reshape(20, -1)
    content[:, DIGEST] = 0
    content.tofile(store)
    names = [f.name for f in dataclasses.fields(saved) if f.name not in ("digests", "settings")]
    older = dataclasses.make_dataclass("Checkpoint", names)
    path = checkpoint.path(out / "checkpoint")
    snapshot.save(path, older(**{name: getattr(saved, name) for name in names}))
    assert b"settings" not in path.read_bytes()
    resume(out, rounds=4)
    resume(out, rounds=5)
    for name in ("model.safetensors", "ledger.csv"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()


def test_state_is_the_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        out = interrupted(tmp_path / "out")
    finally:
        os.umask(mask)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (out / "checkpoint").iterdir()}
    assert modes == {"devices.bin": 0o600, "state.safetensors": 0o600}
    assert (out / "checkpoint").stat().st_mode & 0o777 == 0o700
    assert (out / "rounds.jsonl").stat().st_mode & 0o777 == 0o666


def test_a_resume_closes_what_an_older_version_left_open(tmp_path: Path) -> None:
    out = interrupted(tmp_path / "out")
    (out / "checkpoint").chmod(0o755)
    for path in (out / "checkpoint").iterdir():
        path.chmod(0o644)
    resume(out, rounds=4)
    assert (out / "checkpoint").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (out / "checkpoint").iterdir()} == {0o600}


def test_linked_checkpoints_are_not_followed(tmp_path: Path) -> None:
    out = interrupted(tmp_path / "out")
    state = checkpoint.path(out / "checkpoint")
    state.rename(tmp_path / "state")
    state.symlink_to(tmp_path / "state")
    with pytest.raises(InputError, match="no link"):
        resume(out, rounds=4)
    state.unlink()
    (tmp_path / "state").rename(state)
    (out / "checkpoint").rename(tmp_path / "elsewhere")
    (out / "checkpoint").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="no link"):
        resume(out, rounds=4)


def gone_on_or_said(out: Path, content: bytes) -> None:
    """Go on from a checkpoint: that works, or it is refused before anything goes wrong."""
    work = out.with_name("work")
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(out, work)
    checkpoint.path(work / "checkpoint").write_bytes(content)
    said = ""
    try:
        resume(work, rounds=4)
    except LossyflError as error:
        said = str(error)
    assert "Traceback" not in said


def test_a_checkpoint_of_any_facts_is_gone_on_from_or_refused(tmp_path: Path) -> None:
    out = interrupted(tmp_path / "out")
    file = safetensors.read(checkpoint.path(out / "checkpoint"))

    @settings(max_examples=hypothesis.settings().max_examples // 3)
    @given(facts=changed(json.loads(file.metadata["facts"])))
    def any_facts(facts: object) -> None:
        gone_on_or_said(out, again(file, json.dumps(facts)))

    any_facts()


def test_vectors_of_other_lengths_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(replace(BASE, evaluate="average", optimizer="adam:moments=shared", lr="0.05"), out)
    file = safetensors.read(checkpoint.path(out / "checkpoint"))
    for at, tensor in enumerate(file.tensors):
        data = bytes(memoryview(tensor.data).nbytes * 2) or bytes(8)
        shape = (len(data) // 4 if tensor.dtype == "F32" else len(data),)
        odd = replace(tensor, shape=shape, data=data)
        tensors = (*file.tensors[:at], odd, *file.tensors[at + 1 :])
        gone_on_or_said(out, again(file, file.metadata["facts"], tensors))
