"""Break-even rates, as a table in the page."""

import re
from dataclasses import replace
from pathlib import Path

from tests.report.synthetic import SETTINGS, record, write

from lossyfl.report.break_even_table import HEADS, break_even_table
from lossyfl.report.groups import group
from lossyfl.report.runs import find


def test_bytes_saved_coding_and_the_rate_each_way(tmp_path: Path) -> None:
    """As in test_break_even.py: 3,750 bytes in 0.01 s down, 3,898 in 0.05 s up."""
    write(tmp_path / "a")
    html = break_even_table(group(find([tmp_path]))).html
    cells = re.findall(r"<td>(.*?)</td>", html)
    assert cells == [
        "3.75 kB", "10 ms", "<b>3.00 Mbit/s</b>", "3.90 kB", "50 ms", "<b>624 kbit/s</b>",
    ]  # fmt: skip
    assert all(head in html for head in HEADS)


def test_what_saves_nothing_has_no_rate(tmp_path: Path) -> None:
    larger = [record(t, down=5000, up=5000) for t in range(2)]
    write(tmp_path / "a", replace(SETTINGS, scheme="lossless"), rounds=larger)
    html = break_even_table(group(find([tmp_path]))).html
    assert re.findall(r"<td>(.*?)</td>", html) == ["nothing", "10 ms", "-", "nothing", "50 ms", "-"]
