"""Every state of a page: what it says when there is little to show, one by one; and a store that nobody harms."""

import re
import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from ordino.data.dataset import Dataset
from ordino.experiment.report.board import make_boards
from ordino.experiment.store import Store, StoreView
from ordino.experiment.store.file_format import VERSION
from ordino.experiment.store.kept import Kept, RunRecord, kept_path, models_folder
from ordino.studio.app import Studio
from ordino.studio.ask import Ask, StateError
from ordino.studio.frame import NAV
from ordino.studio.runs import done_trials
from ordino.studio.sources import Memory, OpenStore, Sources
from ordino.studio.views import VIEWS
from studio_place import heading, links, open_studio, text_of
from trials import made_trials

PAGES = [entry.name for group in NAV.values() for entry in group]


def test_a_store_is_only_read(place):
    before = {file: file.read_bytes() for file in place.folder.glob("web*.sqlite")}
    client = open_studio(place.store, place.data)
    for page in PAGES:
        client.get(f"/{page}")
    assert {file: file.read_bytes() for file in place.folder.glob("web*.sqlite")} == before


def test_an_old_store_is_shown_and_stays_old(tmp_path):
    from pathlib import Path

    old = Path(__file__).parents[1] / "fixtures" / "store-v3.sqlite"
    shutil.copy(old, tmp_path / "old.sqlite")
    client = open_studio(tmp_path / "old.sqlite")
    assert client.get("/board").status_code == 200
    assert "This store has no rankings, only measures." in text_of(client.get("/query"))
    assert (tmp_path / "old.sqlite").read_bytes() == old.read_bytes()


def test_an_empty_store(tmp_path):
    Store(tmp_path / "new.sqlite").close()
    client = open_studio(tmp_path / "new.sqlite")
    assert "There are no trials in new.sqlite yet. Make some: ordino bench" in text_of(client.get("/board"))


def test_one_ranker(tmp_path):
    with Store(tmp_path / "one.sqlite") as store:
        store.add(*made_trials(["Alone"]))
    client = open_studio(tmp_path / "one.sqlite")
    assert "One ranker is in the store; two are needed to compare." in text_of(client.get("/board"))
    assert "One ranker is in the store; two are needed to compare." in text_of(client.get("/compare"))


def test_a_fold_is_lacking(tmp_path):
    with Store(tmp_path / "part.sqlite") as store:
        store.add(*(one for one in made_trials(["A", "B", "C"]) if (one.label, one.fold) != ("C", "Fold2")))
    answer = open_studio(tmp_path / "part.sqlite").get("/board")
    assert "C lacks Fold2; its means are over one fold and carry no marks." in text_of(answer)
    assert "The same command goes on from there." in text_of(answer)
    assert "C is missing 1 fold: its means cover fewer queries and carry no marks." in text_of(answer)
    marks = {row[0]: "▼" in row[1] for row in re.findall(r">([ABC])</a></th>(.*?)</tr>", answer.text, re.S)}
    assert marks == {"A": False, "B": True, "C": False}


def test_a_store_of_a_newer_format(place, tmp_path):
    shutil.copy(place.store, tmp_path / "new.sqlite")
    with closing(sqlite3.connect(tmp_path / "new.sqlite")) as connection, connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    client = open_studio(tmp_path / "new.sqlite")
    assert f"new.sqlite was written by a newer Ordino (format {VERSION + 1}" in text_of(client.get("/board"))


def test_what_is_not_a_store(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE trains (x)")
    assert "other.sqlite is not a store of Ordino." in text_of(open_studio(tmp_path / "other.sqlite").get("/board"))


def test_a_damaged_store_shows_its_whole_trials(tmp_path):
    path = tmp_path / "torn.sqlite"
    with Store(path) as store:
        for trial in made_trials(["A", "B", "C"], folds=2, queries=600):
            store.add(trial)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    whole = path.read_bytes()
    path.write_bytes(
        whole[: len(whole) * 2 // 3 // 4096 * 4096] + b"\x00" * (len(whole) - len(whole) * 2 // 3 // 4096 * 4096)
    )
    body = text_of(open_studio(path).get("/board"))
    found = re.search(r"torn.sqlite cannot be read: the file is damaged after trial (\d+)\.", body)
    assert found, body
    assert 0 < int(found[1]) < 6
    assert f"The first {found[1]} trials are shown." in body


def test_damage_that_only_a_board_meets(tmp_path):
    """The list of trials is whole, but the values of the fifth are not what was written."""
    path = tmp_path / "changed.sqlite"
    with Store(path) as store:
        store.add(*made_trials(["A", "B", "C"], folds=2))
    with closing(sqlite3.connect(path)) as connection, connection:
        changed = "UPDATE query_values SET numbers = zeroblob(length(numbers)) WHERE trial = 5 AND metric = 'map'"
        connection.execute(changed)
    body = text_of(open_studio(path).get("/board"))
    assert "changed.sqlite cannot be read: the file is damaged after trial 4." in body
    assert "The first 4 trials are shown." in body


def test_a_store_that_is_being_written(tmp_path):
    """Trials arrive while pages are shown: each page shows those that were there, and none breaks."""
    path = tmp_path / "live.sqlite"
    trials = made_trials(["A", "B", "C"])
    with Store(path) as store:
        store.add(*trials[:2])
        client = open_studio(path)
        for number, trial in enumerate(trials[2:], start=3):
            store.add(trial)
            answer = client.get("/board")
            assert answer.status_code == 200
            assert f"{number} trials" in text_of(answer)
            assert f">{trial.label}</a></th>" in answer.text  # what was remembered stands no more


def test_slow_work_says_so_and_comes_when_it_is_done(place, monkeypatch):
    from ordino.studio import views

    go = threading.Event()

    def slow(studio, ask):
        go.wait(10)
        return VIEWS["board"](studio, ask)

    monkeypatch.setattr(views, "VIEWS", {**VIEWS, "board": slow})
    client = open_studio(place.store, patience=0.1)
    answer = client.get("/board?sort=map")
    assert answer.status_code == 202
    assert "Reading the store …" in text_of(answer)
    assert 'hx-trigger="load delay:1s"' in answer.text
    go.set()
    assert 200 in (client.get("/board?sort=map").status_code for _ in range(300))


def test_slow_work_tells_what_takes_long(place, monkeypatch):
    import time

    from ordino.studio.views import why as page

    explained = page._explained
    monkeypatch.setattr(page, "_explained", lambda *given: time.sleep(0.8) or explained(*given))
    slow = open_studio(place.store, patience=0.5)
    slow.get("/query")  # the board is remembered
    answer = slow.get("/why?ranker=LambdaMART")
    assert answer.status_code == 202
    told = "Explaining 12 features … The first look at a model loads and compiles what it is made of."
    assert f"{told} You may leave the page." in text_of(answer)


def test_a_trial_without_rankings_is_told(place, tmp_path):
    shutil.copy(place.store, tmp_path / "bare.sqlite")
    client = open_studio(tmp_path / "bare.sqlite")
    assert "This store has no rankings, only measures." in text_of(client.get("/query"))
    with Kept(tmp_path / "bare.kept.sqlite", megabytes=1):
        pass
    assert "This store has no rankings, only measures." in text_of(client.get("/query"))


def test_a_model_that_was_not_kept_is_told(place, tmp_path):
    shutil.copy(place.store, tmp_path / "bare.sqlite")
    shutil.copy(kept_path(place.store), tmp_path / "bare.kept.sqlite")
    client = open_studio(tmp_path / "bare.sqlite")
    assert "was not kept. Keep it: run the same command with --models" in text_of(client.get("/why"))
    assert "its model was not kept." in heading(client.get("/model"))


def test_a_board_of_a_run_under_way(place, tmp_path):
    import os

    shutil.copy(place.store, tmp_path / "web.sqlite")
    tasks = [{"dataset": "web, 3 folds", "fold": "Fold1", "label": one} for one in ("LambdaMART", "RankDE")]
    with Kept(tmp_path / "web.kept.sqlite", megabytes=1) as kept:
        kept.begin_run("bench", "", os.getpid(), str(tmp_path), tasks)
    client = open_studio(tmp_path / "web.sqlite")
    assert "1 of 2 trials are done; the table shows these." in text_of(client.get("/board"))
    with Kept(tmp_path / "web.kept.sqlite", megabytes=1) as kept:
        kept.end_run(1)
    assert "the table shows these" not in text_of(client.get("/board"))


def test_nothing_that_would_hurt(tmp_path):
    from ordino.data.dataset import Dataset

    random = np.random.default_rng(0)
    X = random.random((600, 5), np.float32)
    labels = np.tile([2, 1, 0, 0, 1, 0], 100)
    Dataset(X, labels, np.repeat(np.arange(30), 20), doc_ids=[f"d{i}" for i in range(600)]).save(
        tmp_path / "fine.arrow"
    )
    answer = open_studio(tmp_path / "fine.arrow").get("/data?from=error")
    assert "Nothing found that would hurt." in text_of(answer)


def test_an_empty_brush_tells_its_limits(studio):
    answer = studio.get("/compare?a=LambdaMART&b=RandomRanker&low=-0.99&high=-0.98")
    assert "No query has a difference between −0.99 and −0.98." in text_of(answer)
    assert "/compare?a=LambdaMART&b=RandomRanker" in links(answer, "compare")  # shows all


def copied(place, folder):
    """The store with all that lies beside it."""
    shutil.copy(place.store, folder / "web.sqlite")
    shutil.copy(kept_path(place.store), folder / "web.kept.sqlite")
    shutil.copytree(models_folder(place.store), folder / "web.models")
    return folder / "web.sqlite"


CHANGED = "The data has changed since these trials were made."


@pytest.mark.parametrize("change", ["features", "labels"])
def test_data_that_has_changed_is_not_explained(place, tmp_path, change):
    store = copied(place, tmp_path)
    for file in models_folder(store).glob("*.arrow"):
        data = Dataset.open(file)
        changed = data.replace(X=data.X[::-1].copy()) if change == "features" else data.replace(y=data.y[::-1].copy())
        file.unlink()
        changed.save(file)
    client = open_studio(store)
    body = text_of(client.get("/why?ranker=LambdaMART"))
    assert CHANGED in body
    assert re.search(r"until the data of Fold1 has the fingerprint [0-9a-f]{12} again", body)
    assert "Feature by feature" not in body
    assert CHANGED not in text_of(client.get("/query"))  # which shows what was stored, and no data was named


def test_data_named_beside_a_store_is_held_against_it(place, tmp_path):
    place.trials.replace(y=place.trials.y + 1).save(tmp_path / "later.arrow")
    assert CHANGED in text_of(open_studio(place.store, tmp_path / "later.arrow").get("/query"))
    assert CHANGED not in text_of(open_studio(place.store, place.data).get("/query"))


def test_unchanged_data_is_explained_for_every_ranker(studio, place):
    """No ranker scores a query of its own otherwise than among the others."""
    with StoreView(place.store) as view:
        labels = [line.label for line in make_boards(view)[0].lines]
    for label in labels:
        assert CHANGED not in text_of(studio.get("/why", params={"ranker": label}))


def test_work_under_way_is_that_of_its_own_address():
    go, sorts = threading.Event(), ("map", "mrr")
    studio = Studio(Sources(), patience=0.02)

    def view(_, ask):
        go.wait(10)
        return {"sort": ask.text("sort")}

    asks = {sort: Ask("board", [("sort", sort)]) for sort in sorts}
    for ask in asks.values():
        with pytest.raises(StateError, match="Reading the store"):
            studio.shown(ask, view)
    go.set()
    studio.patience = 10.0
    assert [studio.shown(asks[sort], view)["sort"] for sort in reversed(sorts)] == ["mrr", "map"]


def test_what_was_tried_in_a_search_alone_is_not_done(tmp_path):
    """A setting that was tried has no values on test data; of repeats, the mean of their times is told."""
    trials = made_trials(["A", "B"], folds=1, seeds=(0, 1))
    seconds = {("A", 0): 1.0, ("A", 1): 4.0, ("B", 0): 2.0, ("B", 1): 2.0}
    made = [replace(one, train_seconds=seconds[one.label, one.seed]) for one in trials]
    tried = [replace(one, test={}, per_query={}, query_ids=None) if one.label == "B" else one for one in made]
    with Store(tmp_path / "part.sqlite") as store:
        store.add(*tried)
    with closing(OpenStore(tmp_path / "part.sqlite", Memory())) as opened:
        assert done_trials(opened, noted(["A", "B"])) == {("letters", "Fold1", "A"): 2.5}


def noted(labels, **how):
    """A run that set out to train these."""
    tasks = [{"dataset": "letters", "fold": "Fold1", "label": label, **how} for label in labels]
    return RunRecord(made_trials(["A"])[0].experiment, "", 0.0, None, 0, "", tasks, [])


def test_what_another_profile_or_other_data_measured_is_not_done(tmp_path):
    with Store(tmp_path / "some.sqlite") as store:
        store.add(*(replace(one, data="then") for one in made_trials(["A"], folds=1)))
    with closing(OpenStore(tmp_path / "some.sqlite", Memory())) as opened:
        for how, is_done in (
            ({}, True),  # as earlier versions noted it
            ({"profile": "standard", "data": "then"}, True),
            ({"profile": "letor4", "data": "then"}, False),
            ({"profile": "standard", "data": "now"}, False),
        ):
            assert bool(done_trials(opened, noted(["A"], **how))) == is_done
        assert not done_trials(opened, noted(["A"])._replace(experiment="another"))
