"""The server's side of an own federation over plain HTTP.

    GET  /model/3     what device 3 lacks; 204 if there is nothing to do for it now, 410 if all is done
    POST /reply/3     the reply of device 3; 409 and the reason if it is refused
    GET  /round       the number of the open round

All bodies are packets of `lossyfl.adapters`. This file says who is asked, and how long it waits.

    python server.py --replies 3 3 2 --out folder     three rounds, and how many replies each waits for
"""

import argparse
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import problem

from lossyfl.adapters.envelope import pack_down, unpack_up
from lossyfl.adapters.framework import Framework
from lossyfl.adapters.journal import Journal
from lossyfl.adapters.packets import from_packet, to_packet
from lossyfl.adapters.records import Foreign, pack_frames
from lossyfl.adapters.training import Reply, ServerSettings, ServerTraining
from lossyfl.errors import LossyflError, Refused
from lossyfl.protocol.schemes import scheme

HTTP = Framework(name="http", command="python server.py", own_folder="--state of device.py")
SPEC = "lfl:q1=5,q2=5,scale=tensor"
PATIENCE = 60.0
"""Seconds that a round waits for replies."""
MOST_BYTES = 1 << 20
"""Of a request: no reply of this model is longer."""


class Federation:
    """One training, and the requests of its devices."""

    def __init__(self, out: Path) -> None:
        settings = ServerSettings(spec=SPEC, scheme=scheme(SPEC), framework=HTTP)
        self.training = ServerTraining(settings=settings)
        self.training.begin(problem.start())
        self.journal = Journal(out, HTTP)
        self.journal.model_bytes = sum(len(own.data) for own in problem.start().values())
        self.changed = threading.Condition()
        self.asked: set[int] = set()  # peers that were sent the model of this round
        self.replies: dict[int, Reply] = {}
        self.refused: list[str] = []
        self.is_over = False

    def model_for(self, peer: int) -> bytes | None:
        """What a peer is sent; None if it has nothing to do now."""
        with self.changed:
            if not self.training.server.is_open or peer in self.asked:
                return None
            self.asked.add(peer)
            down = self.training.down_for(peer)
            packet = to_packet(pack_down(down) | pack_frames(down.frames))
            self.journal.carried_down(len(packet))
            if down.frames:
                self.journal.beside(down.exact)
            return packet

    def take(self, peer: int, packet: bytes) -> None:
        """Note a peer's reply; raises an error of lossyfl's if it is refused."""
        records = from_packet(packet)
        with self.changed:
            self.journal.carried_up(len(packet))
            up = unpack_up(records)
            samples = records.get("metrics", {}).get("samples")
            if up is None or peer not in self.asked or type(samples) is not int or samples < 1:
                raise Foreign("it is no reply to a model of this round")
            try:
                number = self.training.hear(peer, up)
            except Refused:
                self.asked.discard(peer)  # it is sent what it lacks, in this round
                raise
            if number in self.replies:
                raise Refused(number, "doubled", "there is one of this round")
            self.replies[number] = Reply(peer=peer, up=up, samples=samples)
            self.journal.worked(up)
            self.changed.notify_all()

    def note(self, peer: int, error: LossyflError) -> None:
        """Note a refusal, for the line of this round."""
        with self.changed:
            self.journal.refused()
            self.refused.append(f"peer {peer}: {error}")

    def play(self, replies: list[int]) -> None:
        """All rounds; each waits for so many replies, but not for ever."""
        self.journal.begin(SPEC, len(replies), 0, done=0)
        for number, enough in enumerate(replies):
            with self.changed:
                self.journal.flush(self.training.server)
                self.journal.open()
                self.asked, self.replies, self.refused = set(), {}, []
                began = time.perf_counter()
                self.training.open()
                self.journal.broadcast(self.training.server, time.perf_counter() - began)
                self.changed.wait_for(lambda n=enough: len(self.replies) >= n, PATIENCE)
                self.close(number)
        self.journal.end(self.training.server)
        self.is_over = True

    def close(self, number: int) -> None:
        """Make the next model of the replies that came."""
        began = time.perf_counter()
        refused = self.training.aggregate(self.replies)
        self.journal.trained(None, time.perf_counter() - began)
        for device, error in refused.items():
            self.note(self.replies[device].peer, error)
        taken = sorted(set(self.replies) - set(refused))
        distance = problem.distance(self.training.model)
        self.journal.evaluated({"loss": distance}, server=True)
        print(f"round {number}: replies of {taken}, distance {distance:.4f}", flush=True)
        for line in self.refused:
            print(f"    refused: {line}", flush=True)


class Handler(BaseHTTPRequestHandler):
    """Requests to the federation of this server."""

    federation: Federation

    def do_GET(self) -> None:
        """A model, or the number of the round."""
        if self.path == "/round":
            return self.answer(200, str(self.federation.training.server.round).encode())
        if self.federation.is_over:
            return self.answer(410)
        packet = self.federation.model_for(self.peer())
        return self.answer(204) if packet is None else self.answer(200, packet)

    def do_POST(self) -> None:
        """A reply."""
        size, peer = int(self.headers.get("Content-Length", "0")), self.peer()
        try:
            if size > MOST_BYTES:
                raise Foreign(f"a request of {size} bytes")
            self.federation.take(peer, self.rfile.read(size))
        except LossyflError as error:
            self.federation.note(peer, error)
            return self.answer(409, str(error).encode())
        return self.answer(200)

    def peer(self) -> int:
        """Who asks: a framework has authenticated it, here it says so itself."""
        return int(self.path.rsplit("/", 1)[-1])

    def answer(self, status: int, body: bytes = b"") -> None:
        """Send an answer."""
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing about every request."""


def main() -> None:
    """Serve until all rounds are over."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--replies", type=int, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    Handler.federation = Federation(given.out)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Handler.federation.play(given.replies)
    time.sleep(0.5)  # devices that ask once more are told that all is done


if __name__ == "__main__":
    main()
