"""Rates and times as people write them."""

import pytest

from lossyfl.errors import InputError
from lossyfl.report.units import rate, seconds


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("1Mbit", 1e6),
        ("250 kbit", 250e3),
        ("250kbit/s", 250e3),
        ("2.5Gbit", 2.5e9),
        ("9600bit", 9600.0),
        ("1MB/s", 8e6),
        ("12.5 kB/s", 100e3),
        ("1e3kbit", 1e6),
        (".5Mbit", 5e5),
    ],
)
def test_rates(text: str, bits: float) -> None:
    assert rate(text, name="downlink") == pytest.approx(bits)


@pytest.mark.parametrize(
    "text", ["", "1", "Mbit", "1Mb", "1MB", "0Mbit", "-1Mbit", "1e999bit", "nan bit"]
)
def test_wrong_rates_name_the_units(text: str) -> None:
    allowed = (
        r"downlink of a report must be a number > 0 with one of bit, kbit, Mbit, Gbit, B/s, kB/s"
    )
    with pytest.raises(InputError, match=allowed):
        rate(text, name="downlink")


def test_times() -> None:
    assert seconds("50ms", name="latency") == pytest.approx(0.05)
    assert seconds("0s", name="latency") == 0.0
    assert seconds("1.5 min", name="latency") == pytest.approx(90)


@pytest.mark.parametrize("text", ["", "50", "5h", "-1s"])
def test_wrong_times_name_the_units(text: str) -> None:
    with pytest.raises(InputError, match=r"latency of a report must be .* one of us, ms, s, min"):
        seconds(text, name="latency")
