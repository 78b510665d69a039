"""A report as Markdown."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.synthetic import SETTINGS, record, write

from lossyfl.report.groups import group
from lossyfl.report.link import LinkSpeeds
from lossyfl.report.markdown import EITHER, ONCE, TO_EACH, markdown
from lossyfl.report.runs import find


def test_markdown_has_a_table_for_each_task(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b", replace(SETTINGS, seed=1))
    write(tmp_path / "c", replace(SETTINGS, task="mnist", scheme="lossless"), rounds=[])
    text = markdown(group(find([tmp_path])))
    assert "### digits\n" in text
    assert "### mnist\n" in text
    assert (
        "| lfl:q1=2,q2=2 | 0-1 | 4 | 80.00 % | 65.00 ± 11.95 % | 65.00 % | 80.00 % | 1.00 kB | 1.21 kB "
        "| 16.0x / 39.6x | 12.5x / 12.5x | 2.00 / 0.81 | 2.2 s |\n"
    ) in text
    assert "| lossless | 0 | 0 | - | - | - | - | 0 B | 0 B | - / - | - / - | - / - | 0 ms |" in text


def test_markdown_escapes(tmp_path: Path) -> None:
    write(tmp_path / "a", replace(SETTINGS, scheme="<b>|`x`_y\nz\x1b[2J"))
    text = markdown(group(find([tmp_path])))
    assert "| &lt;b&gt;\\|\\`x\\`\\_y z\\\\x1b\\[2J |" in text


def test_markdown_says_what_quantizing_did(tmp_path: Path) -> None:
    """Medians over rounds; the first broadcast is exact and counts in none of them."""
    write(tmp_path / "a")
    text = markdown(group(find([tmp_path])))
    assert "| of replies | norm of the broadcast | distance of the estimate | left over" in text
    assert "| lfl:q1=2,q2=2 | 0.25 | 0.8 | 6.5 | 6.0 | 7.0 | 1 | 0.2 | 0.8 |\n" in text


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("lossyfl run --note a|b", "  `lossyfl run --note a|b`\n"),
        ("x` <script>alert(1)</script> `y", "  `` x` <script>alert(1)</script> `y ``\n"),
        ("`` ```", "  ```` `` ``` ````\n"),
        ("a\n\n# head\r\n<b>\x1b[2J\u2028", "  `a\\n\\n# head\\r\\n<b>\\x1b[2J\\u2028`\n"),
        (" ", "  `   `\n"),
    ],
)
def test_commands_are_code_and_nothing_else(command: str, shown: str, tmp_path: Path) -> None:
    write(tmp_path / "a`b", command=command)
    text = markdown(group(find([tmp_path])))
    assert text.endswith(shown)
    assert f"\n- `` {tmp_path}/a`b ``: task" in text
    assert len(text.splitlines()) == len(text.split("\n")) - 1


def test_markdown_has_all_that_the_page_has(tmp_path: Path) -> None:
    write(tmp_path / "a")
    text = markdown(group(find([tmp_path])), "How it *was* made", LinkSpeeds())
    assert text.startswith("How it \\*was\\* made\n")
    assert "saving down after the initial model" in text
    assert "1.00 Mbit/s down, 250 kbit/s up: broadcast | unicast |" in text
    assert "break-even rate down" in text
    assert f'- `{tmp_path / "a"}`: task = "digits"' in text


def test_markdown_tells_catch_up_and_for_whom_bytes_count(tmp_path: Path) -> None:
    one = record(0)
    own = replace(one, copies=replace(one.down, nbytes=750, raw=12_000, catch_up=500))
    write(tmp_path / "a", replace(SETTINGS, listen="participants"), rounds=[own])
    text = markdown(group(find([tmp_path])))
    assert "| 750 B, of which catch-up 500 B | 303 B | 16.0x / 39.6x |" in text
    assert f"frames, {TO_EACH};" in text
    write(tmp_path / "b", rounds=[one])
    assert f"frames, {EITHER};" in markdown(group(find([tmp_path])))
    assert f"frames, {ONCE};" in markdown(group(find([tmp_path / "b"])))
