"""Results directories -> one page, tables and figures.

    runs.find     folders -> runs
    groups.group  runs -> groups: the same settings, several seeds
    page.page     groups -> one HTML file that needs nothing else
    markdown      groups -> Markdown
    tables        groups -> CSV
    figure.draw   groups -> a figure for print

Nothing here needs torch; only figures need matplotlib.
"""

from lossyfl.report.figure import draw
from lossyfl.report.groups import Group, group
from lossyfl.report.markdown import markdown
from lossyfl.report.page import page
from lossyfl.report.payload import Options, Section
from lossyfl.report.runs import Run, find
from lossyfl.report.tables import csv_of_devices, csv_of_groups, csv_of_rounds

__all__ = [
    "Group",
    "Options",
    "Run",
    "Section",
    "csv_of_devices",
    "csv_of_groups",
    "csv_of_rounds",
    "draw",
    "find",
    "group",
    "markdown",
    "page",
]
