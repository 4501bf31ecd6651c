"""Every question in an address of the studio has an effect on its page, and every page says and draws what it should.

The questions come from the views' own text: one that is added later fails here until ``CASES`` says which values make
it matter. What the pages say of a small store is in pages.json, figure by figure, and where each line, bar and dot of
their drawings stands in drawings.json. A page that was made for another
address, and is remembered under the same key, says something else.
"""

from __future__ import annotations

import json
import re
from io import BytesIO
from pathlib import Path

import pytest

from laws.pages import BOARDS, CASES, DRAWINGS, DRAWN, EVERY, RECORD, ask_all, drawn, make_place, said
from ordino import read_letor
from ordino.experiment.report.board import make_boards
from ordino.experiment.run.driver import model_path
from ordino.experiment.store import StoreView
from ordino.experiment.store.kept import models_folder
from ordino.metrics import evaluate
from ordino.studio import views
from ordino.studio.views.board import FORMATS
from studio_place import text_of

QUESTIONS = {
    (path.stem, name)
    for path in Path(views.__file__).parent.glob("*.py")
    for name in re.findall(r'ask\.(?:text|choice|several|whole|number)\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
}
POSTED = {("judge", name) for name in ("doc", "grade", "skip", "query")} | {("query", "second"), ("papers", "from")}
"""What forms send (tests/studio/test_pages.py), and what a page hands on."""
RECORDED, SKETCHED = (json.loads(path.read_text(encoding="utf-8")) for path in (RECORD, DRAWINGS))
ADVICE = "if that is what it should say, run `python tests/laws/pages.py` and keep the difference"


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The data, by address what a studio answers that has answered those before it, its client and its store."""
    folder = tmp_path_factory.mktemp("addresses")
    data, files = make_place(folder)
    answers, client = ask_all(folder)
    return data, answers, client, files[0]


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
    assert set(RECORDED) == set(EVERY), ADVICE


@pytest.mark.parametrize("address", EVERY)
def test_a_page_says_what_it_should(address, opened):
    """Word for word, and number for number but for rounding."""
    number = re.compile(r"(\d+\.\d+)")
    found, known = (number.split(text) for text in (said(opened[1][address]), RECORDED[address]))
    assert found[::2] == known[::2], ADVICE
    assert [*map(float, found[1::2])] == pytest.approx([*map(float, known[1::2])], rel=2e-3, abs=2e-4), ADVICE


def test_every_page_that_draws_is_recorded(opened):
    pages = {answer.url.path.removeprefix("/") for answer in opened[1].values() if drawn(answer)}
    assert pages == {address.partition("?")[0] for address in DRAWN}
    assert set(SKETCHED) == set(DRAWN), ADVICE


@pytest.mark.parametrize("address", DRAWN)
def test_a_page_draws_what_it_should(address, opened):
    """Shape by shape, each at its place but for rounding."""
    number = re.compile(r"(-?\d+\.?\d*)")
    found, known = (number.split(text) for text in (drawn(opened[1][address]), SKETCHED[address]))
    assert found[::2] == known[::2], ADVICE
    assert [*map(float, found[1::2])] == pytest.approx([*map(float, known[1::2])], abs=0.3), ADVICE


@pytest.mark.parametrize("profile", ["standard", "sklearn"])
@pytest.mark.parametrize("name", ["one", "two"])
def test_the_figures_are_those_of_the_data_and_the_profile(name, profile, opened):
    """The first feature alone, measured anew on all queries, which are each tested once."""
    data, answers, *_ = opened
    told = text_of(answers[f"board?data={name}, 3 folds&profile={profile}"])
    found = evaluate(data[name], data[name].restore(data[name].X[:, 0]), metrics=["ndcg@3", "map"], profile=profile)
    for metric in found:
        assert f"{found[metric]:.4f}" in told


def test_every_file_that_a_page_offers_is_shown():
    shown = {test.removeprefix("test_the_file_").replace("_", ".") for test in globals() if "_the_file_" in test}
    assert {"board.md", "board.tex", "board.csv", *shown} - {"of.a.board"} == set(views.EXPORTS)


@pytest.mark.parametrize("kind", FORMATS)
def test_the_file_of_a_board(kind, opened):
    """Of the data, the profile and the test that the address names, with every measure."""
    _, _, client, store = opened
    for group in BOARDS:
        with StoreView(store) as view:
            boards = make_boards(view, test="paired-t")
        [own] = [one for one in boards if f"board?data={one.dataset}&profile={one.profile}" == group]
        assert client.get(f"/board.{kind}?{group.partition('?')[2]}&test=paired-t").text == FORMATS[kind][0]([own])


def test_the_file_model_ordino(opened):
    _, _, client, store = opened
    with StoreView(store) as view:
        trials = [one for one in view.trials() if (one.label, one.dataset) == ("Third", "two, 3 folds") and one.test]
    for one in (trials[0], trials[-1]):  # the first fold of one profile and the last of the other
        address = f"/model.ordino?ranker=Third&data={one.dataset}&profile={one.profile}&fold={one.fold}"
        assert client.get(address).content == model_path(models_folder(store), one.key).read_bytes()


def test_the_file_papers_svg(opened):
    for name in ("ranknet.table1", "sortnet.table1"):
        assert opened[2].get(f"/papers.svg?target={name}").text == f"<svg>{name}</svg>"


def test_the_file_judged_txt(opened):
    """The documents that were graded with the features of the part that the address names, and the grades."""
    data, _, client, _ = opened
    for doc, grade in (("d003", 4), ("d004", 0), ("d001", 1), ("d001", "undo")):
        client.post("/judge", data={"part": "two.arrow", "query": "2", "doc": doc, "grade": grade})
    graded = {1: ([0, 3], [3, 2]), 2: ([2, 3], [4, 0]), 5: ([1], [0])}  # those of 1 and 5 were in the file before
    for name, whole in data.items():
        found = read_letor(BytesIO(client.get(f"/judged.txt?part={name}.arrow").content))
        assert sorted(found.query_ids.tolist()) == list(graded)
        for query, own in zip(found.query_ids.tolist(), found, strict=True):
            rows, grades = graded[query]
            assert own.y.tolist() == grades
            assert own.X.tolist() == whole[whole.query_ids.tolist().index(query)].X[rows].tolist()
