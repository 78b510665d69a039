"""Train on Flower's simulation engine, once with honest nodes and once with a fifth of them hostile.

    python examples/hostile_nodes/run.py --rounds 50

Prints the accuracy of both, what was refused and why, and how much memory the server took. Needs
lossyfl[flower,sim], and this checkout. What the hostile nodes do is in attacks.py.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CONFIG = {
    "task": "digits",
    "scheme": "lfl:q1=2,q2=2",
    "devices": 10,
    "tau": 20,
    "batch": 16,
    "optimizer": "sgd",
    "lr": "0.2",
    "partition": "iid",
    "seed": 3,
}
TRAIN = """
import json, sys
from flwr.clientapp import ClientApp
from attacks import after, before
from lossyfl.flower import lossy_mod
from benchmarks.flower_app import train
from benchmarks.flower_simulation import main

client = ClientApp(mods=[before, lossy_mod, after])
client.train()(train)
main(json.loads(sys.argv[1]), client if sys.argv[2] == "hostile" else None)
"""
HERE = Path(__file__).parent
LAST = 10
"""Rounds over which the accuracy is averaged: one round has noise of about a point."""


def run(kind: str, rounds: int, out: Path) -> list[dict[str, Any]]:
    """What was seen after every round; what the nodes' server says goes to a log."""
    out.mkdir(parents=True)
    config = json.dumps({**CONFIG, "rounds": rounds, "out": str(out)})
    own = [str(HERE), str(HERE.parents[1]), os.environ.get("PYTHONPATH")]
    path = os.pathsep.join(filter(None, own))
    environment = os.environ | {"LOSSYFL_STATE": str(out / "state"), "PYTHONPATH": path}
    with (out / "log.txt").open("w") as log:
        command = [sys.executable, "-c", TRAIN, config, kind]
        subprocess.run(command, env=environment, stdout=log, stderr=log, check=True)
    return [json.loads(line) for line in (out / "progress.jsonl").read_text().splitlines()]


def show(kind: str, seen: list[dict[str, Any]]) -> str:
    """A line of the table."""
    last = [each["accuracy"] for each in seen[-LAST:]]
    early, late = (seen[at]["peak_bytes"] / 1e6 for at in (min(10, len(seen) - 1), -1))
    replies = sum(each["replies"] for each in seen)
    return (
        f"{kind:8} {100 * sum(last) / len(last):8.2f} %  {100 * seen[-1]['accuracy']:8.2f} %  "
        f"{replies:7}  {early:8.1f} MB  {late:8.1f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--out", type=Path, default=None)
    asked = parser.parse_args()
    out = asked.out or Path(tempfile.mkdtemp(prefix="hostile-nodes-"))
    print(f"{asked.rounds} rounds on Flower's simulation engine, {CONFIG['devices']} nodes")
    print(f"logs and results: {out}")
    print(f"nodes    last {LAST} rounds  last round  replies   peak RSS: round 10, end")
    for kind in ("honest", "hostile"):
        print(show(kind, run(kind, asked.rounds, out / kind)), flush=True)
    refusals = json.loads((out / "hostile/results/refusals.json").read_text())
    print("refused, or taken with a note:")
    for reason, count in sorted(refusals["counts"].items(), key=lambda each: -each[1]):
        details = [each["detail"] for each in refusals["recent"] if each["reason"] == reason]
        print(f"{count:6}  {reason:12} {details[-1][:90] if details else ''}")


if __name__ == "__main__":
    main()
