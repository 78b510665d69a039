"""Accuracy against savings: the right points, joined by kind."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from tests.report.synthetic import SETTINGS, long, record, write

from lossyfl.report import savings
from lossyfl.report.figure import draw
from lossyfl.report.groups import Group, group
from lossyfl.report.rows import Both, row
from lossyfl.report.runs import find
from lossyfl.report.styles import MARKERS

SCHEMES = {
    "lossless": "lossless",
    "lfl:q1=2,q2=2": "lfl",
    "lfl:q1=5,q2=5": "lfl",
    "lean:down_budget=1bit,up_budget=1bit": "lean, deadzone",
    "lean:down_budget=0.5bit,server_optimizer=adam(beta1=0.5,beta2=0.9)": "lean, deadzone",
    "lean:down=topk(levels=4,keep=0.1),up=sign": "lean, topk / sign",
    "lean:predict=true,first_budget=4bit": "lean, deadzone, small initial model, predicted",
}


@pytest.fixture
def groups(tmp_path: Path) -> list[Group]:
    for number, scheme in enumerate(SCHEMES):
        for seed in (0, 1):
            chosen = replace(SETTINGS, scheme=scheme, seed=seed)
            write(tmp_path / f"{number}-{seed}", chosen, rounds=long(7 * number + seed, 30))
    write(tmp_path / "empty", replace(SETTINGS, scheme="lb"), rounds=[])
    return group(find([tmp_path]))


def test_kinds_join_rates_and_levels(groups: list[Group]) -> None:
    kinds = {each.settings.scheme: savings.kind(each) for each in groups}
    assert kinds == SCHEMES | {"lb": "lb"}


def test_the_evaluated_model_is_named_where_groups_differ_in_it(tmp_path: Path) -> None:
    for number, model in enumerate(("server", "average")):
        for scheme in ("lossless", "lean"):
            chosen = replace(SETTINGS, scheme=scheme, evaluate=model)
            write(tmp_path / model / scheme, chosen, rounds=long(number, 30))
    both = savings.points(group(find([tmp_path])), "down")
    assert set(both) == {
        "lossless",
        "lossless, average",
        "lean, deadzone",
        "lean, deadzone, average",
    }
    assert set(savings.points(group(find([tmp_path / "average"])), "down")) == {
        "lossless",
        "lean, deadzone",
    }


def test_other_servers_are_not_joined(tmp_path: Path) -> None:
    for number, server in enumerate(("", "server_lr=0.5,", "server_optimizer=adam(beta1=0.5),")):
        for rate in (1, 2):
            scheme = f"lean:{server}down_budget={rate}bit"
            rounds = long(3 * number + rate, 30)
            write(tmp_path / f"{number}-{rate}", replace(SETTINGS, scheme=scheme), rounds=rounds)
    axes = Figure().add_subplot()
    savings.plot(axes, group(find([tmp_path])), "both")
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_marker() == "o"]  # type: ignore[arg-type]
    assert len(lines) == 3
    assert len({line.get_color() for line in lines}) == 1
    assert axes.get_legend_handles_labels()[1] == [" lean, deadzone"]


def test_the_papers_count_joins_like_with_like(tmp_path: Path) -> None:
    for number, server in enumerate(("", ",server_optimizer=adam,server_lr=0.5")):
        for levels in (2, 5):
            scheme = f"lfl:q1={levels},q2={levels}{server}"
            rounds = long(3 * number + levels, 30)
            write(tmp_path / f"{number}-{levels}", replace(SETTINGS, scheme=scheme), rounds=rounds)
    axes = Figure().add_subplot()
    savings.plot(axes, group(find([tmp_path])), "both")
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert [len(line.get_xdata()) for line in dashed] == [2, 2]  # type: ignore[arg-type]
    names = axes.get_legend_handles_labels()[1]
    assert sorted(names) == [" lfl", " lfl, by the paper's count"]


@pytest.mark.parametrize("way", ["down", "up"])
def test_points_are_those_of_the_table(groups: list[Group], way: savings.Way) -> None:
    found = savings.points(groups, way)
    assert set(found) == set(SCHEMES.values())
    assert [len(found[name]) for name in ("lossless", "lfl", "lean, deadzone")] == [1, 2, 2]
    for own in found.values():
        assert [point.saving for point in own] == sorted(point.saving for point in own)
        assert all(point.low <= point.mean <= point.high for point in own)
    facts = row(groups[0])
    assert facts.tail is not None
    point = found["lossless"][0]
    assert point.mean == 100 * facts.tail
    assert point.saving == (facts.saving.down if way == "down" else facts.saving.up)


def test_both_ways_is_what_a_device_hears_and_sends() -> None:
    """Two models of d floats over d / 100 down and d / 50 up: 2 / (0.01 + 0.02)."""
    assert savings.along(Both(down=100.0, up=50.0), "both") == pytest.approx(200 / 3)
    assert savings.along(Both(down=100.0, up=None), "both") is None


def test_seeds_that_agree(tmp_path: Path) -> None:
    """Sums of the same accuracies in another order must not make bars of negative length."""
    for value in (331 / 360, 0.1, 0.7, 1 / 3):
        same = [replace(record, metrics={"accuracy": value}) for record in long(3, 30)]
        for seed in range(3):
            write(
                tmp_path / f"{value}-{seed}",
                replace(SETTINGS, seed=seed, tau=int(100 * value)),
                rounds=same,
            )
    draw(group(find([tmp_path])), tmp_path / "a.svg", x="savings")


def test_schemes_of_others_and_many_kinds(tmp_path: Path) -> None:
    for number in range(40):
        chosen = replace(SETTINGS, scheme=f"my.module{number}:make")
        write(tmp_path / str(number), chosen, rounds=long(number, 3))
    groups = group(find([tmp_path]))
    assert savings.kind(groups[0]) == "my.module0:make"
    for number, scheme in enumerate(("lossless", "lb", "lfl")):
        chosen = replace(SETTINGS, scheme=scheme)
        write(tmp_path / scheme, chosen, rounds=long(number, 3))
    axes = Figure().add_subplot()
    savings.plot(axes, group(find([tmp_path])), "both")
    solid = [line for line in axes.lines if line.get_linestyle() != "--"]
    drawn = [(line.get_color(), line.get_marker()) for line in solid]
    shown = [each for each in drawn if each[1] in list(MARKERS)]
    assert len(shown) > 20
    assert len(set(shown)) == len(shown)
    draw(groups, tmp_path / "a.svg", x="savings")
    draw([], tmp_path / "b.svg", x="savings")


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_file_to_the_byte(groups: list[Group], tmp_path: Path, suffix: str) -> None:
    for name in ("one", "two"):
        draw(groups, tmp_path / f"{name}{suffix}", x="savings", title="a $ b")
    one, two = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()


def test_axes_for_every_way_and_names_in_the_legend(groups: list[Group], tmp_path: Path) -> None:
    write(tmp_path / "m", replace(SETTINGS, task="mnist"), rounds=long(3, 30))
    draw([*groups, *group(find([tmp_path / "m"]))], tmp_path / "a.svg", x="savings")
    text = (tmp_path / "a.svg").read_text()
    assert text.count('id="axes_') == 6
    assert "by the paper's count" in text
    assert "lean, deadzone" in text


def test_names_of_fallen_points_stay_within_the_axes_and_apart(tmp_path: Path) -> None:
    schemes = ["lossless", *(f"lean:down_budget={n}bit,up_budget={n}bit" for n in (0.5, 0.1, 0.02))]
    for number, scheme in enumerate(schemes):
        rounds = [
            record(n, accuracy=0.9 if not number else 0.2, down=4000 >> 3 * number)
            for n in range(9)
        ]
        write(tmp_path / str(number), replace(SETTINGS, scheme=scheme), rounds=rounds)
    figure = Figure(figsize=(5.2, 3.6), layout="constrained")
    axes = figure.add_subplot()
    savings.plot(axes, group(find([tmp_path])), "down")
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) == 3
    assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in boxes)
    assert not any(one.overlaps(two) for one, two in combinations(boxes, 2))
