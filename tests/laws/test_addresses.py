"""Every question in an address of the studio has an effect on its page, and nothing else has.

The questions come from the views' own text: one that is added later fails here until ``CASES`` says which values make
it matter. A page that was made for another address, and is remembered under the same key, is another text than that
which a new studio gives.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ordino import Dataset, synthetic
from ordino.experiment.plan import Plan
from ordino.experiment.run import run
from ordino.experiment.store.kept import models_folder
from ordino.metrics import evaluate
from ordino.studio import views
from ordino.studio.sources import Memory
from studio_place import RESULTS, open_studio, text_of

QUESTIONS = {
    (path.stem, name)
    for path in Path(views.__file__).parent.glob("*.py")
    for name in re.findall(r'ask\.(?:text|choice|several|whole|number)\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
}
POSTED = {("judge", name) for name in ("doc", "grade", "skip", "query")} | {("query", "second"), ("papers", "from")}
"""What forms send (tests/studio/test_pages.py), and what a page hands on."""
QUERY, WHY, COMPARE = "query?query=1", "why?query=1&ranker=First", "compare?a=First&b=Second"
CASES: dict[str, dict[str, tuple[str, str]]] = {
    "board": {
        "data": ("board", "board?data=two, 3 folds"),
        "profile": ("board", "board?profile=sklearn"),
        "test": ("board", "board?test=paired-t"),
        "measures": ("board", "board?measures=map"),
        "against": ("board", "board?against=Second"),
        "containing": ("board", "board?containing=Fir"),
        "sort": ("board", "board?sort=label"),
        "order": ("board?sort=label", "board?sort=label&order=turned"),
        "spread": ("board", "board?spread=yes"),
        "pairs": ("board", "board"),  # only of boards so large that pairs are not drawn at once
    },
    "compare": {
        "measure": (COMPARE, f"{COMPARE}&measure=map"),
        "low": (COMPARE, f"{COMPARE}&low=0.01"),
        "high": (COMPARE, f"{COMPARE}&high=-0.01"),
        "from": (COMPARE, f"{COMPARE}&from=4"),
        "a": (COMPARE, "compare?a=Third&b=Second"),
        "b": (COMPARE, "compare?a=First&b=Third"),
        "data": (COMPARE, f"{COMPARE}&data=two, 3 folds"),
        "profile": (COMPARE, f"{COMPARE}&profile=sklearn"),
        "test": (COMPARE, f"{COMPARE}&test=paired-t"),
    },
    "query": {
        "query": (QUERY, "query?query=2"),
        "rankers": (QUERY, f"{QUERY}&rankers=Second"),
        "measure": (QUERY, f"{QUERY}&measure=map"),
        "places": (QUERY, f"{QUERY}&places=3"),
        "doc": (QUERY, f"{QUERY}&doc=d002"),
        "data": (QUERY, f"{QUERY}&data=two, 3 folds"),
        "profile": (QUERY, f"{QUERY}&profile=sklearn"),
    },
    "why": {
        "ranker": (WHY, "why?query=1&ranker=Third"),
        "query": (WHY, "why?query=2&ranker=First"),
        "a": (WHY, f"{WHY}&a=d003"),
        "b": (WHY, f"{WHY}&b=d003"),
        "top": ("why?query=1&ranker=Third", "why?query=1&ranker=Third&top=2"),
        "turn": ("why?query=1&ranker=Third", "why?query=1&ranker=Third&turn=f7"),
        "measure": (f"{WHY}&edit.f1=9", f"{WHY}&edit.f1=9&measure=map"),
    },
    "features": {
        "sort": ("features", "features?sort=name"),
        "containing": ("features", "features?containing=f1"),
        "from": ("features", "features?from=5"),
        "part": ("features", "features?part=two.arrow"),
        "against": ("features", "features?against=two.arrow"),
        "data": ("features", "features?data=two, 3 folds"),
        "ranker": ("features?importance=map", "features?ranker=First&importance=map"),
        "importance": ("features?ranker=First", "features?ranker=First&importance=map"),
    },
    "model": {
        "ranker": ("model", "model?ranker=Second"),
        "fold": ("model?ranker=Third", "model?ranker=Third&fold=Fold2"),
        "audit": ("model?ranker=Fourth", "model?ranker=Fourth&audit=yes"),
    },
    "data": {"part": ("data", "data?part=two.arrow"), "from": ("data", "data?from=error")},
    "judge": {"part": ("judge", "judge?part=two.arrow")},
    "papers": {"target": ("papers", "papers?target=ranknet.table1")},
    "run": {"run": ("run", "run?run=2"), "fold": ("run", "run?fold=Fold2")},
    "search": {"search": ("search", "search?search=tuned on one, 3 folds, Fold2")},
}
"""By page and question: addresses that show other things."""
BOARDS = [
    f"board?data={name}, 3 folds&profile={profile}" for name in ("one", "two") for profile in ("standard", "sklearn")
]
ADDRESSES = sorted({*BOARDS, *(address for own in CASES.values() for both in own.values() for address in both)})
REMEMBERED = [address for address in ADDRESSES if address.startswith(("board", "compare"))]
"""Pages of which most is remembered, under keys that must have all that they depend on."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A store with two data sets under two profiles and what lies beside it, the data, and how to open a studio."""
    folder = tmp_path_factory.mktemp("addresses")
    data = {}
    for name, seed in (("one", 1), ("two", 2)):
        made = synthetic("mq", queries=9, docs=8, seed=seed)
        data[name] = Dataset(made.X[:, :9], made.y, made.qid)
    for name, own in data.items():
        own.save(folder / f"{name}.arrow")
    linear = "linear-regression-ranker"
    rankers = [
        {"ranker": "single-feature", "label": "First", "params": {"feature": 1, "sign": 1}},
        {"ranker": "single-feature", "label": "Second", "params": {"feature": 2, "sign": 1}},
        {"ranker": linear, "label": "Third"},
        {"ranker": "deepnet", "label": "Fourth", "params": {"epochs": 1, "hidden": 4}},
    ]
    tuned = {"ranker": linear, "label": "tuned", "grid": {"alpha": [0.1, 10.0]}}
    store = folder / "store.sqlite"
    how = {"n_jobs": 1, "rankings": 10, "models": models_folder(store), "documents": True}
    for profile, n_rankers in (("standard", 4), ("sklearn", 3)):
        plan = Plan(data=data, rankers=rankers[:n_rankers], measures=["ndcg@3", "map"], folds=3, profile=profile)
        run(plan, store, **how)
    run(Plan(data={"one": data["one"]}, rankers=[tuned], measures=["map"], folds=3, name="search"), store, n_jobs=1)
    files = store, folder / "one.arrow", folder / "two.arrow"
    return store, data, lambda: open_studio(*files, judged=folder / "judged.qrels", results=RESULTS)


@pytest.fixture(scope="module")
def answers(opened):
    """By address what a studio says that has answered those before it, and what one says that remembers nothing."""
    clients = opened[2](), opened[2]()
    warm = {address: clients[0].get(f"/{address}") for address in ADDRESSES}  # of two with one key, the second is wrong
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Memory, "get", lambda _, key, make: make())
        fresh = {address: clients[1].get(f"/{address}") for address in REMEMBERED}
    return warm, fresh


def test_every_question_has_a_case():
    asked = {(page, name) for page, own in CASES.items() for name in own}
    assert QUESTIONS - asked - POSTED == set()


@pytest.mark.slow  # sixty pages, some of them twice
@pytest.mark.parametrize(
    ("page", "name"), [(page, name) for page, own in CASES.items() for name, (a, b) in own.items() if a != b]
)
def test_every_question_has_an_effect(page, name, answers):
    first, second = (answers[0][address] for address in CASES[page][name])
    assert first.status_code == second.status_code == 200, text_of(second)
    assert text_of(first) != text_of(second)


@pytest.mark.slow  # sixty pages, some of them twice
@pytest.mark.parametrize("address", REMEMBERED)
def test_a_page_depends_on_its_address_alone(address, answers):
    warm, fresh = answers
    assert text_of(warm[address]) == text_of(fresh[address])


@pytest.mark.slow  # sixty pages, some of them twice
@pytest.mark.parametrize("profile", ["standard", "sklearn"])
@pytest.mark.parametrize("name", ["one", "two"])
def test_the_figures_are_those_of_the_data_and_the_profile(name, profile, opened, answers):
    """The first feature alone, measured anew on all queries, which are each tested once."""
    data = opened[1]
    told = text_of(answers[0][f"board?data={name}, 3 folds&profile={profile}"])
    found = evaluate(data[name], data[name].restore(data[name].X[:, 0]), metrics=["ndcg@3", "map"], profile=profile)
    for metric in found:
        assert f"{found[metric]:.4f}" in told
