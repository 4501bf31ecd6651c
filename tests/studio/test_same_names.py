"""A page shows what was asked for, also where two files are called alike, or one took the place of another."""

import gc
import os
from pathlib import Path
from types import SimpleNamespace

from ordino import Dataset, LinearRegressionRanker, SingleFeature, save
from ordino.experiment.plan import Plan
from ordino.experiment.run import run
from ordino.experiment.store.kept import models_folder
from ordino.studio.ask import Ask
from ordino.studio.shelf import StoreShelf
from ordino.studio.sources import Memory, OpenStore, Sources
from ordino.studio.views import data as data_page
from ordino.studio.views import features as features_page
from ordino.testing import easy_data
from studio_place import open_studio, text_of


def saved(ranker, path):
    path.parent.mkdir(exist_ok=True)
    save(ranker, path)
    return path


def test_two_models_of_one_name_are_two_models(tmp_path):
    data = easy_data()
    data.save(tmp_path / "d.arrow")
    rankers = {"m": SingleFeature(feature=1), "m.ordino": LinearRegressionRanker(scaling=None)}
    paths = [saved(one.fit(data), tmp_path / str(i) / "m.ordino") for i, one in enumerate(rankers.values())]
    client = open_studio(*paths, tmp_path / "d.arrow")
    for name, ranker in rankers.items():
        assert f"ranker{type(ranker).__name__}" in text_of(client.get(f"/model?ranker={name}"))
        assert client.get(f"/features?ranker={name}&importance=map").status_code == 200


def test_two_data_sets_of_one_name_are_two_data_sets(tmp_path):
    model = saved(SingleFeature(feature=1).fit(easy_data()), tmp_path / "m.ordino")
    for i in range(2):
        (tmp_path / str(i)).mkdir()
        easy_data(n_queries=3 + i).save(tmp_path / str(i) / "d.arrow")
    paths = tmp_path / "0" / "d.arrow", tmp_path / "1" / "d.arrow"
    client = open_studio(model, *paths)
    assert "7 queries" in text_of(client.get("/data"))
    assert client.get("/query?query=3").status_code == 200  # which only the second has
    assert client.get("/query?query=0").status_code == 200


def test_a_short_path_does_not_take_the_place_of_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    paths = [Path("a/d.arrow"), Path("d.arrow"), Path("a/../d.arrow")]
    for i, path in enumerate(paths[:2]):
        easy_data(n_queries=3 + i).save(path)
    found = Sources(data=tuple(paths)).data_by_name
    assert list(found.values()) == paths
    models = [Path("a/m.ordino"), Path("b/m.ordino"), Path("m.ordino")]
    assert list(Sources(models=tuple(models)).models_by_name.values()) == models


def test_documents_are_those_of_their_fold_though_files_have_one_size_and_one_time(tmp_path):
    store, data = tmp_path / "s.sqlite", easy_data(n_queries=9)
    plan = Plan(data={"web": data}, rankers=["single-feature"], folds=3)
    run(plan, store, n_jobs=1, models=models_folder(store), documents=True)
    files = list(models_folder(store).glob("*.arrow"))
    for file in files:  # as an archive unpacks them
        os.utime(file, (1, 1))
    assert len(files) == 3
    assert len({file.stat().st_size for file in files}) == 1
    memory = Memory()
    opened = OpenStore(store, memory)
    board = opened.board(opened.groups()[0], None, None, "wilcoxon")
    shelf = StoreShelf(opened, board, Sources(store=store), memory)
    for place in shelf.places().values():
        assert [str(one) for one in shelf.documents(place).query_ids] == [place.query]
    opened.close()


def test_a_model_that_took_the_place_of_another_is_shown(tmp_path):
    data = easy_data()
    data.save(tmp_path / "d.arrow")
    path = saved(SingleFeature(feature=1).fit(data), tmp_path / "m.ordino")
    client = open_studio(path, tmp_path / "d.arrow")
    address = "/features?ranker=m&importance=map"
    before = text_of(client.get(address))
    save(SingleFeature(feature=2).fit(data), path)
    assert text_of(client.get(address)) != before


def test_what_is_remembered_by_the_id_of_data_keeps_the_data(tmp_path):
    """Else other data may get the id, and be shown the figures of what is gone."""
    paths = tmp_path / "a.arrow", tmp_path / "b.arrow"
    for path in paths:
        easy_data().save(path)
    model = saved(SingleFeature(feature=1).fit(easy_data()), tmp_path / "m.ordino")
    studio = SimpleNamespace(memory=Memory(), sources=Sources(models=(model,), data=paths))
    data_page.view(studio, Ask("data", []))
    features_page.view(studio, Ask("features", [("against", "b.arrow"), ("importance", "map")]))
    kept = studio.memory._kept
    for key in [key for key in kept if key[0] == "data"]:
        del kept[key]
    gc.collect()
    alive = {id(one) for one in gc.get_objects() if isinstance(one, Dataset)}
    by_id = {
        "doctor": lambda key: [one for _, one in key[1]],
        "features": lambda key: key[1:],
        "importance": lambda key: key[-1:],
    }
    ids = {key[0]: by_id[key[0]](key) for key in kept if key[0] in by_id}
    assert ids.keys() == by_id.keys()
    assert alive.issuperset(one for own in ids.values() for one in own)
