"""The bound beside what it bounds, as a table and as a figure."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lossyfl.experiments.bound import Outcome
from lossyfl.experiments.bound_settings import EXACT
from lossyfl.extras import require
from lossyfl.report.text_table import TextTable

ASSUMPTIONS = "strongly convex smooth losses, bounded gradients, plain SGD"

LEGEND = """\
G^2, eps    the largest of these runs: measured, not proved
omega       likewise, the relative variance of the quantized replies; from 1 on errors may pile up for ever
distance    mean of ||theta - theta*||^2 after the last round; beside it
bound       Theorem 1 with the largest eps of all rounds (and omega; without, the uplink is exact),
by round    and with each round's own eps(t) (and omega(t)),
/ start     this over the distance at the start: from 1 on it promises no progress,
/ measured  over what was measured: how loose it is,
least       and the least of that over all rounds
F - F*      mean loss above the optimum; beside it Corollary 1's bound, with the largest eps
holds       whether all three bounds hold in every round"""


def sheet(outcomes: Sequence[Outcome]) -> TextTable:
    """A line for every outcome: constants, then measured values and bounds after the last round."""
    quantized = _quantized(outcomes)
    rows = [_row(outcome) for outcome in outcomes]
    # Where every uplink is exact, nothing is said of it.
    shown = [name for name in (rows[0] if rows else {}) if quantized or name not in ("q2", "omega")]
    return TextTable(
        title=f"Theorem 1 and Corollary 1 after the last round ({_assumed(outcomes)})",
        columns=tuple(name.strip() for name in shown),
        rows=[tuple(row[name] for name in shown) for row in rows],
    )


def constants(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for every problem: its constants, and which of them are proved."""
    lines = dict[str, None]()
    for outcome in outcomes:
        setting, problem = outcome.setting, outcome.problem
        samples = "" if setting.samples is None else f" ({setting.samples:,} samples)"
        lines[
            f"{setting.task}{samples}, {setting.partition}, {setting.devices} devices: "
            f"d = {problem.dimension:,}, mu >= {problem.mu:g}, L <= {problem.smoothness:.2f} (proved), "
            f"Gamma = {problem.heterogeneity:.3f}, distance at the start {problem.distance0:.2f} (computed)"
        ] = None
    return list(lines)


def growing(outcomes: Sequence[Outcome]) -> str:
    """What is to be said where the devices' memory may grow without limit; empty where it cannot."""
    count = sum(max(outcome.omega) >= 1 for outcome in outcomes)
    if not count:
        return ""
    return (
        f"in {count} of {len(outcomes)} settings omega reaches 1: a quantizer that loses as much as it is "
        "given fills the devices' memory, and no bound that stays finite is proved; a larger q2 has one"
    )


def plot(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write the figure: the distance (solid) and its bounds, a row of panels for each tau."""
    figures = require("matplotlib.figure", extra="report")
    taus = sorted({outcome.setting.tau for outcome in outcomes})
    # By place, not by name: what suits one tau has another step size than what suits the next.
    etas = {tau: _distinct(o.setting.eta for o in outcomes if o.setting.tau == tau) for tau in taus}
    partitions = _distinct(outcome.setting.partition for outcome in outcomes)
    most = max(len(own) for own in etas.values())
    labels = _distinct(_label(outcome) for outcome in outcomes)
    columns = len(partitions) * most
    figure = figures.Figure(
        figsize=(max(3.6 * columns, 7.2), 3.0 * len(taus) + 1.4), layout="constrained"
    )
    panels = figure.subplots(len(taus), columns, sharex=True, sharey=True, squeeze=False)
    for outcome in outcomes:
        setting = outcome.setting
        column = partitions.index(setting.partition) * most + etas[setting.tau].index(setting.eta)
        _draw(panels[taus.index(setting.tau), column], outcome, labels.index(_label(outcome)))
    panels[0, 0].set_ylim(*limits(outcomes))  # it is shared by all
    for panel in panels[-1]:
        panel.set_xlabel("round t")
    for panel in panels[:, 0]:
        panel.set_ylabel("||theta(t) - theta*||²")
    known = [panel.get_legend_handles_labels() for panel in panels.ravel()]
    handles = {label: handle for pair in known for handle, label in zip(*pair, strict=True)}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=max(2, columns))
    tasks = ", ".join(_distinct(outcome.setting.task for outcome in outcomes))
    figure.suptitle(
        f"LFL on l2-regularised logistic regression ({tasks}): measured (solid),\n"
        f"bound with the largest eps (dashed), with eps(t) (dotted). Assumes\n{_assumed(outcomes)}",
        fontsize=10,
    )
    figure.savefig(path, dpi=110)


def _quantized(outcomes: Sequence[Outcome]) -> bool:
    return any(outcome.setting.q2 != EXACT for outcome in outcomes)


def _assumed(outcomes: Sequence[Outcome]) -> str:
    uplink = "quantized or exact uplink" if _quantized(outcomes) else "exact uplink"
    return f"{uplink}, {ASSUMPTIONS}"


def limits(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """The ends of the y axis; bounds of a memory that grows would leave no room for the rest."""
    least = min(min(outcome.distance) for outcome in outcomes)
    most = max(max(outcome.distance_bound) for outcome in outcomes)
    start = max(outcome.problem.distance0 for outcome in outcomes)
    return least / 1.3, 1.3 * min(most, 1000 * start)


def _distinct(texts: Any) -> list[str]:  # noqa: ANN401
    return list(dict.fromkeys(texts))


def _label(outcome: Outcome) -> str:
    setting = outcome.setting
    down = "exact broadcast" if setting.q1 == EXACT else f"q1 = {setting.q1}"
    return down if setting.q2 == EXACT else f"{down}, q2 = {setting.q2}"


def _row(outcome: Outcome) -> dict[str, str]:
    """The cells by column; a space at the end tells equal names apart."""
    setting = outcome.setting
    return {
        "tau": f"{setting.tau}",
        "partition": setting.partition,
        "eta": setting.eta,
        "q1": setting.q1,
        "q2": setting.q2,
        "G^2": f"{outcome.problem.gradient_bound**2:.2f}",
        "eps": "" if setting.q1 == EXACT else f"{max(outcome.eps):.3f}",
        "omega": "" if setting.q2 == EXACT else f"{max(outcome.omega):.2f}",
        "distance": f"{outcome.distance[-1]:.3f}",
        "bound": _limit(outcome.distance_bound[-1]),
        "by round": _limit(outcome.by_round[-1]),
        "/ start": _limit(outcome.remaining),
        "/ measured": f"{outcome.looseness:,.0f}x",
        "least": f"{outcome.least_looseness:.2f}x",
        "F - F*": f"{outcome.gap[-1]:.4f}",
        "bound ": _limit(outcome.gap_bound[-1]),
        "holds": "yes" if outcome.holds else "NO",
    }


def _limit(value: float) -> str:
    """A bound, which may be far out."""
    return f"{value:.2f}" if value < 1e5 else f"{value:.0e}"


def _draw(panel: Any, outcome: Outcome, number: int) -> None:  # noqa: ANN401
    """One outcome's three curves."""
    setting, colour = outcome.setting, f"C{number}"
    rounds = range(setting.rounds + 1)
    panel.semilogy(rounds, outcome.distance, color=colour, label=_label(outcome))
    panel.semilogy(rounds, outcome.distance_bound, color=colour, linestyle="dashed")
    panel.semilogy(rounds, outcome.by_round, color=colour, linestyle="dotted")
    title = f"tau = {setting.tau}, {setting.partition}, eta = {setting.eta}"
    panel.set_title(title, fontsize=8)
