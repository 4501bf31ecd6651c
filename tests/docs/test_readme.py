"""What README says is so: counts, names, links, figures, commands."""

import re
import runpy
from pathlib import Path

import pytest
from test_tutorial import printed

from ordino.metrics import PROFILES
from ordino.rankers import RANKERS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_number_of_rankers():
    assert f"It has {len(RANKERS)} rankers" in README


def test_the_profiles():
    told = README.partition("names the conventions: ")[2].partition(".\n")[0]
    assert re.findall(r"`(\w+)`", told) == list(PROFILES)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_and_named_files_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    named = re.findall(r"(?<![\w/])((?:tests|benchmarks|docs|examples|tools)/[\w/]+\.(?:py|md|txt))", text)
    assert [path for path in links + named if "NAME" not in path and not (ROOT / path).exists()] == []


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *WORKFLOWS, ROOT / ".ci" / "run"]


def asked_of_make(path):
    """What a page or a script has make do: targets, with the tests that they are about."""
    text = path.read_text(encoding="utf-8")
    return re.findall(r"(?:`|^|- run: )make ([\w-]+(?: WITH=[\w./]+)?)", text, re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_targets_of_make_exist(path):
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = [words.split()[0] for words in asked_of_make(path)]
    assert named
    assert set(named) <= set(targets)


def test_the_public_host_runs_what_ci_runs_and_contributors_are_told():
    ours = asked_of_make(ROOT / ".ci" / "run")
    sentence = re.search(r"CI runs[^.]*(?:\.\w[^.]*)*;", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))[0]
    assert re.findall(r"`make ([^`]+)`", sentence) == ours
    public = asked_of_make(ROOT / ".github" / "workflows" / "tests.yml")
    assert public[: len(ours)] == ours
    assert "check" not in public
    assert asked_of_make(ROOT / ".github" / "workflows" / "slow.yml") == ["check"]


def test_contributors_find_every_folder_and_module_in_the_layout():
    """And no file of a recipe is one that is gone."""
    text, home = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), ROOT / "src" / "ordino"
    layout, _, rest = text.partition("| where | what it holds |")[2].partition("\n\n")
    recipes = rest.partition("## Recipes")[2]
    rooms = [path for path in home.iterdir() if path.name[0] not in "_." and path.name != "py.typed"]
    missing = [path.name for path in rooms if f"`{path.name}{'/' * path.is_dir()}`" not in layout]
    assert missing == []
    named = [*re.findall(r"`([\w/]+(?:\.py|/))`", layout), *re.findall(r"`(\w[\w/]*\.py)`", recipes)]
    assert [path for path in named if not ((home / path).exists() or (ROOT / path).exists())] == []


def test_figures_are_those_of_the_results():
    hook = runpy.run_path(str(ROOT / "docs" / "hooks" / "readme.py"))
    assert hook["with_figures"](README) == README, "run: python docs/hooks/readme.py"
    other = re.sub(r"(?<=\| SortNet \| 0\.)\d", "9", README)
    assert other != README == hook["with_figures"](other)


def test_the_row_of_autoranker_is_that_of_its_page():
    page = (ROOT / "docs" / "results" / "auto.md").read_text(encoding="utf-8")
    [row] = re.findall(r"^\| AutoRanker, .*$", README, re.MULTILINE)
    figures = re.findall(r"\| (\d\.\d+) / (\d\.\d+)", row)
    for collection, (ndcg, mean_ap) in zip(("MQ2007", "MQ2008"), figures, strict=True):
        part = page.partition(f"## {collection}, 1 minute")[2].partition("## ")[0]
        assert re.search(rf"^\| AutoRanker \| 5 \| {ndcg} \|.*\| {mean_ap} \|", part, re.MULTILINE)


def test_the_commands_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    block = README.partition("## On the command line")[2].split("```")[1]
    commands = [re.split(r"   +", line)[0] for line in block.strip().splitlines()]
    for command in commands:
        printed(command, capsys)
    assert len(commands) >= 8
    assert (tmp_path / "ranked.csv").read_text(encoding="utf-8").partition("\n")[0].endswith('"rank","score"')
