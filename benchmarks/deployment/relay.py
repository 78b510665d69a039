"""A relay between nodes and the SuperLink that counts what travels, encrypted as it is.

Every node has a port of its own. All of Flower's requests count, headers and TLS included, as TCP payload;
what had travelled is known for every moment, so a round that is read late still has its own bytes.
"""

import asyncio
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from lossyfl.errors import Stopped

STEP = 0.01
"""Seconds that are not told apart, so that long runs do not fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireBytes:
    """Bytes of all nodes until some moment."""

    down: int = 0
    up: int = 0


class Past:
    """What had travelled when; one thread adds, any may ask."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._counts = [WireBytes()]

    def add(self, at: float, *, down: int = 0, up: int = 0) -> None:
        """Bytes that travel now."""
        last = self._counts[-1]
        now = WireBytes(down=last.down + down, up=last.up + up)
        if self._times and at < self._times[-1] + STEP:  # also if the clock was set back
            self._counts[-1] = now
            return
        self._counts.append(now)
        self._times.append(at)  # last: who asks meanwhile finds a count for every time

    def until(self, at: float) -> WireBytes:
        """The bytes up to a moment, as time.time() has it."""
        return self._counts[bisect_right(self._times, at)]


class Relay:
    """An address and port for each node that lead to the SuperLink's port."""

    def __init__(self, target: int, places: Sequence[tuple[str, int]]) -> None:
        self.past = Past()
        self._target, self._places = target, places
        self._error: OSError | None = None
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait(10)
        if self._error is not None or not self._ready.is_set():
            raise Stopped(f"the relay to the SuperLink did not start: {self._error}")
        return self

    def __exit__(self, *_: object) -> None:
        if self._error is None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        try:
            with suppress(asyncio.CancelledError):
                self._loop.run_until_complete(self._serve())
        except OSError as error:  # a port that is taken
            self._error = error
            self._ready.set()
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        servers = [
            await asyncio.start_server(self._handle, host, port) for host, port in self._places
        ]
        self._ready.set()
        await self._stop.wait()
        for server in servers:
            server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        pumps = (
            _pump(reader, back, lambda size: self.past.add(time.time(), up=size)),
            _pump(far, writer, lambda size: self.past.add(time.time(), down=size)),
        )
        with suppress(asyncio.CancelledError):  # the relay stops
            await asyncio.gather(*pumps)


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: Callable[[int], None]
) -> None:
    """Hand on everything until one side has had enough."""
    with suppress(ConnectionError, asyncio.CancelledError):
        while data := await reader.read(1 << 16):
            count(len(data))
            writer.write(data)
            await writer.drain()
    writer.close()
