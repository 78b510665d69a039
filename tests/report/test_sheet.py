"""Files of figures: legends and suffixes."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from lossyfl.errors import InputError
from lossyfl.report import sheet


def test_axes_are_as_many_as_asked_and_room_beside_them_is_added(tmp_path: Path) -> None:
    sizes: list[tuple[float, float]] = []

    def fill(figure: Figure) -> None:
        figure.add_subplot(2, 3, 1)
        sizes.append((figure.get_figwidth(), figure.get_figheight()))

    sheet.write(tmp_path / "a.svg", (2, 3), fill)
    sheet.write(tmp_path / "b.svg", (2, 3), fill, beside=2.0)
    assert sizes == [
        (pytest.approx(15.6), pytest.approx(7.2)),
        (pytest.approx(17.6), pytest.approx(7.2)),
    ]
    assert (tmp_path / "a.svg").read_text().count('id="axes_') == 1


def test_a_suffix_that_nobody_draws_is_refused_before_anything_is_drawn(tmp_path: Path) -> None:
    def fill(_: Figure) -> None:
        raise AssertionError

    with pytest.raises(InputError, match=r"suffix of a figure must be one of .*got a\.gif"):
        sheet.write(tmp_path / "a.gif", (1, 1), fill)


def test_a_legend_only_where_something_is_named() -> None:
    axes = Figure().add_subplot()
    sheet.legend(axes, "a note")
    assert axes.get_legend() is None
    axes.plot([0, 1], label="x $ y $")
    sheet.legend(axes, "a note")
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "a note"
    assert not any(each.get_parse_math() for each in legend.get_texts())


def test_many_names_beside_axes_are_smaller() -> None:
    axes = Figure().add_subplot()
    for number in range(2 * sheet.ROOM):
        axes.plot([0, 1], label=str(number))
    sheet.legend(axes, beside=True)
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_fontsize() == pytest.approx(7.5 / 2)


def test_a_plot_is_a_figure_before_it_is_a_file() -> None:
    def fill(figure: Figure) -> None:
        figure.add_subplot(1, 2, 1)

    figure = sheet.Plot(shape=(1, 2), fill=fill, beside=1.0).figure()
    assert figure.get_figwidth() == pytest.approx(2 * 5.2 + 1)
    assert len(figure.axes) == 1
