"""Where the time of a round goes."""

import time


class Clock:
    """Seconds, phase by phase."""

    def __init__(self) -> None:
        self._begin = self._last = time.perf_counter()

    @property
    def total(self) -> float:
        """Seconds from the beginning to the last lap."""
        return self._last - self._begin

    def lap(self) -> float:
        """Seconds since the last lap."""
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return seconds
