"""The site: pages that are made from tables, pages that can be reached, and a build without a broken link."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
import yaml

import ordino
from ordino.rankers import RANKERS, ranker_class

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HOOKS = {path.stem: runpy.run_path(str(path)) for path in (DOCS / "hooks").glob("*.py")}


def leaves(nav: list) -> list[str]:
    return [
        page
        for entry in nav
        for page in (
            leaves([below for part in entry.values() for below in part]) if isinstance(entry, dict) else [entry]
        )
    ]


def navigation() -> list:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    return HOOKS["folders"]["expand"](settings["nav"], DOCS)


def links(page: str) -> set[str]:
    """The pages that a page links to."""
    home = (DOCS / page).parent
    found = re.findall(r"\]\(([^)#:]+\.md)", (DOCS / page).read_text(encoding="utf-8"))
    return {Path(os.path.relpath((home / one).resolve(), DOCS)).as_posix() for one in found}


def test_every_page_can_be_reached():
    shown = set(leaves(navigation()))
    behind = set().union(
        *map(links, ("results/index.md", "reproduction.md", "results/beyond.md", "api/rankers/index.md"))
    )
    assert shown | behind == {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | behind
    assert behind - shown == {page for page in behind if page.startswith(("results/", "api/rankers/"))}


def test_the_navigation_leads_with_guides_and_keeps_results_behind_an_index():
    titles = [title for entry in navigation() for title in entry]
    assert titles[:2] == ["Start", "Guides"]
    assert [page for page in leaves(navigation()) if page.startswith("results/")] == ["results/index.md"]
    assert [page for page in leaves(navigation()) if page.startswith("api/rankers")] == ["api/rankers/index.md"]


def test_every_ranker_has_its_defaults_and_a_formula():
    for name in RANKERS:
        page = (DOCS / "rankers" / f"{name}.md").read_text(encoding="utf-8")
        for parameter, default in ranker_class(name)().get_params(deep=False).items():
            assert f"| `{parameter}` | `{default!r}` |" in page, (name, parameter)
        formula = page.partition("\n## Formula\n")[2].partition("\n## ")[0]
        assert name == "gp-rank" or "```math\n" in formula, f"{name}: the formula is not drawn"
        assert not re.search(r"^(    \S|```$(?=\n\S.* = ))", formula, re.MULTILINE), f"{name}: a formula in letters"


def test_every_command_has_a_row():
    from ordino.cli.app import app

    rows = "\n".join(re.findall(r"^\| `.*", (DOCS / "command-line.md").read_text(encoding="utf-8"), re.MULTILINE))
    for command in typer.main.get_command(app).commands:
        assert re.search(rf"`(ordino )?{command}\b", rows), f"docs/command-line.md says nothing of {command}"


def test_lists_and_tables_do_not_touch():
    """Without an empty line between them, Markdown takes the second for a part of the first."""
    for page in DOCS.rglob("*.md"):
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        assert not re.search(r"^\|.*\n[^|\n<]", text, re.MULTILINE), page
        assert not re.search(r"^(?![-|*\d\s]).+\n- ", text, re.MULTILINE), page


def test_pages_made_from_the_table_of_rankers():
    for page, text in HOOKS["tables"]["pages"]().items():
        assert (DOCS / page).read_text(encoding="utf-8") == text, "run: python docs/hooks/tables.py"


def test_every_public_name_is_in_the_reference():
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").rglob("*.md"))
    assert [name for name in ordino.__all__ if not re.search(rf"\b{name}\b", pages)] == []


def test_what_ranklib_users_are_told_to_set_exists():
    page = (DOCS / "from-ranklib.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d \| .+? \| `(.+?)` \| (.+) \|$", page, re.MULTILINE)
    assert len(rows) == 7
    for name, settings in rows:
        assert name in RANKERS
        assert set(re.findall(r": `(\w+)`", settings)) <= set(ranker_class(name)().get_params())


def test_what_lightgbm_users_are_told_to_set_exists():
    table = (
        (DOCS / "from-lightgbm.md").read_text(encoding="utf-8").partition("| `LambdaMART` |")[2].partition("\n\n")[0]
    )
    told = re.findall(r"\| `(\w+)[^|]*` \|$", table, re.MULTILINE)
    assert len(told) == 13
    assert set(told) <= set(ordino.LambdaMART().get_params())


def test_formulas_become_mathml():
    from markdown import markdown

    made = markdown(
        "A :math:`x_1` of :class:`~ordino.Dataset`:\n\n.. math:: a\n    = b\n\nEnd",
        extensions=[HOOKS["formulas"]["Formulas"]()],
    )
    assert re.sub(r"<math.*?(<mi>.)", r"\1", made).startswith("<p>A <mi>x")
    assert made.count("<math") == 2
    assert "math:" not in made
    assert "<code>Dataset</code>" in made
    assert made.endswith("<p>End</p>")


def test_formulas_of_pages_are_written_as_github_draws_them():
    from markdown import markdown

    text = "Of $`x_1`$:\n\n```math\na = \\frac{1}{2}\n```\n\n```\n$`code`$\n```\n"
    made = markdown(text, extensions=["pymdownx.superfences", HOOKS["formulas"]["Formulas"]()])
    assert made.count("<math") == 2
    assert 'display="block"' in made
    assert "$`code`$" in made
    assert "```" not in made


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow  # the site is built; CI runs these
def test_the_site_loads_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > len(RANKERS)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//[^>]+""", text) == [], page
        assert re.findall(r"""<link[^>]+href=["']?(?:https?:)?//[^>]+""", text) == [], page
        assert ".. math::" not in text, page
        assert "$<code>" not in text, page


@pytest.mark.slow
def test_the_search_works_from_a_folder(site, browser):
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.goto((site / "index.html").as_uri())
        page.locator("input.md-search__input").click()
        page.keyboard.type("LambdaMART", delay=20)
        page.locator(".md-search-result__item").first.wait_for()
        found = page.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.pathname)")
        assert any(path.endswith("/rankers/lambda-mart.html") for path in found)


@pytest.mark.slow  # every page in a browser
def test_pages_show_all_their_code_and_are_not_endless(site, browser):
    with browser.new_context(offline=True, viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        for file in sorted(site.rglob("*.html")):
            if file.name != "404.html" and "reproduce" not in file.parts:
                page.goto(file.as_uri())
                boxes = page.locator("pre > code, math[display=block]")
                cut = boxes.evaluate_all("boxes => boxes.filter(box => box.scrollWidth > box.clientWidth + 1).length")
                assert cut == 0, file
                assert page.evaluate("document.documentElement.scrollWidth") == 1280, file
                assert page.evaluate("document.documentElement.scrollHeight") < 16_000, file
