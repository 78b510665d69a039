"""One HTML file that holds everything: styles, scripts and data. It asks no server for anything."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from lossyfl.report.break_even_table import break_even_table
from lossyfl.report.carrier import carrier_table
from lossyfl.report.curves import bands
from lossyfl.report.device_table import device_table
from lossyfl.report.groups import Group
from lossyfl.report.markup import Markup, join, tag
from lossyfl.report.payload import Options, Section, payload
from lossyfl.report.results_table import results_table
from lossyfl.report.runs_tables import details, machines, settings_table
from lossyfl.report.styles import styles

SCRIPTS = (
    "format.js", "scale.js", "state.js", "path.js", "tooltip.js", "chart.js",
    "curves.js", "charts.js", "phases.js", "link.js", "table.js", "main.js",
)  # fmt: skip
"""In the order in which they go into one script."""

_PLACE = re.compile(r"<!--(\w+)-->")


def page(groups: Sequence[Group], options: Options | None = None) -> str:
    """The page of these groups."""
    chosen = options or Options()
    script = _script()
    pieces = {
        "title": tag("title", _title(groups, chosen)).html,
        "heading": tag("h1", _title(groups, chosen)).html,
        "metrics": _metrics(groups).html,
        "about": _about(groups).html,
        "note": tag("p", chosen.note, class_="note").html if chosen.note else "",
        "sections": _sections(chosen.sections).html,
        "bands": _bands(groups).html,
        "policy": _policy(script),
        "style": f"<style>\n{_asset('page.css')}{_colours(groups)}</style>",
        "results": results_table(groups).html,
        "carrier": carrier_table(groups).html,
        "devices": device_table(groups).html,
        "breakeven": break_even_table(groups).html,
        "settings": settings_table(groups).html,
        "details": details(groups).html,
        "machines": machines(groups).html,
        "data": f'<script type="application/json" id="data">{payload(groups, chosen)}</script>',
        "script": f"<script>{script}</script>",
    }
    return _PLACE.sub(lambda match: pieces[match[1]], _asset("page.html"))


@cache
def _asset(name: str) -> str:
    return files("lossyfl.report").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """All scripts as one, in a scope of its own."""
    parts = "\n".join(_asset(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\n}})();\n'


def _policy(script: str) -> str:
    """A policy under which a browser loads nothing and runs no script but ours."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f'<meta http-equiv="Content-Security-Policy" content="{rules}">'


def _title(groups: Sequence[Group], options: Options) -> str:
    if options.title is not None:
        return options.title
    return " and ".join(_tasks(groups))


def _tasks(groups: Sequence[Group]) -> list[str]:
    return list(dict.fromkeys(group.task for group in groups))


def _about(groups: Sequence[Group]) -> Markup:
    """How much is shown, and what still goes on."""
    runs = sum(len(group.runs) for group in groups)
    rounds = sum(len(run.rounds) for group in groups for run in group.runs)
    parts = [_count(len(groups), "scheme"), _count(runs, "run"), f"{rounds:,} rounds"]
    running = sum(run.about.state == "running" for group in groups for run in group.runs)
    live = [tag("span", f"{running} running", class_="live")] if running else []
    return join([", ".join(parts), *live])


def _metrics(groups: Sequence[Group]) -> Markup:
    """The first metric of every task, at the start of a sentence."""
    words = " or ".join(dict.fromkeys(group.metric.name for group in groups))
    return join([words[:1].upper() + words[1:]])


def _bands(groups: Sequence[Group]) -> Markup:
    words = bands(groups)
    return tag("p", f"Curves are means over seeds; {words}.", class_="note") if words else join([])


def _sections(sections: Sequence[Section]) -> Markup:
    """A heading with what stands below it, for each."""
    return join(
        tag("section", tag("h2", each.title, id=name), each.body, aria_labelledby=name)
        for number, each in enumerate(sections)
        for name in [f"h-own{number}"]
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _colours(groups: Sequence[Group]) -> str:
    """A CSS variable for every group, on white and on black."""
    chosen = list(enumerate(styles(groups)))
    light = "".join(f"--g{number}:{style.light};" for number, style in chosen)
    dark = "".join(f"--g{number}:{style.dark};" for number, style in chosen)
    return (
        f":root{{{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}}}}}\n"
    )
