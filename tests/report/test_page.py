"""The page as a file; test_browser.py opens it."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.report.synthetic import SETTINGS, write

from lossyfl.report.groups import group
from lossyfl.report.page import page
from lossyfl.report.payload import Options
from lossyfl.report.runs import find

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&<!--data-->"


class Tags(HTMLParser):
    """All elements with their attributes, and the text outside of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def made(folder: Path, options: Options | None = None) -> str:
    return page(group(find([folder])), options)


def test_nothing_is_loaded_from_anywhere(tmp_path: Path) -> None:
    write(tmp_path / "a")
    html = made(tmp_path)
    for tag, attributes in Tags(html).tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert not {"src", "href", "srcset", "action"} & set(attributes)
    assert set(re.findall(r"https?://[^\s\"'<)]*", html)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest|WebSocket", html)
    assert "default-src 'none'" in html


@pytest.mark.parametrize("where", ["scheme", "task", "lr", "command", "title", "folder"])
def test_hostile_text_is_only_text(tmp_path: Path, where: str) -> None:
    settings = replace(SETTINGS, **{where: HOSTILE}) if hasattr(SETTINGS, where) else SETTINGS
    folder = HOSTILE.replace("/", "") if where == "folder" else "a"
    command = HOSTILE if where == "command" else "lossyfl run"
    write(tmp_path / folder, settings, command=command)
    options = Options(title=HOSTILE if where == "title" else None)
    parsed = Tags(made(tmp_path, options))
    assert [tag for tag, _ in parsed.tags].count("script") == 2
    assert not [tag for tag, _ in parsed.tags if tag == "img"]
    assert not [
        name for _, attributes in parsed.tags for name in attributes if name.startswith("on")
    ]
    said = folder if where == "folder" else HOSTILE
    assert said in "".join(parsed.words)


def test_the_same_runs_are_the_same_page(tmp_path: Path) -> None:
    for seed in range(3):
        write(tmp_path / str(seed), replace(SETTINGS, seed=seed))
    assert made(tmp_path) == made(tmp_path)


def test_twenty_runs_of_a_thousand_rounds_are_small(twenty: Path) -> None:
    assert len(made(twenty)) < 10e6
