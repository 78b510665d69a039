"""How long rounds would take over real links, from measured bytes and measured seconds.

a round = latency + down / downlink + training + coding + latency + reply / uplink

down      broadcast: all frames of the round, each sent once for all who hear it, if one can be
          unicast:   a copy for every device that needs one, over the same downlink
reply     the longest of the round; uplinks work in parallel
training  the local steps of one device, the mean over those that trained
coding    the server makes the broadcast, a device its reply, the server decodes and adds all replies
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lossyfl.report.curves import Floats, over_seeds
from lossyfl.report.groups import Group
from lossyfl.report.runs import Run
from lossyfl.results.records import Round

View = Literal["broadcast", "unicast"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSpeeds:
    """What frames travel over: bits per second each way, and seconds until the first bit arrives."""

    downlink: float = 1e6
    uplink: float = 250e3
    latency: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What every round asks of the link, the mean over seeds.

    broadcast, unicast, reply: bytes
    training, coding:          seconds
    """

    broadcast: Floats
    unicast: Floats
    reply: Floats
    training: Floats
    coding: Floats


def load(group: Group) -> Load:
    """What a group asks of the link."""

    def mean(value: Callable[[Run], list[float]]) -> Floats:
        return over_seeds([value(run) for run in group.runs]).mean

    return Load(
        broadcast=mean(lambda run: [record.handed.nbytes for record in run.rounds]),
        unicast=mean(lambda run: [record.down.unicast for record in run.rounds]),
        reply=mean(lambda run: list(run.longest)),
        training=mean(lambda run: [training(record) for record in run.rounds]),
        coding=mean(lambda run: [coding_down(r) + coding_up(r) for r in run.rounds]),
    )


def elapsed(load: Load, link: LinkSpeeds, view: View) -> Floats:
    """Seconds from the start to the end of every round."""
    down = load.broadcast if view == "broadcast" else load.unicast
    sending = 8 * down / link.downlink + 8 * load.reply / link.uplink
    return np.cumsum(2 * link.latency + sending + load.training + load.coding)


def training(record: Round) -> float:
    """Seconds of the local steps of one device; late ones have trained, too."""
    return record.seconds.training / max(record.replies + record.late, 1)


def coding_down(record: Round) -> float:
    """Seconds in which the broadcast is quantized, encoded, decoded and handed out."""
    return record.seconds.broadcast


def coding_up(record: Round) -> float:
    """Seconds in which a device makes its reply and the server decodes and adds all of them."""
    return record.seconds.coding / max(record.replies + record.late, 1) + record.seconds.aggregate
