"""What a search for a scheme came to, on a terminal or as JSON."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from lossyfl.commands.output import console, echo, echo_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lossyfl.experiments.choice import Choice
    from lossyfl.experiments.trials import Trial
    from lossyfl.experiments.tune import SearchResult


def show(found: "SearchResult", chosen: "Choice", page: "Path | None", *, as_json: bool) -> None:
    """The trials and the choice, as a table and sentences or as JSON."""
    from lossyfl.experiments.trials import frontier

    tried, best = found.tried, found.best
    front = frontier(list(tried.values()))
    if as_json:
        rows = [_facts(each, chosen) | {"frontier": each in front} for each in tried.values()]
        said = {"trials": rows, "best": _facts(best, chosen) if best else None}
        echo_json({"metric": chosen.metric.name} | said | {"words": chosen.sentences})
        return
    _show_table(found, chosen, front)
    for each in tried.values():
        if each.failed:
            echo(f"{each.scheme} failed: {each.failed}", err=True)
    for sentence in chosen.sentences:
        echo(sentence)
    if page is not None:
        echo(f"{page} explains it, above the curves of all runs")
    if best is None:
        echo(f"{found.words}: none{_reached(list(tried.values()))}")
    else:
        echo(f"{found.words}: --scheme '{best.scheme}'")


def _facts(each: "Trial", chosen: "Choice") -> dict[str, object]:
    """A trial as JSON."""
    judged = chosen.of(each.scheme)
    facts: dict[str, object] = asdict(each)
    del facts["metric"]
    facts["folders"] = [str(folder) for folder in each.folders]
    facts["value"] = each.value
    facts["verdict"] = judged.words
    facts["difference"], facts["margin"] = judged.apart, judged.margin
    return facts


def _show_table(found: "SearchResult", chosen: "Choice", front: "Sequence[Trial]") -> None:
    from rich.table import Table
    from rich.text import Text

    from lossyfl.errors import printable
    from lossyfl.experiments.tune_report import cells, ordered

    name = printable(chosen.metric.name)
    title = f"Mean {name} of the evaluations in the last fifth, ten at most; bytes per round after"
    against = printable(chosen.reference) or "the goal"
    table = Table(title=f"{title} the initial model; * none is better in all three")
    for head in ("", "scheme", "seeds", name, f"from {against}", "down", "reply", ""):
        left = head in ("", "scheme")
        table.add_column(head, justify="left" if left else "right", overflow="fold")
    for each in ordered(list(found.tried.values())):
        shown = [Text(printable(cell)) for cell in cells(each, chosen, each in front)]
        table.add_row(*shown, style="bold" if each == found.best else None)
    console(width=110).print(table)


def _reached(tried: "Sequence[Trial]") -> str:
    """The best value of all, if there is one."""
    some = [each for each in tried if not each.failed]
    if not some:
        return ""
    metric = some[0].metric
    best = metric.best([each.value for each in some])
    return f"; the best of all was {metric.text(best)}"
