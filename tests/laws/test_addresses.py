"""Every question in an address of the studio has an effect on its page, and every page says what it should.

The questions come from the views' own text: one that is added later fails here until ``CASES`` says which values make
it matter. What the pages say of a small store is in pages.json, figure by figure. A page that was made for another
address, and is remembered under the same key, says something else.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from laws.pages import ADDRESSES, CASES, RECORD, make_place, open_place, said
from ordino.metrics import evaluate
from ordino.studio import views
from studio_place import text_of

QUESTIONS = {
    (path.stem, name)
    for path in Path(views.__file__).parent.glob("*.py")
    for name in re.findall(r'ask\.(?:text|choice|several|whole|number)\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
}
POSTED = {("judge", name) for name in ("doc", "grade", "skip", "query")} | {("query", "second"), ("papers", "from")}
"""What forms send (tests/studio/test_pages.py), and what a page hands on."""
RECORDED = json.loads(RECORD.read_text(encoding="utf-8"))
ADVICE = "if that is what it should say, run `python tests/laws/pages.py` and keep the difference"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The data, and by address what a studio answers that has answered those before it."""
    folder = tmp_path_factory.mktemp("addresses")
    data, files = make_place(folder)
    client = open_place(folder, files)
    return data, {address: client.get(f"/{address}") for address in ADDRESSES}


def test_every_question_has_a_case():
    asked = {(page, name) for page, own in CASES.items() for name in own}
    assert QUESTIONS - asked - POSTED == set()


@pytest.mark.parametrize(
    ("page", "name"), [(page, name) for page, own in CASES.items() for name, (a, b) in own.items() if a != b]
)
def test_every_question_has_an_effect(page, name, opened):
    first, second = (opened[1][address] for address in CASES[page][name])
    assert first.status_code == second.status_code == 200, text_of(second)
    assert text_of(first) != text_of(second)


def test_every_page_is_recorded():
    assert set(RECORDED) == set(ADDRESSES), ADVICE


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_says_what_it_should(address, opened):
    """Word for word, and number for number but for rounding."""
    number = re.compile(r"(\d+\.\d+)")
    found, known = (number.split(text) for text in (said(opened[1][address]), RECORDED[address]))
    assert found[::2] == known[::2], ADVICE
    assert [*map(float, found[1::2])] == pytest.approx([*map(float, known[1::2])], rel=2e-3, abs=2e-4), ADVICE


@pytest.mark.parametrize("profile", ["standard", "sklearn"])
@pytest.mark.parametrize("name", ["one", "two"])
def test_the_figures_are_those_of_the_data_and_the_profile(name, profile, opened):
    """The first feature alone, measured anew on all queries, which are each tested once."""
    data, answers = opened
    told = text_of(answers[f"board?data={name}, 3 folds&profile={profile}"])
    found = evaluate(data[name], data[name].restore(data[name].X[:, 0]), metrics=["ndcg@3", "map"], profile=profile)
    for metric in found:
        assert f"{found[metric]:.4f}" in told
