"""`lossyfl bench scale`: a round as the number of members grows, and not that of those who take part.

server     a server with up to a million members, of whom a thousand take part in a round: processor time by
           what it is for, memory per member, and a checkpoint
simulator  up to 10^5 devices with the digits network, of whom a hundred train in a round
"""

import json
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
from rich.console import Console

from benchmarks.growth import memory
from benchmarks.trial import experiment, simulation
from lossyfl.files import snapshot
from lossyfl.protocol.round import sample
from lossyfl.protocol.rules import ReplyRule
from lossyfl.protocol.schemes import scheme
from lossyfl.protocol.server import Server
from lossyfl.quantizers.stochastic import Stochastic
from lossyfl.report.text_table import TextTable
from lossyfl.results import machine
from lossyfl.simulation.setup import prepare
from lossyfl.streams import stream
from lossyfl.wire.codec import encode
from lossyfl.wire.frame import with_digest

T = TypeVar("T")

ENTRIES = 9_610
"""Of the digits network."""
MEMBERS = (10**3, 10**4, 10**5, 10**6)
TRAINING = 1_000
"""Of the members of a server, in every round."""
SIMULATED = (10**3, 10**4, 10**5)
PARTICIPANTS = 100
"""Of the devices of a simulation, in every round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Federation:
    """A server with so many members: milliseconds of processor time in the median over rounds.

    choosing: who takes part
    serving:  encode the broadcast, and hand every participant what it lacks
    summing:  accept every reply, and close the round
    saving:   a checkpoint, and its megabytes in `saved`
    memory:   bytes per member
    """

    members: int
    choosing: float
    serving: float
    summing: float
    saving: float
    saved: float
    memory: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """A simulation of so many devices: milliseconds per participant, megabytes of all processes."""

    devices: int
    visit: float
    memory: float


def run(json_file: Path | None, *, quick: bool, console: Console) -> None:
    """Measure and print everything."""
    with console.status("servers"):
        federations = [measure_federation(count) for count in MEMBERS[: 2 if quick else None]]
    with console.status("simulations"):
        simulated = [measure_simulation(count) for count in SIMULATED[: 1 if quick else None]]
    facts = machine.describe()
    if json_file is not None:
        rows = {"servers": federations, "simulations": simulated}
        measured = {name: [asdict(row) for row in found] for name, found in rows.items()}
        json_file.write_text(json.dumps({"machine": facts, **measured}, indent=1))
    for name, fact in facts.items():
        console.print(f"{name:13} {fact}")
    federations_table(federations).show(console)
    simulated_table(simulated).show(console)


def measure_federation(members: int, rounds: int = 5) -> Federation:
    """Some rounds of a server that sends to its participants only."""
    tracemalloc.start()
    server = Server(
        np.zeros(ENTRIES, np.float32),
        scheme("lfl:q1=2,q2=2"),
        samples=dict.fromkeys(range(members), 10),
        listen="participants",
        rule=ReplyRule(norm="off"),
    )
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    times = [_round(server, number) for number in range(rounds)]
    choosing, serving, summing = (1e3 * median(column) for column in zip(*times, strict=True))
    saving, saved = _checkpoint(server)
    return Federation(
        members=members,
        choosing=choosing,
        serving=serving,
        summing=summing,
        saving=1e3 * saving,
        saved=saved / 1e6,
        memory=size / members,
    )


def _round(server: Server, number: int) -> tuple[float, float, float]:
    """Seconds of choosing, serving and summing."""
    fraction = min(TRAINING / len(server.members), 1.0)
    choosing, chosen = _timed(lambda: sample(server.members, fraction, seed=0, round=number))
    serving, _ = _timed(lambda: _serve(server, chosen))
    update = np.random.default_rng(number).laplace(size=ENTRIES).astype(np.float32)
    meta = server.reply_meta(chosen[0])
    reply = encode(update, Stochastic(levels=2), rng=stream(number), meta=meta)
    replies = {m: with_digest(reply, server.reply_meta(m).digest) for m in chosen}
    summing, _ = _timed(lambda: _sum(server, replies))
    return choosing, serving, summing


def _serve(server: Server, chosen: list[int]) -> None:
    server.open_round(chosen)
    for device in chosen:
        server.frames_for(device)


def _sum(server: Server, replies: Mapping[int, bytes]) -> None:
    for device, reply in replies.items():
        server.accept(device, reply)
    server.close_round()


def _checkpoint(server: Server) -> tuple[float, int]:
    """Seconds and bytes of one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server"
        seconds, _ = _timed(lambda: snapshot.save(path, server.state()))
        return seconds, path.stat().st_size


def _timed(job: Callable[[], T]) -> tuple[float, T]:
    """Seconds of processor time, and what the job gives."""
    start = time.process_time()
    result = job()
    return time.process_time() - start, result


def measure_simulation(devices: int, rounds: int = 4) -> Simulated:
    """Some rounds of a hundred of so many devices, four samples each, one worker; after one that warms up."""
    asked = experiment(f"benchmarks.shapes:digits:samples={4 * devices}", devices, 4)
    part = PARTICIPANTS / devices
    setup = prepare(replace(asked, participation=part, listen="participants"))
    with simulation(setup, 1) as chosen:
        records = [chosen.run_round()[0] for _ in range(1 + rounds)][1:]
        used = memory()
    visit = median(record.seconds.total for record in records) / PARTICIPANTS
    return Simulated(devices=devices, visit=1e3 * visit, memory=used)


def federations_table(rows: list[Federation]) -> TextTable:
    """A row per number of members."""
    columns = ("members", "choose, ms", "serve", "sum", "checkpoint", "its MB", "bytes/member")
    return TextTable(
        title=f"One round of {TRAINING:,} participants, d = {ENTRIES:,}; processor time",
        columns=columns,
        rows=[
            (
                f"{r.members:,}",
                f"{r.choosing:.1f}",
                f"{r.serving:.0f}",
                f"{r.summing:.0f}",
                f"{r.saving:.0f}",
                f"{r.saved:.1f}",
                f"{r.memory:.0f}",
            )
            for r in rows
        ],
    )


def simulated_table(rows: list[Simulated]) -> TextTable:
    """A row per number of devices."""
    return TextTable(
        title=f"Simulated: {PARTICIPANTS} participants per round, digits network, tau = 4, batch 4",
        columns=("devices", "ms per participant", "memory of all, MB"),
        rows=[(f"{r.devices:,}", f"{r.visit:.1f}", f"{r.memory:,.0f}") for r in rows],
    )
