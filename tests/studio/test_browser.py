"""The studio in a real browser: every page draws without complaint, works without a mouse, is whole on a phone."""

import re
import runpy
import shutil
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import expect

import ordino
from ordino.rankers import RANKERS
from ordino.studio.app import make_app
from ordino.studio.frame import NAV
from ordino.studio.sources import find_sources
from ordino.web.address import LOCAL_NAMES, Address, open_port, url_of
from studio_place import HOSTILE, LINEAR, RESULTS, TOKEN

PAGES = [entry.name for group in NAV.values() for entry in group]
WIDEST = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("main *")]
  .filter(one => !one.closest(".scroll, .slope-scroll, svg") && one.getBoundingClientRect().right > innerWidth + 1)
  .map(one => `${one.tagName}.${one.className} ${one.textContent.trim().slice(0, 40)}`).concat("somewhere")"""
LIGHT, DARK = "rgb(252, 251, 249)", "rgb(19, 21, 25)"


@contextmanager
def listening(sources):
    """A studio that listens, in a thread of its own."""
    port = open_port(Address(port=0))
    app = make_app(sources, token=TOKEN, hosts=LOCAL_NAMES, patience=120)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [port]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.02)
    yield url_of(port)
    server.should_exit = True
    thread.join(20)
    port.close()


@pytest.fixture(scope="module")
def address(place):
    """The studio on the whole place."""
    sources = find_sources([place.store, place.data], judged=place.folder / "browser.qrels", results=RESULTS)
    with listening(sources) as found:
        yield found


@pytest.fixture
def visit(browser, address):
    """Open a page; what the browser complains about is kept in ``troubles``, and must be nothing in the end."""
    contexts, pages = [], []

    def open_page(path="/board", **options):
        context = browser.new_context(**options)
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        page.troubles = []
        pages.append(page)
        page.on("console", lambda message: page.troubles.append(message.text))
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.goto(
            f"{address}/judge?token={TOKEN}"
            if path == "/judge"
            else f"{address}{path}{'&' if '?' in path else '?'}token={TOKEN}"
        )
        return page

    yield open_page
    troubles = [trouble for page in pages for trouble in page.troubles]
    for context in contexts:
        context.close()
    assert troubles == []


def look_at(page, scheme, width):
    """Only tables in their boxes scroll sideways, axe finds nothing, and no script that came with data runs."""
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach(part => (part.open = true))")
    assert page.evaluate(WIDEST) == [], f"{page.url} is wider than {width} px"
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (LIGHT if scheme == "light" else DARK)
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").count() == 1


@pytest.mark.parametrize("page", PAGES)
def test_pages_draw_and_axe_finds_nothing(visit, page):
    """On a desk and on a phone."""
    opened = visit(f"/{page}")
    look_at(opened, "light", 1440)
    look_at(opened, "dark", 390)
    opened.set_viewport_size({"width": 320, "height": 900})
    assert opened.evaluate(WIDEST) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", [*PAGES, "nowhere", "query?query=177"])
def test_pages_the_other_way_round(visit, page):
    opened = visit(f"/{page}")
    opened.troubles.clear()  # a page that is not there is told in the console, too
    look_at(opened, "dark", 1440)
    look_at(opened, "light", 390)


def test_from_the_board_to_why_in_four_clicks(visit):
    page = visit("/board")
    page.get_by_role("table", name=re.compile("")).first.locator("tbody tr").nth(1).locator("td a").first.click()
    page.wait_for_url("**/compare?**")
    page.locator("section[aria-label='Queries that moved'] tbody th a").first.click()
    page.wait_for_url("**/query?**")
    page.locator("section[aria-label='The costliest pair of each ranker'] a").first.click()
    page.wait_for_url("**/why?**")
    assert " puts " in page.locator("h1").inner_text()


def test_a_new_user_s_walk_on_the_store_of_the_demo(browser, monkeypatch, capsys):
    """The command that `make demo` prints; then from the board to why a document is first, in four clicks."""
    demo = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "demo.py"))
    few = {name: RANKERS[name] for name in (LINEAR, "single-feature", "random-ranker")}
    made = partial(ordino.synthetic, queries=60)
    monkeypatch.setattr(ordino, "synthetic", lambda name, *, queries, seed: made(name, seed=seed))
    monkeypatch.setitem(demo["main"].__globals__, "RANKERS", few)
    demo["main"]()
    *_, command = capsys.readouterr().out.split("\n\n")[-1].strip().splitlines()
    program, studio, store = command.split()
    assert (Path(program).name, studio) == ("ordino", "studio")
    with listening(find_sources([store])) as address:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto(f"{address}/?token={TOKEN}")
        page.locator("table.board tbody tr").first.locator("td a").first.click()
        page.wait_for_url("**/compare?**")
        page.locator("section[aria-label='Queries that moved'] tbody th a").first.click()
        page.wait_for_url("**/query?**")
        documents = page.locator("svg.wide-drawing a.doc")
        titles = documents.locator("title").all_text_contents()
        first = next(i for i, title in enumerate(titles) if re.search(r", \w+ 1(,|$)", title))
        documents.nth(first).locator("rect").first.click()
        page.locator("a.button", has_text="Why is it first").click()
        page.wait_for_url("**/why?**")
        assert " puts " in page.locator("h1").inner_text()
        context.close()
    shutil.rmtree(Path(store).parent)


def test_the_slope_graph_lights_a_document_and_goes_by_keys(visit):
    page = visit("/query?rankers=LambdaMART%0ADepth", viewport={"width": 1440, "height": 900})
    graph = page.locator("svg.wide-drawing")
    documents = graph.locator("a.doc")
    assert graph.locator("a.doc[tabindex='0']").count() == 1
    documents.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = page.evaluate("document.activeElement.dataset.doc")
    assert second == documents.nth(2).get_attribute("data-doc")
    widths = "link => [...link.querySelectorAll('line')].map(line => parseFloat(getComputedStyle(line).strokeWidth))"
    assert set(documents.nth(2).evaluate(widths)) <= {3.0}
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.dataset.doc") == documents.last.get_attribute("data-doc")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_url("**doc=**")
    first = documents.first.get_attribute("data-doc")
    assert first in page.locator(".detail h2").inner_text()
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "doc=" not in url)
    documents.nth(1).focus()
    page.keyboard.press("x")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/why?a=**")


def test_letters_go_to_pages_and_fields_keep_them(visit):
    page = visit("/board")
    page.locator("input[name=containing]").focus()
    page.keyboard.type("gc")
    assert page.url.endswith("/board")
    page.locator("h1").click()
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.wait_for_url("**/compare**")
    page.keyboard.press("?")
    assert page.locator("details.keys").get_attribute("open") is not None
    page.keyboard.press("Escape")
    assert page.locator("details.keys").get_attribute("open") is None
    page.keyboard.press("t")
    page.locator("html[data-theme=light]").wait_for()
    page.keyboard.press("t")
    page.locator("html[data-theme=dark]").wait_for()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == DARK


def test_brackets_go_through_queries(visit):
    page = visit("/query")
    first = page.locator("select[name=query]").input_value()
    page.keyboard.press("]")
    page.wait_for_url("**query=**")
    assert page.locator("select[name=query]").input_value() != first
    page.keyboard.press("[")
    expect(page.locator("select[name=query]")).to_have_value(first)


def test_a_choice_changes_the_page_and_its_address(visit):
    page = visit("/board")
    page.locator("select[name=against]").select_option("Depth")
    page.wait_for_url("**against=Depth**")
    page.locator(".notes", has_text="the baseline Depth").wait_for()
    address = page.url
    page.goto(address)
    assert page.locator("select[name=against]").input_value() == "Depth"


def test_dragging_over_the_bars_picks_queries(visit):
    page = visit("/compare?a=LambdaMART&b=RandomRanker", viewport={"width": 1440, "height": 900})
    box = page.locator("svg[data-brush]").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 60, steps=4)
    page.mouse.up()
    page.wait_for_url("**low=**")
    page.locator("h2", has_text="that are picked").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "low=" not in url)


def test_the_brush_goes_by_keys(visit):
    page = visit("/compare?a=LambdaMART&b=RandomRanker&low=0.02&high=1", viewport={"width": 1440, "height": 900})
    plot = page.locator("svg[data-brush]")
    first = int(plot.get_attribute("aria-valuenow"))
    plot.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert int(plot.get_attribute("aria-valuenow")) == first + 2
    page.wait_for_url(lambda url: "high=1&" not in f"{url}&")
    page.locator("#bars:focus").wait_for(state="attached")
    width = "document.querySelector('.brush').width.baseVal.value"
    before = page.evaluate(width)
    page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate(width) < before
    page.keyboard.press("Shift+ArrowRight")
    assert page.evaluate(width) == pytest.approx(before, rel=0.02)


def test_dragging_along_an_axis_picks_settings(visit):
    page = visit("/search", viewport={"width": 1440, "height": 900})
    page.wait_for_selector(".chart svg[role=img]")
    box = page.locator("[data-axis='scaling'] line.axis").bounding_box()
    page.mouse.move(box["x"], box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"], box["y"] + box["height"] * 0.6, steps=4)
    page.mouse.up()
    page.wait_for_url("**axis=scaling**")
    page.locator("h2", has_text="settings that are picked").wait_for()
    assert page.locator("polyline.picked").count() == 2  # of three
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "axis=" not in url)


def test_lines_and_findings_go_by_keys(visit):
    page = visit("/board")
    links = page.locator("table.board tbody th a")
    links.first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == links.nth(1).text_content()
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.textContent") == links.last.text_content()
    page.goto(page.url.replace("/board", "/data"))
    page.keyboard.press("]")
    assert page.evaluate("document.activeElement.parentElement.className") == "findings"


def test_an_edit_shows_the_new_order_at_once(visit):
    page = visit("/why?ranker=LinearRegressionRanker")
    field = page.locator("input[name^='edit.']").first
    field.fill("-100000")
    field.dispatch_event("change")
    page.locator(".whatif h2", has_text="If").wait_for()
    assert "It would stand" in page.locator(".whatif").inner_text()
    assert page.locator("tr.edited").count() == 1


def test_judging_by_keys(visit, place):
    page = visit("/judge")
    first = page.locator("form.judge h2").inner_text()
    page.keyboard.press("3")
    expect(page.locator("form.judge h2")).not_to_have_text(first)
    assert (place.folder / "browser.qrels").read_text().endswith(" 3\n")
    second = page.locator("form.judge h2").inner_text()
    page.keyboard.press("Space")
    assert page.locator("details.part").get_attribute("open") is not None
    page.keyboard.press("s")
    expect(page.locator("form.judge h2")).not_to_have_text(second)
    page.keyboard.press("u")
    expect(page.locator("form.judge h2")).to_have_text(first)
    assert (place.folder / "browser.qrels").read_text().endswith(" -1\n")


def test_charts_of_run_and_search_are_drawn_under_the_policy(visit):
    for path in ("/run", "/search"):
        page = visit(path)
        page.wait_for_selector(".chart svg[role=img]")
        assert page.locator(".chart svg path").count() > 0


def test_reading_pages_work_without_scripts(visit):
    page = visit("/board", java_script_enabled=False)
    page.locator("select[name=against]").select_option("Depth")
    page.get_by_role("button", name="Show").click()
    assert "against=Depth" in page.url
    page.locator("thead a", has_text="MAP").click()
    assert page.locator("th[aria-sort]").inner_text().startswith("MAP")
    page.goto(page.url.replace("/board", "/query").partition("?")[0])
    page.locator("svg.wide-drawing a.doc").first.locator("rect").first.click()
    assert "doc=" in page.url
    page.locator("a.button").first.click()
    assert " puts " in page.locator("h1").inner_text()


def test_a_hostile_ranker_is_a_name(visit):
    page = visit(
        f"/model?ranker={HOSTILE}".replace("{", "%7B").replace("&", "%26").replace("'", "%27").replace('"', "%22")
    )
    assert HOSTILE in page.locator("h1").inner_text()
    assert page.evaluate("window.hacked") is None


def test_a_server_that_is_gone_is_told(visit):
    page = visit("/board")
    page.route("**/board?**", lambda route: route.abort())
    page.locator("select[name=against]").select_option("Depth")
    page.wait_for_selector("text=The studio does not answer.")
    assert page.locator("table.board").count() == 1
    page.troubles[:] = [
        one for one in page.troubles if "ERR_FAILED" not in one and "htmx" not in one and "board" not in one
    ]


def test_names_stay_while_rows_scroll_on_a_phone(visit):
    page = visit("/board", viewport={"width": 390, "height": 800})
    name = page.locator("table.board tbody th").first
    before = name.bounding_box()["x"]
    page.locator(".scroll").first.evaluate("box => { box.scrollLeft = 200; }")
    assert name.bounding_box()["x"] == before
    assert page.locator("svg.slim-drawing").count() == 0


def test_more_than_six_rankers_scroll_beside_the_ideal_order(visit):
    names = "%0A".join(
        ["LambdaMART", "LinearRegressionRanker", "SingleFeature", "RandomRanker", "Depth", "Slashes", "tuned"]
    )
    page = visit(f"/query?places=20&rankers={names}", viewport={"width": 1300, "height": 900})
    ideal, box = page.locator("svg.slope-ideal"), page.locator(".slope-scroll")
    before = ideal.bounding_box()["x"]
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") > 100
    box.evaluate("box => { box.scrollLeft = 300; }")
    assert ideal.bounding_box()["x"] == before
