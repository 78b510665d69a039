"""The page in a real browser: Chromium from the system, driven by Playwright."""

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.report.synthetic import SETTINGS, long, write

from lossyfl.report.groups import group
from lossyfl.report.link import LinkSpeeds, elapsed, load
from lossyfl.report.page import page as make_page
from lossyfl.report.payload import Options
from lossyfl.report.runs import find

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
LINK = LinkSpeeds(downlink=20_000, uplink=5_000, latency=0.2)
ROUNDS = 80
DRAWN = ".plot path.curve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A page, and what went wrong or over the network."""

    page: "Page"
    errors: list[str]
    requests: list[str]


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three schemes with two seeds each, and another task."""
    folder = tmp_path_factory.mktemp("runs")
    for number, scheme in enumerate(("lossless", "lfl:q1=2,q2=2", "lgm")):
        for seed in (0, 1):
            settings = replace(SETTINGS, scheme=scheme, seed=seed)
            write(folder / f"{number}-{seed}", settings, rounds=long(5 * number + seed, ROUNDS))
    write(folder / "other", replace(SETTINGS, task="mnist", scheme="lb"), rounds=long(9, ROUNDS))
    return folder


@pytest.fixture(scope="module")
def file(runs: Path) -> Path:
    path = runs / "report.html"
    path.write_text(make_page(group(find([runs])), Options(link=LINK)))
    return path


@pytest.fixture
def opened(browser: "Browser", file: Path) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1360, "height": 900}, color_scheme="light")
    yield listen(context.new_page(), file)
    context.close()


def listen(page: "Page", file: Path) -> Opened:
    errors: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(f"dialog {dialog.message}"))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector(DRAWN)
    return Opened(page=page, errors=errors, requests=requests)


def curves(page: "Page", chart: str) -> list[str]:
    """The lines of a plot."""
    drawn = page.locator(f"#chart-{chart} path.curve")
    return [drawn.nth(i).get_attribute("d") or "" for i in range(drawn.count())]


def column(page: "Page", number: int) -> list[str]:
    return page.locator(f"#results tbody tr:visible > :nth-child({number})").all_inner_texts()


def test_no_errors_and_nothing_but_the_file(opened: Opened, file: Path) -> None:
    assert opened.errors == []
    assert opened.requests == [file.as_uri()]


def test_every_plot_has_its_curves(opened: Opened) -> None:
    charts = opened.page.locator("figure[id^=chart-]")
    assert charts.count() == 14
    for i in range(charts.count()):
        drawn = charts.nth(i).locator("path.curve")
        assert drawn.count() == 3
        assert all(len(drawn.nth(k).get_attribute("d") or "") > 300 for k in range(3))
    assert opened.page.locator("#chart-metric-rounds path.area").count() == 3
    assert opened.page.locator("#phases .track").count() == 3


def test_a_scheme_switched_off_is_off_everywhere_and_after_a_reload(opened: Opened) -> None:
    page = opened.page
    before = curves(page, "distance")
    page.get_by_role("button", name="lfl:q1=2,q2=2").click()
    for _ in range(2):
        for chart in ("metric-rounds", "metric-bytes", "distance", "seconds"):
            assert len(curves(page, chart)) == 2
        assert page.locator("#results tr.off").count() == 1
        page.reload()
    page.get_by_role("button", name="show all").click()
    assert curves(page, "distance") == before
    page.get_by_role("button", name="lgm").dblclick()
    assert len(curves(page, "distance")) == 1


def test_the_table_sorts(opened: Opened) -> None:
    page = opened.page
    button = page.locator("#results thead").get_by_role("button", name="bytes down")
    before = column(page, 1)
    button.click()
    falling = column(page, 1)
    assert page.locator("#results th[aria-sort=descending]").inner_text().startswith("bytes down")
    button.click()
    assert column(page, 1) == falling[::-1]
    page.locator("#results thead").get_by_role("button", name="scheme").click()
    assert column(page, 1) == sorted(before)


def test_dark_and_light(opened: Opened) -> None:
    page = opened.page

    def paper() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = paper()
    page.get_by_role("button", name="Light or dark").click()
    dark = paper()
    assert light != dark
    page.reload()
    assert paper() == dark
    page.get_by_role("button", name="Light or dark").click()
    assert paper() == light


def test_the_systems_choice_of_dark(browser: "Browser", file: Path) -> None:
    context = browser.new_context(color_scheme="dark")
    page = listen(context.new_page(), file).page
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 19, 23)"
    context.close()


def test_hover_names_the_round_and_all_values(opened: Opened) -> None:
    page = opened.page
    page.locator("#chart-metric-rounds svg").hover()
    said = page.locator("#chart-metric-rounds .tip").inner_text()
    assert re.match(r"round 3\d", said)
    assert said.count("lfl:q1=2,q2=2") == 1
    assert len(re.findall(r"\d\d\.\d\d %\s+\d\d\.\d\d % to \d\d\.\d\d %", said)) == 3


def test_zoom_by_dragging_is_shared_by_plots_over_rounds(opened: Opened) -> None:
    page = opened.page
    before = {chart: curves(page, chart) for chart in ("metric-rounds", "distance")}
    box = page.locator("#chart-metric-rounds svg").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 200, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 120, steps=4)
    page.mouse.up()
    for chart, drawn in before.items():
        assert curves(page, chart) != drawn
    page.locator("#chart-distance").get_by_role("button", name="Reset zoom").click()
    assert {chart: curves(page, chart) for chart in before} == before


def test_direction_and_scale_are_chosen_for_one_plot(opened: Opened) -> None:
    page = opened.page
    both, rounds = curves(page, "metric-bytes"), curves(page, "metric-rounds")
    chart = page.locator("#chart-metric-bytes")
    seen = [both]
    for name in ("down", "up"):
        chart.get_by_role("button", name=name, exact=True).click()
        assert curves(page, "metric-bytes") not in seen
        seen.append(curves(page, "metric-bytes"))
    assert curves(page, "metric-rounds") == rounds
    page.locator("#chart-metric-rounds").get_by_role("button", name="error, log").click()
    assert curves(page, "metric-rounds") != rounds


@pytest.mark.parametrize("view", ["broadcast", "unicast"])
def test_time_over_the_link_is_that_of_python(opened: Opened, runs: Path, view: str) -> None:
    """The page computes it anew, because rates can be changed there."""
    page = opened.page
    made = next(each for each in group(find([runs])) if each.family == "lfl")
    page.locator("#link [name=target]").fill("20")
    row = page.locator("#reach tbody tr", has_text="lfl").locator("td").all_inner_texts()
    reached = int(row[0]) - 1
    for link in (LINK, replace(LINK, downlink=1_000)):
        page.locator("#link [name=downlink]").fill(str(link.downlink / 1000))
        seconds = elapsed(load(made), link, "broadcast" if view == "broadcast" else "unicast")
        said = page.locator("#reach tbody tr", has_text="lfl").locator("td").all_inner_texts()
        assert said[3 if view == "broadcast" else 4] == duration(float(seconds[reached]))


def duration(seconds: float) -> str:
    """As the page says it."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    return f"{int(seconds // 60)}:{int(seconds % 60):02d} min"


def test_what_is_no_rate_changes_nothing(opened: Opened) -> None:
    page = opened.page
    before = curves(page, "metric-time")
    for text in ("0", "-3", ""):
        page.locator("#link [name=uplink]").fill(text)
        assert curves(page, "metric-time") == before
    page.locator("#link [name=uplink]").fill("1")
    assert opened.errors == []


def test_tasks_are_shown_one_at_a_time(opened: Opened) -> None:
    page = opened.page
    page.get_by_role("button", name="mnist").click()
    assert len(curves(page, "metric-rounds")) == 1
    assert column(page, 1) == ["lb"]
    page.get_by_role("button", name="digits").click()
    assert len(column(page, 1)) == 3


def test_keys_move_the_cursor(opened: Opened) -> None:
    page = opened.page
    page.locator("#chart-eps svg").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#chart-eps .tip").is_visible()
    assert page.locator("#said").inner_text().startswith("round ")


def test_a_phone_scrolls_in_one_direction(browser: "Browser", file: Path) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    opened = listen(context.new_page(), file)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
    lefts = opened.page.locator("figure.chart").evaluate_all(
        "all => all.map(each => Math.round(each.getBoundingClientRect().left))"
    )
    assert len(set(lefts)) == 1
    context.close()


def test_hostile_names_run_nothing(browser: "Browser", tmp_path: Path) -> None:
    scheme = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    write(tmp_path / "a", replace(SETTINGS, scheme=scheme))
    write(tmp_path / "b", replace(SETTINGS, scheme="empty"), rounds=[])
    (tmp_path / "r.html").write_text(make_page(group(find([tmp_path]))))
    page = browser.new_page()
    opened = listen(page, tmp_path / "r.html")
    page.locator("#chart-metric-rounds svg").hover()
    assert opened.errors == []
    assert len(opened.requests) == 1
    assert scheme in page.locator("#chips").inner_text()
    page.close()


def test_a_live_page_loads_itself_anew(browser: "Browser", tmp_path: Path) -> None:
    folder = write(tmp_path / "a", rounds=long(0, 20), state="running")
    path = tmp_path / "r.html"
    live = Options(reload=0.5)
    path.write_text(make_page(group(find([tmp_path])), live))
    page = browser.new_page()
    listen(page, path)
    page.locator("#chart-bytes").get_by_role("button", name="up", exact=True).click()
    (folder / "rounds.jsonl").write_text("".join(each.line() for each in long(0, 50)))
    path.write_text(make_page(group(find([tmp_path])), replace(live, reload=None)))
    page.locator("#results td", has_text=re.compile("^50$")).wait_for()
    page.locator("#chart-bytes button[aria-pressed=true]").first.wait_for()  # the script has run
    pressed = page.locator("#chart-bytes button[aria-pressed=true]").all_inner_texts()
    assert pressed == ["up"]
    page.close()


def test_twenty_runs_of_a_thousand_rounds_open_quickly(
    browser: "Browser", twenty: Path, tmp_path: Path
) -> None:
    (tmp_path / "r.html").write_text(make_page(group(find([twenty]))))
    page = browser.new_page()
    start = time.perf_counter()
    listen(page, tmp_path / "r.html")
    taken = time.perf_counter() - start
    assert len(curves(page, "metric-rounds")) == 20
    assert taken < 6  # under 2 s on two cores that do nothing else
    page.close()
