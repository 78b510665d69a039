"""Results directories made up in no time, for tests of what is read from them."""

import json
import math
from dataclasses import replace
from pathlib import Path

from lossyfl.protocol.measures import Measured
from lossyfl.results.experiment import Experiment
from lossyfl.results.ledger_file import HEADER
from lossyfl.results.records import Round, Seconds, Traffic

SETTINGS = Experiment(
    task="digits", scheme="lfl:q1=2,q2=2", rounds=4, devices=3, tau=4, batch=16,
    optimizer="sgd", lr="0.2", partition="iid",
)  # fmt: skip
ENTRIES = 1000
DEVICES = 3
SECONDS = Seconds(
    broadcast=0.01, devices=0.5, aggregate=0.03, evaluate=0.02, save=0.01, total=0.55,
    training=0.9, coding=0.06,
)  # fmt: skip


def record(number: int, *, accuracy: float | None = 0.5, down: int = 250, up: int = 100) -> Round:
    """A round in which each device sent `up`, `up` + 1, ... bytes."""
    sent = sum(up + device for device in range(DEVICES))
    raw = 4 * ENTRIES
    return Round(
        round=number,
        metrics={} if accuracy is None else {"accuracy": accuracy},
        test_loss=None if accuracy is None else 1 - accuracy,
        train_loss=1 / (number + 1),
        eps=None if number == 0 else 0.01 / number,
        distance=0.1 * number,
        replies=DEVICES,
        late=0,
        late_bytes=0,
        away=0,
        down=Traffic(
            nbytes=down, unicast=DEVICES * down, update=down, raw=raw, paper=330.0, entropy=200.0,
            entries=ENTRIES,
        ),
        up=Traffic(
            nbytes=sent, unicast=sent, reply=sent, raw=DEVICES * raw, paper=990.0, entropy=250.0,
            entries=DEVICES * ENTRIES,
        ),
        seconds=SECONDS,
        model_peak=5.0 + number,
        broadcast=None if number == 0 else Measured(norm=1.0, peak=6.0, error=0.5 / number),
        reply=Measured(norm=2.0, peak=7.0, error=0.8),
        memory=1.6,
    )  # fmt: skip


def ledger(rounds: list[Round]) -> str:
    """The ledger of such rounds."""
    lines = [HEADER]
    for each in rounds:
        lines.append(f"{each.round},down,update,0-2,{each.down.nbytes},1000,2640.0,1600.0,7\n")
        first = each.up.nbytes // DEVICES - 1
        lines += [
            f"{each.round},up,reply,{device},{first + device},1000,2640.0,700.0,{device}\n"
            for device in range(DEVICES)
        ]
    return "".join(lines)


def write(
    folder: Path,
    settings: Experiment = SETTINGS,
    *,
    rounds: list[Round] | None = None,
    state: str = "done",
    command: str = "lossyfl run",
) -> Path:
    """A results directory without model and checkpoint."""
    chosen = [record(t, accuracy=0.5 + 0.1 * t) for t in range(4)] if rounds is None else rounds
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(settings.toml())
    (folder / "rounds.jsonl").write_text("".join(each.line() for each in chosen))
    (folder / "ledger.csv").write_text(ledger(chosen))
    machine = {"processor": "abacus", "python": "3.11.7", "lossyfl": "0.1.0"}
    about = {"state": state, "command": command, "machine": machine}
    (folder / "run.json").write_text(json.dumps(about))
    return folder


def long(number: int, count: int) -> list[Round]:
    """Many rounds of noisy curves, another one for each number."""

    def noise(t: int) -> float:
        return math.sin(12.9898 * (t + 1000 * number)) * 43758.5453 % 1

    return [
        replace(
            record(
                t,
                accuracy=1 - 0.9 * math.exp(-t / 200) - 0.02 * noise(t) - 0.01 * number / 20,
                down=4000 if t == 0 else 200 + int(90 * noise(t)) + number,
                up=100 + int(50 * noise(t)),
            ),
            distance=1 + noise(t),
            seconds=replace(SECONDS, total=0.55 + 0.1 * noise(t), training=0.9 + 0.1 * noise(t)),
        )
        for t in range(count)
    ]
