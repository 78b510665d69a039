"""Every run in the page: settings, what differs highlighted, commands, machines and versions."""

from collections import Counter
from collections.abc import Sequence

from lossyfl.report.groups import Group
from lossyfl.report.markup import Markup, join, tag
from lossyfl.report.runs import Run
from lossyfl.results.experiment import KEYS


def settings_table(groups: Sequence[Group]) -> Markup:
    """Settings that differ, a run a row; those that do not, once."""
    runs = [run for group in groups for run in group.runs]
    differing = [key for key in KEYS if len({_value(run, key) for run in runs}) > 1]
    head = tag("tr", *(tag("th", name, scope="col") for name in ("run", "state", *differing)))
    usual = {key: _usual([_value(run, key) for run in runs]) for key in differing}
    body = [
        tag(
            "tr",
            tag("th", _swatch(number), tag("code", run.name), scope="row"),
            tag("td", _state(run)),
            *(_setting(key, _value(run, key), usual[key]) for key in differing),
            data_group=str(number),
        )
        for number, group in enumerate(groups)
        for run in group.runs
    ]
    table = tag("table", tag("thead", head), tag("tbody", *body), id="settings")
    region = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Settings")
    same = [(key, _value(runs[0], key)) for key in KEYS if key not in differing]
    return join([region, tag("h3", "The same in all runs"), _facts(same)])


def details(groups: Sequence[Group]) -> Markup:
    """The whole configuration and the command of every run."""
    return join(
        tag(
            "details",
            tag("summary", _swatch(number), tag("code", run.name)),
            tag("pre", tag("code", f"$ {run.about.command or 'not known'}")),
            tag("pre", tag("code", run.settings.toml().rstrip())),
            data_group=str(number),
        )
        for number, group in enumerate(groups)
        for run in group.runs
    )


def machines(groups: Sequence[Group]) -> Markup:
    """Every machine and set of versions, and which runs it did."""
    runs = [run for group in groups for run in group.runs]
    known = dict.fromkeys(tuple(run.about.machine.items()) for run in runs)
    return join(
        tag("div", _facts([*machine, ("runs", _who(runs, machine, len(known)))]), class_="machine")
        for machine in known
    )


def _who(runs: Sequence[Run], machine: tuple[tuple[str, str], ...], kinds: int) -> str:
    names = [run.name for run in runs if tuple(run.about.machine.items()) == machine]
    return "all" if kinds == 1 else ", ".join(names)


def _facts(pairs: Sequence[tuple[str, str]]) -> Markup:
    entries = [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs]
    return tag("dl", *entries)


def _state(run: Run) -> str:
    """How a run stands; of one that was stopped, why."""
    about = run.about
    killed = "the process was killed, or the machine stopped"
    why = about.why or (killed if about.state == "stopped" else "")
    return (
        f"{about.state}: {why}" if why and about.state in ("stopped", "diverged") else about.state
    )


def _value(run: Run, key: str) -> str:
    value = getattr(run.settings, key)
    return "as suits the task" if value is None else str(value)


def _usual(values: list[str]) -> str:
    """The value of most runs; of all those that tie, the first."""
    return Counter(values).most_common(1)[0][0]


def _setting(key: str, value: str, usual: str) -> Markup:
    """Schemes and seeds are meant to differ; anything else that does is highlighted."""
    plain = value == usual or key in ("scheme", "seed")
    return tag("td", value if plain else tag("mark", value))


def _swatch(number: int) -> Markup:
    return tag("i", class_="swatch", style=f"--c:var(--g{number})")
