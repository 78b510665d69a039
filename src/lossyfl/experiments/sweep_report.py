"""What a sweep leaves behind beside its runs: the table as Markdown and CSV, figures, and a report."""

from pathlib import Path

from lossyfl import report
from lossyfl.experiments.sweep import SweepResult
from lossyfl.experiments.sweep_figures import write_figures
from lossyfl.experiments.sweep_table import SweepTable
from lossyfl.experiments.sweep_text import csv_of, html, markdown
from lossyfl.files.atomic import write_atomically


def write_sweep(
    result: SweepResult, table: SweepTable, out: Path, *, figures: bool = True
) -> list[Path]:
    """Write all of it into the folder of the sweep; the files."""
    folders = [run.folder for run in result.plan.runs if run.done]
    texts = {"sweep.md": markdown(table), "sweep.csv": csv_of(table)}
    if folders:
        section = report.Section(title="Sweep", body=html(table))
        groups = report.group(report.find(folders))
        texts["report.html"] = report.page(groups, report.Options(sections=(section,)))
    for name, text in texts.items():
        write_atomically(out / name, [text.encode()])
    drawn = write_figures(result, out, table.confidence) if figures else []
    return [*(out / name for name in texts), *drawn]
