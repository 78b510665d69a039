"""The settings of a run that suit a task."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The settings of a run that suit a task; a run may change each of them."""

    rounds: int = 100
    devices: int = 10
    tau: int = 4
    batch: int = 16
    optimizer: str = "sgd"
    lr: str = "0.05"
    partition: str = "iid"
