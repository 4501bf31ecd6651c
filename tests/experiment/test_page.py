"""The page in a real browser, cut off from every network: it draws, sorts, turns dark, and runs nobody's script."""

import dataclasses
import re

import pytest

from ordino.experiment.report.board import make_boards
from ordino.experiment.report.page import html
from trials import made_trials

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\"'&{{ 7 * 7 }}"
LABELS = ["PRank", "LambdaMART", "RankNet", "McRank"]
PLOTS = "figure svg.plot"


@pytest.fixture(scope="module")
def page_text():
    trials = [*made_trials(LABELS), *made_trials([HOSTILE, "B"], dataset=HOSTILE)]
    known = {"feature_weights": {HOSTILE: 1.0, "b": -0.5}, "chosen_by": "ndcg@10", "started": "2026-03-01T10:00:00"}
    set_by = {"LambdaMART": {"leaves": 7}, HOSTILE: {"name": HOSTILE}}
    versions = {"ordino": "0.1.0", "numpy": "2.4.6"}
    return html(
        make_boards(
            dataclasses.replace(trial, **known, versions=versions, params=set_by.get(trial.label, {}))
            for trial in trials
        ),
        title=HOSTILE,
    )


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
        return page

    yield open_page
    for context in contexts:
        context.close()


def first_column(page):
    return page.locator("table.board").first.locator("tbody th").all_inner_texts()


def test_page_names_nothing_outside_itself(page_text):
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:|//)""", page_text)
    assert "default-src 'none'" in page_text
    assert "unsafe" not in page_text.partition("<style>")[0]
    assert len(page_text) < 200_000


def test_plots_are_drawn_without_network_or_complaint(visit):
    page = visit()
    assert page.locator(PLOTS).count() == 6  # of each board: query by query, ndcg at k, learning
    for plot in page.locator(PLOTS).all():
        box = plot.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 50
    assert page.troubles == []


def test_a_click_sorts_and_another_turns_it_round(visit):
    page = visit()
    table = page.locator("table.board").first
    assert first_column(page) == LABELS
    table.get_by_role("button", name="Ranker").click()
    assert first_column(page) == sorted(LABELS)
    table.get_by_role("button", name="Ranker").click()
    assert first_column(page) == sorted(LABELS, reverse=True)
    table.get_by_role("button", name="MAP").click()  # numbers: the largest first
    assert first_column(page) == LABELS
    table.get_by_role("button", name="MAP").click()
    assert first_column(page) == LABELS[::-1]
    assert [text.strip() for text in table.locator("th[aria-sort]").all_inner_texts()] == ["MAP"]


def test_marks_tell_their_p_value_and_its_family(visit):
    cell = visit().locator("table.board").first.locator("tbody tr").last.locator("td").first
    assert "▼" in cell.inner_text()
    told = cell.locator(".mark").get_attribute("title")
    assert re.fullmatch(r"worse, p [=<] \S+ against PRank, corrected for 3 comparisons", told)


def test_deviations_are_shown_on_request(visit):
    page = visit(viewport={"width": 1440, "height": 900})
    spread = page.locator("table.board .spread").first
    assert not spread.is_visible()
    page.get_by_label("deviations").check()
    assert spread.is_visible()


def test_labels_run_no_script(visit):
    page = visit()
    assert page.evaluate("window.hacked") is None
    assert page.locator("main img").count() == 0
    assert HOSTILE in page.locator(".lede").last.inner_text()
    assert HOSTILE in page.locator("table.board").last.text_content()
    assert HOSTILE.replace('"', r"\"") in page.locator("table.settings").last.text_content()


def test_any_two_rankers_can_be_compared_query_by_query(visit):
    page = visit()
    part = page.locator(".versus").first
    assert "PRank wins" in part.locator(".told").inner_text()
    before = part.locator("svg").inner_html()
    part.locator("select").nth(1).select_option(label="McRank")
    assert "McRank wins" in part.locator(".told").inner_text()
    assert part.locator("svg").inner_html() != before
    assert page.troubles == []


def test_the_bars_of_the_script_are_those_of_the_server(visit):
    """Choosing the pair that is shown already draws it again, to the same lengths."""
    page = visit()
    part = page.locator(".versus").first
    heights = "svg => [...svg.querySelectorAll('rect')].map(bar => parseFloat(bar.getAttribute('height')))"
    server, told = part.locator("svg").evaluate(heights), part.locator(".told").inner_text()
    part.locator("select").first.dispatch_event("change")
    assert part.locator("svg").evaluate(heights) == pytest.approx(server, abs=0.3)
    assert part.locator(".told").inner_text() == told


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(visit, scheme):
    page = visit(color_scheme=scheme)

    def ground():
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light, dark = "rgb(252, 251, 249)", "rgb(19, 21, 25)"
    assert ground() == (light if scheme == "light" else dark)
    page.get_by_role("button", name="light or dark").click()
    assert ground() == (dark if scheme == "light" else light)
    assert page.troubles == []


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_nothing_is_clipped(visit, width):
    """The page never scrolls sideways: tables do so inside their box, and plots are as wide as there is room."""
    page = visit(viewport={"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for plot in page.locator(PLOTS).all():
        box = plot.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    box = page.locator(".scroll").first
    assert box.evaluate("box => getComputedStyle(box).overflowX") == "auto"
    clipped = box.evaluate("box => box.scrollWidth - box.clientWidth")
    assert clipped == 0 if width == 1440 else clipped > 0


def test_axe_finds_nothing(visit):
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(visit(bypass_csp=True))
    assert found.violations_count == 0, found.generate_report()


def test_a_ranker_is_named_while_its_row_scrolls_on_a_phone(visit):
    page = visit(viewport={"width": 390, "height": 800})
    name = page.locator("table.board tbody th").first
    before = name.bounding_box()["x"]
    page.locator(".scroll").first.evaluate("box => { box.scrollLeft = 200; }")
    assert name.bounding_box()["x"] == before


def test_plots_have_labels(visit):
    labels = [plot.get_attribute("aria-label") for plot in visit().locator(PLOTS).all()]
    assert labels[0].startswith("PRank wins")
    assert labels[1].startswith("NDCG at k of the best rankers")
    assert "NDCG@10 on validation data" in labels[2]


def test_the_page_says_how_its_numbers_were_made(visit):
    page = visit()
    made = page.locator(".made").first.inner_text()
    assert "2026-03-01" in made
    assert "ordino 0.1.0, numpy 2.4.6" in made
    assert re.search(r"Chosen on validation data by\s+ndcg@10", made)
    rows = page.locator("table.settings").first.locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[:2] for row in rows[:2]] == [["PRank", "defaults"], ["LambdaMART", "leaves=7"]]
    assert "Run on 2026-03-01 with ordino 0.1.0." in page.locator(".lede").first.inner_text()


def test_the_page_opens_with_its_finding(visit):
    told = visit().locator("h2").first.inner_text()
    assert told == "PRank is ahead of all three others on NDCG@10 by more than chance."
