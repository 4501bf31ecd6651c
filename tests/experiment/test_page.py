"""The page in a real browser, cut off from every network: it draws, sorts, turns dark, and runs nobody's script."""

import dataclasses
import re
import shutil

import pytest

from ordino.experiment.report.board import make_boards
from ordino.experiment.report.page import html
from trials import made_trials

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\"'&{{ 7 * 7 }}"
LABELS = ["PRank", "LambdaMART", "RankNet", "McRank"]
CHARTS = ".chart svg.marks"


@pytest.fixture(scope="module")
def page_text():
    trials = [*made_trials(LABELS), *made_trials([HOSTILE, "B"], dataset=HOSTILE)]
    trials = [dataclasses.replace(trial, feature_weights={HOSTILE: 1.0, "b": -0.5}) for trial in trials]
    return html(make_boards(trials), title=HOSTILE)


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="the page is tested with playwright")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("there is no chromium to test the page in; install it with: apt install chromium")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, page_text, tmp_path):
    """Open the page offline; what the browser complains about or asks the network for is kept in ``troubles``."""
    (tmp_path / "page.html").write_text(page_text, encoding="utf-8")
    contexts = []

    def open_page(**options):
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.troubles = []
        page.on("console", lambda message: page.troubles.append(message.text))
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on(
            "request", lambda request: page.troubles.append(request.url) if request.url.startswith("http") else None
        )
        page.goto((tmp_path / "page.html").as_uri())
        page.wait_for_function(f"document.querySelectorAll('{CHARTS}').length == 12")
        return page

    yield open_page
    for context in contexts:
        context.close()


def first_column(page):
    return page.locator("table.board").first.locator("tbody td:first-child").all_inner_texts()


def test_page_names_nothing_outside_itself(page_text):
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:|//)""", page_text)
    assert "default-src 'none'" in page_text


def test_charts_are_drawn_without_network_or_complaint(visit):
    page = visit()
    assert page.locator(".chart").count() == 12
    for chart in page.locator(CHARTS).all():
        box = chart.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 50
    assert page.troubles == []


def test_a_click_sorts_and_another_turns_it_round(visit):
    page = visit()
    table = page.locator("table.board").first
    assert first_column(page) == LABELS
    table.get_by_role("button", name="ranker").click()
    assert first_column(page) == sorted(LABELS)
    table.get_by_role("button", name="ranker").click()
    assert first_column(page) == sorted(LABELS, reverse=True)
    table.get_by_role("button", name="map").click()  # numbers: the largest first
    assert first_column(page) == LABELS
    table.get_by_role("button", name="map").click()
    assert first_column(page) == LABELS[::-1]
    assert table.locator("th[aria-sort]").all_inner_texts() == ["map"]


def test_marks_tell_their_p_value(visit):
    cell = visit().locator("table.board").first.locator("tbody tr").last.locator("td").nth(2)
    assert "▼" in cell.inner_text()
    assert re.fullmatch(r"p = \S+ against PRank", cell.get_attribute("title"))


def test_labels_run_no_script(visit):
    page = visit()
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img").count() == 0
    assert HOSTILE in page.locator("h2").last.inner_text()
    assert HOSTILE in page.locator("table.board").last.inner_text()


def test_any_two_rankers_can_be_compared_query_by_query(visit):
    page = visit()
    chart = page.locator(".card", has=page.get_by_role("heading", name="Query by query")).first
    assert "PRank against LambdaMART" in chart.locator("svg.marks").inner_html()
    chart.locator("select").nth(1).select_option(label="McRank")
    page.wait_for_timeout(300)
    assert "PRank against McRank" in chart.locator("svg.marks").inner_html()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(visit, scheme):
    page = visit(color_scheme=scheme)

    def ground():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = "rgb(246, 247, 249)", "rgb(20, 23, 27)"
    assert ground() == (light if scheme == "light" else dark)
    page.get_by_role("button", name="light or dark").click()
    assert ground() == (dark if scheme == "light" else light)
    page.wait_for_function(f"document.querySelectorAll('{CHARTS}').length == 12")
    assert page.troubles == []


def test_a_phone_scrolls_tables_not_the_page(visit):
    page = visit(viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
