"""What lies beside a store: the rankings behind its measures, bounded in size, and how far a run is."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordino.backends import Failure
from ordino.cli import main
from ordino.data.dataset import Dataset
from ordino.data.folds import Fold, Folds
from ordino.errors import DataError
from ordino.experiment.plan import Plan
from ordino.experiment.run import driver, run
from ordino.experiment.store import Store, StoreView
from ordino.experiment.store import rankings as packing
from ordino.experiment.store.kept import VERSION, Kept, kept_path, models_folder
from ordino.experiment.store.rankings import Listed, pack_scores, unpack_scores
from ordino.experiment.store.under_way import POINTS, _State, reporting, reports
from ordino.metrics import parse_metric
from ordino.progress import Steps
from ordino.testing import easy_data


def small_plan(**changes):
    given = {"data": {"easy": easy_data()}, "rankers": ["linear-regression-ranker", "random-ranker"], "folds": 3}
    return Plan(**(given | {"measures": ["ndcg@5", "map"]} | changes))


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "bench.sqlite"
    run(small_plan(), path, n_jobs=1, rankings=10, command="ordino bench easy")
    return path


def ordino(*words):
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code or 0


def mixed_fold():
    """A fold as files may have it, with the rows of a query apart."""
    test = easy_data(seed=1)
    rows = np.random.default_rng(0).permutation(test.n_docs)
    mixed = Dataset(test.X[rows], test.y[rows], test.qid[rows])
    return {"mixed": Folds(["Fold1"], lambda _: Fold("Fold1", easy_data(), None, mixed))}


@pytest.mark.parametrize(("changes", "n_trials"), [({}, 6), ({"data": mixed_fold()}, 2)], ids=["grouped", "mixed"])
def test_measures_of_a_store_are_those_of_its_rankings(tmp_path, changes, n_trials):
    """Every value of every query, computed again from what was kept."""
    store = tmp_path / "bench.sqlite"
    run(small_plan(**changes), store, n_jobs=1, rankings=10)
    with Store(store) as opened, Kept(kept_path(store)) as kept:
        trials = opened.trials()
        assert len(trials) == n_trials
        for trial in trials:
            facts = kept.facts(trial.data)
            for number in range(len(trial.query_ids)):
                query = kept.query(trial.data, number, [trial.key])
                assert len(query.labels) == facts.sizes[number]
                assert facts.relevant[number] == (query.labels > 0).sum()
                assert facts.highest[number] == query.labels.max()
                offsets = np.array([0, len(query.labels)])
                for name, values in trial.per_query.items():
                    again = parse_metric(name).per_query(query.labels, query.scores[trial.key], offsets)
                    assert again[0] == values[number]


def test_models_and_documents_are_kept_on_request(tmp_path):
    path = tmp_path / "bench.sqlite"
    run(small_plan(), path, n_jobs=1, rankings=10, models=models_folder(path), documents=True)
    with Store(path) as opened, Kept(kept_path(path)) as kept:
        for trial in opened.trials():
            assert driver.model_path(models_folder(path), trial.key).is_file()
            data = Dataset.open(driver.documents_path(models_folder(path), trial.data))
            assert data.query_ids.tolist() == trial.query_ids.tolist()
            assert data[0].y.tolist() == kept.query(trial.data, 0).labels.tolist()


def test_a_store_without_rankings_gets_them_with_its_models(tmp_path):
    """Trials that a store has are not made again for their rankings alone, but for their models they are."""
    path = tmp_path / "bench.sqlite"
    run(small_plan(), path, n_jobs=1)
    assert not kept_path(path).exists()
    run(small_plan(), path, n_jobs=1, rankings=10)
    with Kept(kept_path(path)) as kept:
        assert kept.keys() == set()
    run(small_plan(), path, n_jobs=1, rankings=10, models=models_folder(path))
    with Kept(kept_path(path)) as kept, StoreView(path) as view:
        assert kept.keys() == {trial.key for trial in view.trials()}


@pytest.mark.parametrize("megabytes", [0, 1])
def test_rankings_are_bounded(tmp_path, megabytes, monkeypatch):
    path = tmp_path / "bench.sqlite"
    monkeypatch.setattr(packing, "_LEVEL", 0)
    done = driver.carry_out(small_plan(), path, n_jobs=1, rankings=megabytes)
    assert done.n_unkept == 0
    with Kept(kept_path(path)) as kept:
        assert len(kept.keys()) == 6 * megabytes
    with Kept(tmp_path / "full.kept.sqlite", megabytes=1) as kept:
        wide = np.random.default_rng(0).random(200_000)
        assert not kept.add_scores("key", np.array([0, 200_000]), wide)
        assert kept.keys() == set()
        assert kept.size < 1_000_000


def test_trials_beyond_the_limit_are_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Kept, "add_scores", lambda *_: False)
    done = driver.carry_out(small_plan(), tmp_path / "bench.sqlite", n_jobs=1, rankings=10, verbose=True)
    assert done.n_unkept == 6
    assert "the rankings of 6 trials were not kept" in capsys.readouterr().err


@given(st.lists(st.floats(), max_size=50))
def test_scores_come_back_to_the_last_bit(scores):
    given_ = np.array(scores, np.float64)
    assert np.array_equal(unpack_scores(pack_scores(given_)), given_, equal_nan=True)


def test_scores_of_single_precision_take_half_the_room():
    drawn = np.random.default_rng(0).random(4000)
    assert len(pack_scores(drawn.astype(np.float32).astype(float))) < 0.6 * len(pack_scores(drawn))


def test_a_query_is_found_in_its_block():
    """Three blocks of queries with different sizes: each query has its own labels, ids and scores."""
    sizes = np.random.default_rng(0).integers(1, 900, 90)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    n = int(offsets[-1])
    assert len(list(packing.blocks(offsets))) == 3
    with Kept(":memory:", megabytes=50) as kept:
        assert kept.add_lists("cafe", Listed(offsets, np.arange(n, dtype=float), [f"d{i}" for i in range(n)]))
        assert kept.add_scores("key", offsets, np.arange(n) / 3)
        for q in (0, 1, 44, 88, 89):
            found = kept.query("cafe", q, ["key", "no such trial"])
            rows = np.arange(offsets[q], offsets[q + 1])
            assert found.labels.tolist() == rows.tolist()
            assert found.doc_ids == [f"d{i}" for i in rows]
            assert found.scores["key"].tolist() == (rows / 3).tolist()
            assert list(found.scores) == ["key"]
        assert kept.query("other", 0) is None


def test_what_is_no_such_file_is_refused(tmp_path, store):
    with closing(sqlite3.connect(kept_path(store))) as connection, connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(DataError, match="written by a newer Ordino"):
        Kept(kept_path(store))
    (tmp_path / "text.kept.sqlite").write_text("this is text, and not so little of it that it could be a header" * 20)
    with pytest.raises(DataError, match="delete it, the store does not need it"):
        Kept(tmp_path / "text.kept.sqlite")
    with pytest.raises(DataError, match="cannot be read"):
        Kept(tmp_path / "nowhere.kept.sqlite")


def test_a_run_is_noted_with_its_command_and_failures(store, monkeypatch):
    with Kept(kept_path(store)) as kept:
        [first] = kept.runs()
    assert first.command == "ordino bench easy"
    assert first.ended > first.began
    assert [task["fold"] for task in first.tasks] == ["Fold1"] * 2 + ["Fold2"] * 2 + ["Fold3"] * 2
    monkeypatch.setattr(driver, "measure_setting", lambda task: Failure(f"{task} has no luck"))

    class Unlucky:
        def map(self, function, tasks):
            return ((number, function(task)) for number, task in enumerate(tasks))

        def close(self):
            """Nothing is open."""

    monkeypatch.setattr(driver, "open_backend", lambda *_: Unlucky())
    driver.carry_out(small_plan(rankers=["single-feature"]), store, n_jobs=1, rankings=10)
    with Kept(kept_path(store)) as kept:
        last, before = kept.runs()
    assert [one["fold"] for one in last.failures] == ["Fold1", "Fold2", "Fold3"]
    assert "has no luck" in last.failures[0]["sentence"]
    assert (before.failures, before.ended) == ([], first.ended)  # what is noted of one run changes no other


def test_a_worker_tells_how_far_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr("ordino.experiment.store.under_way.EVERY", 0.0)
    with reporting(tmp_path, "RankNet", "web", "Fold1"):
        assert [(one.label, one.fold, one.done) for one in reports(tmp_path)] == [("RankNet", "Fold1", 0)]
        with Steps("learning", 4) as steps:
            for i in steps:
                steps.show(best=0.5, now=i / 4)
                if i == 2:
                    [report] = reports(tmp_path)
                    assert (report.done, report.total, report.curve) == (2, 4, [[1, 0.0], [2, 0.25]])
    assert reports(tmp_path) == []


def test_a_long_curve_keeps_its_order_and_its_first_point():
    state = _State()
    for done in range(2 * POINTS + 2):
        state.add(done, {"best": 1.0, "now": done / 4})
    steps = [step for step, _ in state.curve]
    assert (steps[0], steps) == (0, sorted(set(steps)))
    assert len(steps) <= POINTS < 2 * len(steps)
    assert all(value == step / 4 for step, value in state.curve)
    state.add(5, {"valid": 0.5})  # another loop of the same training
    assert (state.name, state.curve) == ("valid", [(5, 0.5)])


def test_the_command_keeps_what_it_is_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    easy_data().save("easy.arrow")
    words = ("bench", "easy.arrow", "--rankers", "linear-regression-ranker", "--folds", 3, "--n-jobs", 1)
    assert ordino(*words, "--rankings", 0, "--out", "bare.sqlite") == 0
    with Kept(kept_path("bare.sqlite")) as kept:
        assert kept.keys() == set()
        assert kept.runs()[0].command.endswith("--rankings 0 --out bare.sqlite")
    assert ordino(*words, "--models", "--out", "full.sqlite") == 0
    assert "ordino studio full.sqlite" in capsys.readouterr().out
    assert len(list(models_folder("full.sqlite").glob("*.ordino"))) == 3
    assert len(list(models_folder("full.sqlite").glob("*.arrow"))) == 3


def test_p_values_name_their_family(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run(small_plan(rankers=["linear-regression-ranker", "random-ranker", "single-feature"]), "b.sqlite", n_jobs=1)
    assert ordino("compare", "b.sqlite", "RandomRanker", "SingleFeature") == 0
    printed = capsys.readouterr().out
    assert "p\tp of 2" in printed
    assert "p of 2 is Holm-corrected for the 2 metrics" in printed
    assert ordino("compare", "b.sqlite", "RandomRanker", "SingleFeature", "--metrics", "map", "--json") == 0
    [found] = json.loads(capsys.readouterr().out).values()
    assert found[0]["family"] == 1
    assert found[0]["p"] == found[0]["p_alone"]
    assert ordino("report", "b.sqlite", "--format", "csv") == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert "p,comparisons,mark" in header
    assert all(",2," in row for row in rows if ",▼," in row)
