"""The overview of reproductions is made from what they left, and nothing else."""

import json
import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from ordino import synthetic
from ordino.data.folds import make_folds, write_folds
from ordino.experiment.papers.catalogue import TARGETS
from ordino.experiment.papers.claim import Claim
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.page import Page
from ordino.experiment.papers.result import Result

DOCS = Path(__file__).parents[2] / "docs"
HOOK = runpy.run_path(str(DOCS / "hooks" / "reproductions.py"))
REAL = [
    json.loads(path.read_text(encoding="utf-8")) | {"page": path.with_suffix(".md").relative_to(DOCS).as_posix()}
    for path in sorted((DOCS / "results" / "reproduce").rglob("*.json"))
]
"""What is known of every page that a run left."""


def test_the_pages_are_what_the_results_say():
    for page, text in HOOK["pages"]().items():
        assert (DOCS / page).read_text(encoding="utf-8") == text, "run: python docs/hooks/reproductions.py"


def words_of(text):
    """What is fixed in a text whose gaps a run fills in."""
    return [piece for piece in re.split(r"\{\w+\}", text.strip()) if piece]


@pytest.mark.parametrize("facts", REAL, ids=lambda facts: facts["page"])
def test_a_page_says_what_its_target_does_today(facts):
    text, target = (DOCS / facts["page"]).read_text(encoding="utf-8"), TARGETS[facts["target"]]
    if "other_settings" in facts:
        assert facts["target"] == "ranknet.table6", "run it anew"
        return
    missing = [choice for choice in target.page.choices if f"\n- {choice}\n" not in text]
    missing += [piece for piece in words_of(target.page.protocol) if piece not in text]
    assert not missing, "run it anew, or if its settings are the same: python docs/hooks/reproductions.py"
    assert target.page.protocol.strip().format(**facts["filled"]) in text


@pytest.mark.parametrize("facts", REAL, ids=lambda facts: facts["page"])
def test_the_pieces_of_a_page_make_the_page(facts):
    text = (DOCS / facts["page"]).read_text(encoding="utf-8")
    page = Page.read(text)
    assert page.text == text
    assert page.table.startswith("|")
    assert page.made.startswith("Made on ")
    assert bool(page.claims) == bool(facts["claims"])


@pytest.mark.parametrize("facts", [facts for facts in REAL if facts["claims"]], ids=lambda facts: facts["page"])
def test_every_claim_has_its_power_on_the_page(facts):
    powers = [claim["power"] for claim in facts["claims"]]
    assert all(isinstance(power, float | int) and 0 <= power <= 1 for power in powers)
    told = re.search(r"Power, the probability .*: (\d+)(?: to (\d+))? %\.", (DOCS / facts["page"]).read_text("utf-8"))
    assert told is not None
    assert int(told[1]) == round(100 * min(powers))
    assert int(told[2] or told[1]) == round(100 * max(powers))


def test_the_words_of_a_page_are_renewed_around_its_numbers(docs):
    page = docs / "results" / "reproduce" / "deepnet.table3.1.md"
    before = Page.read(page.read_text())
    facts = json.loads(page.with_suffix(".json").read_text())
    made = HOOK["pages"](docs)[page.relative_to(docs)]
    assert made == page.read_text(), "what was filled in is not known"
    filled = {"folds": "5 folds", "repeats": "2 repeats"}
    page.with_suffix(".json").write_text(json.dumps(facts | {"filled": filled}))
    after = Page.read(HOOK["pages"](docs)[page.relative_to(docs)])
    assert (after.table, after.claims, after.notes, after.made) == (
        before.table, before.claims, before.notes, before.made
    )  # fmt: skip
    assert before.choices == ()
    assert list(after.choices) == list(TARGETS["deepnet.table3.1"].page.choices)
    assert "5 folds, 2 repeats with new pairs" in after.protocol
    page.with_suffix(".json").write_text(json.dumps(facts | {"filled": filled, "other_settings": "fewer epochs"}))
    assert HOOK["pages"](docs)[page.relative_to(docs)] == page.read_text()


LEARNED_FROM = re.compile(r"^- Training pairs\b(?! of the comparators).*\bdistinct\b", re.MULTILINE)
OF_PAIRS = re.compile(r"(?!deepnet\.fig2\.1|ranknet\.fig1|.*theorem3)(deepnet|ranknet|directranker|beyond\.grades)\b")
ABOUT_PAIRS = [facts for facts in REAL if OF_PAIRS.match(facts["target"])]
"""Pages of rankers whose pairs are decided before anything is learned; SortNet's are not."""


@pytest.mark.parametrize("facts", ABOUT_PAIRS, ids=lambda facts: facts["page"])
def test_a_page_says_how_many_distinct_pairs_were_learned_from(facts):
    assert LEARNED_FROM.search((DOCS / facts["page"]).read_text(encoding="utf-8"))


def test_what_is_said_of_pairs_is_made_anew_from_data_and_seed(docs, tmp_path):
    write_folds(make_folds(synthetic("mq2008", queries=15, docs=8, seed=3), 5), tmp_path / "MQ2008")
    [facts] = [one for one in HOOK["facts_of"]("deepnet.table3.1", docs) if one["data"] == ["MQ2008"]]
    page, notes = docs / facts["page"], ["A note.", "Run with `--repeats 2`: at most 2 repeats per setting."]
    page.write_text(Page.read(page.read_text())._replace(notes=notes).text)
    assert HOOK["with_pairs"](facts, docs, tmp_path / "elsewhere") == page.read_text()
    page.write_text(HOOK["with_pairs"](facts, docs, tmp_path))
    first, told, last = Page.read(page.read_text()).notes
    assert [first, last] == notes
    assert re.fullmatch(r"Training pairs of configuration C on MQ2008, 10,000 asked for: .* drawn .* distinct\.", told)
    assert HOOK["with_pairs"](facts, docs, tmp_path) == page.read_text()


def test_the_data_of_a_page_is_found_again():
    named = ([], ["td (synthetic)"], ["MQ2008", "MQ2007"], ["MQ2007, 30 queries"])
    places = [HOOK["folder_of"](names, Path("x")) for names in named]
    assert places == [None, Path("td"), Path("x"), Path("x/MQ2007")]


@pytest.fixture
def docs(tmp_path):
    """Two pages of a target, one of them from before there were verdicts."""
    (tmp_path / "reproduction.md").write_text("# Guide\n\n## At a glance\n\nold\n\n## Next\n\nkept\n")
    claim = Claim(says="a beats b", better={"who": "a"}, worse={"who": "b"}, difference=0.1)
    numbers = [Number(("a",), 0.5, (0.5, 0.6)), Number(("b",), 0.4, (0.1, 0.2))]
    result = Result("t", ("who",), numbers, claims=[claim], target="deepnet.table3.1", data=["MQ2008"])
    for folder, made in (("", result), ("td", replace(result, data=["td (synthetic)"], claims=[]))):
        home = tmp_path / "results" / "reproduce" / folder
        home.mkdir(parents=True, exist_ok=True)
        (home / "deepnet.table3.1.md").write_text(made.to_markdown())
        (home / "deepnet.table3.1.json").write_text(made.to_json())
    (home / "ranknet.table1.md").write_text(
        "# old\n\nMade on 2026-11-16 with Python 3.11.7, ordino 0.1.0, numpy 2.4.6."
    )
    return tmp_path


def test_a_row_for_every_page_and_for_what_was_not_run(docs):
    made = HOOK["pages"](docs)
    guide = made[Path("reproduction.md")]
    assert guide.startswith("# Guide\n\n## At a glance\n\n| target |")
    assert guide.endswith("\n\n## Next\n\nkept\n")
    assert "old\n" not in guide
    assert (guide + made[Path("results", "beyond.md")]).count("not run yet") == len(TARGETS) - 2
    near = "2 numbers of the paper: ours are from -0.250 to +0.050 of them, -0.100 on average"
    place = "results/reproduce/deepnet.table3.1.md"
    shows = TARGETS["deepnet.table3.1"].shows
    assert f"| [deepnet.table3.1]({place}): {shows} | MQ2008 | 2 repeats | 1 comes back | {near} |" in guide
    assert "| td (synthetic) | 2 repeats |  |" in guide
    assert "page of 2026-11-16, before verdicts were computed" in guide


def test_every_claim_has_a_row(docs):
    found = HOOK["pages"](docs)
    page = found[Path("results", "claims_deepnet.md")]
    assert page.count("\n| [") == 1
    assert "\n| [" not in found[Path("results", "claims.md")]
    assert (
        "| [deepnet.table3.1](reproduce/deepnet.table3.1.md) | a beats b | MQ2008 | +0.4 | 2 | 14 % | comes back |"
        in page
    )
    kinds = {"MQ2008": False, "td (synthetic)": True}
    assert {name: HOOK["is_synthetic"]({"data": [name]}) for name in kinds} == kinds
    assert HOOK["is_synthetic"]({"data": []})  # made by the paper's recipe


def test_verdicts_are_counted():
    verdicts = ["comes back", "cannot be told: power 35 %", "does not", "comes back, weaker", "does not"]
    assert HOOK["told"](verdicts) == "1 comes back, 1 comes back, weaker, 2 do not, 1 cannot be told (power 35 %)"
    assert HOOK["told"]([]) == ""


def test_facts_of_real_pages_can_be_read():
    for facts in REAL:
        assert facts["target"] == Path(facts["page"]).stem
        assert facts["target"] in TARGETS
        assert set(facts["filled"]) >= {"data", "n", "repeats", "seed", "seeds"}


def test_questions_that_the_papers_left_open_have_a_page_of_their_own(docs):
    claim = Claim(says="a beats b", better={"who": "a"}, worse={"who": "b"})
    numbers = [Number(("a",), None, (0.5, 0.6, 0.55)), Number(("b",), None, (0.1, 0.2, 0.15))]
    result = Result("t", ("who",), numbers, claims=[claim], target="beyond.pairs", data=["MQ2008"])
    home = docs / "results" / "reproduce"
    (home / "beyond.pairs.md").write_text(result.to_markdown())
    (home / "beyond.pairs.json").write_text(result.to_json())
    found = HOOK["pages"](docs)
    page = found[Path("results", "beyond.md")]
    assert "| [beyond.pairs](reproduce/beyond.pairs.md): a beats b? | MQ2008 | 3 repeats | +0.4000 | yes |" in page
    assert "| beyond.models: every loss with every model" in page
    assert "beyond." not in found[Path("reproduction.md")]
    assert "beyond." not in "".join(found[Path("results", name)] for name in HOOK["CLAIM_PAGES"])
    assert HOOK["answer"]("does not") == "no"
