"""Where the time of a round goes."""

import pytest

from lossyfl.simulation import clock


def test_laps_add_up_to_the_total(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([10.0, 10.5, 12.0])
    monkeypatch.setattr(clock.time, "perf_counter", lambda: next(ticks))
    made = clock.Clock()
    assert made.total == 0
    assert (made.lap(), made.lap()) == (0.5, 1.5)
    assert made.total == 2.0
