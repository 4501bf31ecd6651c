"""The site: pages that are made from tables, pages that can be reached, and a build without a broken link."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

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


def test_every_page_can_be_reached():
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = leaves(HOOKS["folders"]["expand"](settings["nav"], DOCS))
    assert sorted(pages) == sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))


def test_pages_made_from_the_table_of_rankers():
    for page, text in HOOKS["tables"]["pages"]().items():
        assert (DOCS / page).read_text(encoding="utf-8") == text, "run: python docs/hooks/tables.py"


def test_every_public_name_is_in_the_reference():
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
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


def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > len(RANKERS)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//[^>]+""", text) == [], page
        assert re.findall(r"""<link[^>]+href=["']?(?:https?:)?//[^>]+""", text) == [], page
        assert ".. math::" not in text, page
