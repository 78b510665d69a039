"""The report of a search: its choice explained, above the page of its runs."""

from pathlib import Path

from lossyfl import report
from lossyfl.experiments.choice import Choice, Judgement
from lossyfl.experiments.trials import Trial, frontier
from lossyfl.experiments.tune import SearchResult
from lossyfl.files.atomic import write_atomically
from lossyfl.report.markup import Markup, join, tag
from lossyfl.report.text import MISSING, size, size_down
from lossyfl.results.directory import Results
from lossyfl.results.records import read_rounds
from lossyfl.tasks.metrics import Metric

HEADS = ("scheme", "seeds", "down", "reply", "verdict")
NOTE = (
    "± is the noise: Student's t over seeds, paired, and the binomial noise of the test set, for all "
    "verdicts of the search at once. It assumes that seeds are independent and normal, and that models err "
    "independently of each other; models that learn the same err alike, and are closer. * none is better "
    "in all three."
)


def write_tune(found: SearchResult, chosen: Choice, out: Path) -> Path | None:
    """Write the page; nothing where nothing was run."""
    folders = [folder for each in found.tried.values() for folder in each.folders]
    folders = [folder for folder in folders if read_rounds(Results(folder).rounds)]
    runs = report.find(folders)
    if not runs:
        return None
    section = report.Section(title="The choice", body=explained(found, chosen))
    options = report.Options(sections=(section,))
    path = out / "report.html"
    write_atomically(path, [report.page(report.group(runs), options).encode()])
    return path


def explained(found: SearchResult, chosen: Choice) -> Markup:
    """The sentences of the choice, and a row for every trial."""
    words = [tag("p", sentence) for sentence in chosen.sentences]
    against = chosen.reference or "the goal"
    heads = ("", "scheme", "seeds", chosen.metric.name, f"from {against}", *HEADS[2:])
    head = tag("tr", *(tag("th", name, scope="col") for name in heads))
    tried = list(found.tried.values())
    front = frontier(tried)
    body = [
        tag("tr", *(tag("td", cell) for cell in cells(each, chosen, each in front)))
        for each in ordered(tried)
    ]
    table = tag("table", tag("thead", head), tag("tbody", *body))
    shown = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Trials")
    return join([*words, shown, tag("p", NOTE, class_="note")])


def ordered(tried: list[Trial]) -> list[Trial]:
    """From the most bytes to the fewest."""
    return sorted(tried, key=lambda each: -(each.down + each.up))


def cells(each: Trial, chosen: Choice, on_front: bool) -> list[str]:
    """A trial for people."""
    judged = chosen.of(each.scheme)
    down = size_down(each.down, each.catch_up)
    bytes_ = (MISSING, MISSING) if each.failed else (down, size(each.up))
    return [
        "*" if on_front else "",
        each.scheme,
        str(len(each.values)),
        MISSING if each.failed else chosen.metric.text(each.value),
        apart(judged, chosen.metric),
        *bytes_,
        judged.words,
    ]


def apart(judged: Judgement, metric: Metric) -> str:
    """A difference with its noise."""
    if judged.apart is None:
        return MISSING
    margin = "" if judged.margin is None else f" ± {metric.number(judged.margin)}"
    return f"{metric.number(judged.apart)}{margin}"
