"""The commands of the pages on export and import are typed as they stand, and print what the pages show."""

import re
from pathlib import Path

import pytest
from test_tutorial import assert_same_words, printed, steps

import ordino
from ordino.export import TARGETS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [*sorted((DOCS / "export").glob("*.md")), DOCS / "from-ranklib.md", DOCS / "from-lightgbm.md"]
RANKLIB = Path(__file__).parents[1] / "fixtures" / "engines" / "ranklib"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The files that the pages name."""
    place = tmp_path_factory.mktemp("pages")
    data = ordino.synthetic("mq", queries=20, seed=1)
    train, test = data.split(0.6)
    ordino.write_letor(data, place / "all.txt")
    ordino.write_letor(test, place / "test.txt")
    trees = ordino.LambdaMART(rounds=10, min_leaf=5).fit(train)
    ordino.save(trees, place / "model.ordino")
    (place / "lightgbm.txt").write_text(trees.model_)
    ordino.save(ordino.SortNet(hidden=4, epochs=1, max_iter=1).fit(train), place / "comparator.ordino")
    return place


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page(page, made, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for file in made.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    if page.stem == "from-ranklib":
        for name in ("lambdamart.model.txt", "test.txt"):
            (tmp_path / name).write_text((RANKLIB / name).read_text())
    typed = steps(page.read_text(encoding="utf-8"))
    assert typed
    for command, shown in typed:
        assert_same_words(shown, printed(command, capsys))


def test_the_table_of_engines_is_true():
    rows = re.findall(
        r"^\| \[`(\w+)`\]\S* \| [^|]+ \| (\w+) \| (\w+) \| (\w+) \| ([^|]+) \|$", PAGES_TEXT, re.MULTILINE
    )
    assert [row[0] for row in rows] == sorted(TARGETS, key=[row[0] for row in rows].index)
    for name, linear, stumps, trees, networks in rows:
        target = TARGETS[name]
        told = {
            family
            for family, word in zip(("linear", "stumps", "trees"), (linear, stumps, trees), strict=True)
            if word == "yes"
        }
        assert told == set(target.families) - {"network"}
        held = set(target.activations) if "network" in target.families else set()
        wanted = {"all": {"relu", "tanh", "sigmoid", "softplus"}, "no": set()}
        assert held == wanted.get(networks.strip(), set(networks.strip().split(", ")))


PAGES_TEXT = (DOCS / "export" / "index.md").read_text(encoding="utf-8")
