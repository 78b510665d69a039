"""Frames with shapes beside frames without."""

from benchmarks.by_class import matrices, measure, table


def test_what_is_gained_and_what_is_not() -> None:
    x = matrices(120)
    busy = measure("busy", x["busy"], 120, "deadzone:target=1bit", 2)
    even = measure("even", x["even"], 120, "deadzone:target=1bit", 2)
    assert busy.shaped < 0.95 * busy.plain
    assert even.shaped == even.plain
    assert min(busy.encode, busy.decode, even.encode, even.decode) > 0
    assert "| 14,400 | busy | deadzone:target=1bit |" in table([busy, even]).markdown()
