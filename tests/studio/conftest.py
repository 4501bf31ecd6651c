"""A small experiment as hostile as data can be, and a studio that is open on it."""

import shutil
from types import SimpleNamespace

import pytest

from ordino.experiment.plan import Plan
from ordino.experiment.run import run
from ordino.experiment.store.kept import models_folder
from studio_place import HOSTILE, LINEAR, LONG, RESULTS, hostile_data, open_studio


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A folder with a store, what lies beside it, its data and a model."""
    folder = tmp_path_factory.mktemp("studio")
    data = hostile_data()
    data.save(folder / "web.arrow")
    few = {"scaling": None}
    rankers = [
        {"ranker": "lambda-mart", "params": {"rounds": 15, "leaves": 4}},
        {"ranker": LINEAR}, {"ranker": "single-feature"}, {"ranker": "random-ranker"},
        {"ranker": LINEAR, "label": HOSTILE, "params": few},
        {"ranker": "random-ranker", "label": LONG, "params": {"seed": 3}},
        {"ranker": "single-feature", "label": "Depth", "params": {"feature": 5}},
        {"ranker": "single-feature", "label": "Slashes", "params": {"feature": 6}},
    ]  # fmt: skip
    plan = Plan(data={"web": data}, rankers=rankers, measures=["ndcg@10", "map", "mrr", "p@5"], folds=3)
    store = folder / "web.sqlite"
    run(
        plan,
        store,
        n_jobs=1,
        rankings=50,
        models=models_folder(store),
        documents=True,
        command="ordino bench web.arrow",
    )
    grid = {"ranker": LINEAR, "label": "tuned", "grid": {"scaling": ["zscore", "minmax", None]}}
    run(Plan(data={"web": data}, rankers=[grid], measures=["ndcg@10"], folds=3, name="search"), store, n_jobs=1)
    shutil.copy(next(models_folder(store).glob("*.ordino")), folder / "model.ordino")
    return SimpleNamespace(
        folder=folder, store=store, data=folder / "web.arrow", model=folder / "model.ordino", trials=data
    )


@pytest.fixture(scope="session")
def studio(place):
    """A client of the studio on everything there is."""
    judged = place.folder / "judged.qrels"
    return open_studio(place.store, place.data, judged=judged, results=RESULTS)
