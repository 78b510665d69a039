"""The relay hands everything on, and knows what had travelled at every moment."""

import socket
import threading
import time

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.deployment.relay import STEP, Past, Relay, WireBytes

HOST = "127.0.0.1"


def test_what_travelled_is_known_afterwards() -> None:
    with socket.create_server((HOST, 0)) as server:
        threading.Thread(target=answer_twice_as_much, args=(server,), daemon=True).start()
        place = (HOST, free_port())
        with Relay(server.getsockname()[1], [place]) as relay:
            before = time.time()
            with socket.create_connection(place) as node:
                exchange(node, b"x" * 1000)
                between = time.time()
                time.sleep(2 * STEP)
                exchange(node, b"x" * 70_000)
            after = time.time()
    assert relay.past.until(before) == WireBytes()
    assert relay.past.until(between) == WireBytes(down=2000, up=1000)
    assert relay.past.until(after) == WireBytes(down=142_000, up=71_000)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 9))))
def test_the_past_adds_up(steps: list[tuple[int, int, int]]) -> None:
    past, now = Past(), 0
    events: list[tuple[int, int, int]] = []
    for pause, down, up in steps:
        now += pause
        past.add(now, down=down, up=up)
        events.append((now, down, up))
    for at in range(-1, now + 2):
        so_far = [(down, up) for when, down, up in events if when <= at]
        down, up = sum(d for d, _ in so_far), sum(u for _, u in so_far)
        assert past.until(at) == WireBytes(down=down, up=up)


def answer_twice_as_much(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        while data := connection.recv(1 << 16):
            connection.sendall(data * 2)


def exchange(node: socket.socket, data: bytes) -> None:
    """Send, and wait for the whole answer."""
    node.sendall(data)
    left = 2 * len(data)
    while left:
        left -= len(node.recv(left))


def free_port() -> int:
    with socket.create_server((HOST, 0)) as found:
        return found.getsockname()[1]
