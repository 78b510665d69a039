"""A device of an own federation over plain HTTP, a process of its own; `server.py` says what it asks.

python device.py 3 --port 8080 --state folder

--away 2:5     sleeps while rounds 2 to 4 are open; 0:4 joins late
--crash 3      ends in round 3, after its state is saved and before its reply leaves
--hostile      sends a million times its update, and a packet of garbage before it
"""

import argparse
import os
import time
import urllib.error
import urllib.request
from pathlib import Path

import problem

from lossyfl.adapters.arrays import Array, whole_values
from lossyfl.adapters.envelope import Down, pack_up, unpack_down
from lossyfl.adapters.packets import from_packet, to_packet
from lossyfl.adapters.session import DeviceSettings, opened

PAUSE = 0.02  # seconds until a device asks again
NOTHING, OVER = 204, 410
"""What the server says if there is nothing to do now, and if there never will be."""


def ask(url: str, body: bytes | None = None) -> tuple[int, bytes]:
    """The status and the body of an answer."""
    try:
        with urllib.request.urlopen(url, body, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except urllib.error.URLError:  # the server has gone
        return OVER, b"-1"


def work(down: Down, given: argparse.Namespace) -> bytes:
    """The reply to a message of the server's."""

    def train(model: dict[str, Array]) -> dict[str, Array]:
        trained, _ = problem.train(model, given.number)
        if given.hostile:
            trained["w"] = Array.of(1e6 * whole_values(trained["w"]))
        return trained

    settings = DeviceSettings(root=given.state)
    with opened(down, given.number, settings) as session:
        up = session.serve(train)
    if down.held.round == given.crash:
        os._exit(1)
    metrics = {"samples": len(problem.samples(given.number)[0])}
    return to_packet({**pack_up(up), "metrics": {**metrics}})


def main() -> None:
    """Ask, train and reply until all is done."""
    parser = argparse.ArgumentParser()
    parser.add_argument("number", type=int)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--away", default="0:0")
    parser.add_argument("--crash", type=int, default=-2)
    parser.add_argument("--hostile", action="store_true")
    given = parser.parse_args()
    url, number = f"http://127.0.0.1:{given.port}", given.number
    leaves, returns = map(int, given.away.split(":"))
    status = NOTHING
    while status != OVER:
        time.sleep(PAUSE)
        if leaves <= int(ask(f"{url}/round")[1]) < returns:
            continue
        status, packet = ask(f"{url}/model/{number}")
        if status in (NOTHING, OVER):
            continue
        down = unpack_down(from_packet(packet))
        if down is None or leaves <= down.held.round < returns:
            continue  # it fell asleep: nobody hears what came
        if given.hostile:
            ask(f"{url}/reply/{number}", b"garbage")
        ask(f"{url}/reply/{number}", work(down, given))


if __name__ == "__main__":
    main()
