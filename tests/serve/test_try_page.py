"""The page to try a model, in a browser: it ranks, explains, tells errors, and asks for the token."""

import re

import pytest
from playwright.sync_api import expect
from test_process import running

TOKEN = "a-token-of-some-length"


@pytest.mark.slow
def test_the_page_ranks_and_explains(browser, model_files):
    with running(model_files["linear"], "--processes", "1") as (_, url):
        page = browser.new_page()
        troubles = []
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.goto(url)
        expect(page.locator("#body")).to_have_value(re.compile("bm25"))
        page.check("#explain")
        page.click("button")
        page.wait_for_selector("#items tr:nth-child(3)")
        assert page.locator("#items tr td:first-child").all_inner_texts() == ["1", "2", "3"]
        assert any(
            name in page.locator("#items tr:first-child td:nth-child(4)").inner_text() for name in ("bm25", "age")
        )
        assert troubles == []
        page.fill("#body", '{"items": [{"features": {"bm52": 1}}]}')
        page.click("button")
        page.wait_for_selector("#status.error")
        assert "unknown feature 'bm52'; did you mean 'bm25'?" in page.inner_text("#status")
        page.close()


@pytest.mark.slow
def test_the_page_asks_for_the_token(browser, model_files):
    with running(model_files["linear"], "--processes", "1", "--token", TOKEN) as (_, url):
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector("#token:visible")
        page.fill("#token", TOKEN)
        page.keyboard.press("Tab")
        expect(page.locator("#body")).to_have_value(re.compile("bm25"))
        page.click("button")
        page.wait_for_selector("#items tr")
        page.close()
