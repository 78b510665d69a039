"""A relay between nodes and the SuperLink that counts what travels, encrypted as it is.

Every node has a port of its own, so its bytes are its own: all of Flower's requests, headers and TLS
included, as TCP payload.
"""

import asyncio
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from lossyfl.errors import Stopped


@dataclass(slots=True, kw_only=True)
class Count:
    """Bytes of one node so far."""

    down: int = 0
    up: int = 0


class Relay:
    """An address and port for each node that lead to the SuperLink's port."""

    def __init__(self, target: int, places: dict[int, tuple[str, int]]) -> None:
        self.counts = {node: Count() for node in places}
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

    def total(self) -> Count:
        """The bytes of all nodes so far."""
        counts = self.counts.values()
        return Count(down=sum(c.down for c in counts), up=sum(c.up for c in counts))

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
            await asyncio.start_server(self._handler(self.counts[node]), host, port)
            for node, (host, port) in self._places.items()
        ]
        self._ready.set()
        await self._stop.wait()
        for server in servers:
            server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _handler(self, count: Count):  # noqa: ANN202 - asyncio's own long type
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                far, back = await asyncio.open_connection("127.0.0.1", self._target)
            except OSError:
                writer.close()
                return
            pumps = (_pump(reader, back, count, down=False), _pump(far, writer, count, down=True))
            with suppress(asyncio.CancelledError):  # the relay stops
                await asyncio.gather(*pumps)

        return handle


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, count: Count, *, down: bool
) -> None:
    """Hand on everything until one side has had enough."""
    with suppress(ConnectionError, asyncio.CancelledError):
        while data := await reader.read(1 << 16):
            count.down += len(data) if down else 0
            count.up += 0 if down else len(data)
            writer.write(data)
            await writer.drain()
    writer.close()
