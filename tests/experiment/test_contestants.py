"""Saved models, runs and files of scores compete as they are, on the test parts of the same folds."""

from contextlib import nullcontext

import numpy as np
import pytest

import ordino
from ordino import Dataset, RankSVM, SingleFeature
from ordino.data.folds import Fold, Folds, make_folds, write_folds
from ordino.data.trec import write_run
from ordino.errors import DataError, ParameterError
from ordino.experiment.doors import Boards
from ordino.experiment.plan import Plan
from ordino.experiment.run import run
from ordino.testing import easy_data

EASY = easy_data(n_queries=12)
ROWS = np.random.default_rng(1).permutation(EASY.n_docs)
DATA = Dataset(  # the rows of queries are scattered, as in a table
    EASY.X[ROWS], EASY.y[ROWS], EASY.qid[ROWS], doc_ids=[f"d{row}" for row in ROWS]
)
SCORES = SingleFeature(feature=2, sign=1).fit(DATA).predict(DATA)


@pytest.fixture
def files(tmp_path):
    ordino.save(SingleFeature(feature=2, sign=1).fit(easy_data(seed=5)), tmp_path / "model.ordino")
    np.savetxt(tmp_path / "scores.txt", SCORES)
    write_run(DATA, SCORES, tmp_path / "bm25.run")
    return tmp_path


def test_a_model_a_run_and_scores_of_the_same_ranker_are_measured_alike(files):
    rankers = [str(files / name) for name in ("model.ordino", "scores.txt", "bm25.run")]
    plan = Plan(
        data={"easy": DATA},
        rankers=[{"ranker": "single-feature", "params": {"feature": 2, "sign": 1}}, *rankers],
        folds=3,
    )
    trials = run(plan, files / "store.sqlite", n_jobs=1)
    values = {trial.label: [] for trial in trials}
    for trial in trials:
        values[trial.label] += trial.per_query["ndcg@10"].tolist()
    assert list(values) == ["SingleFeature", "model", "scores", "bm25"]
    assert len({tuple(found) for found in values.values()}) == 1
    assert {trial.ranker for trial in trials} == {"single-feature", "model-file", "score-file"}


def test_files_of_scores_are_not_taken_for_each_other(files):
    np.savetxt(files / "turned.txt", -SCORES)
    plan = Plan(data={"easy": DATA}, rankers=[str(files / name) for name in ("scores.txt", "turned.txt")], folds=3)
    found = {"scores": {}, "turned": {}}
    for trial in run(plan, files / "store.sqlite", n_jobs=1):
        found[trial.label] |= dict(zip(trial.query_ids.tolist(), trial.per_query["ndcg@10"], strict=True))
    for label, sign in (("scores", 1), ("turned", -1)):
        whole = ordino.evaluate(DATA, sign * SCORES, metrics="ndcg@10")
        assert found[label] == dict(zip(whole.query_ids.tolist(), whole.per_query["ndcg@10"], strict=True))


def test_what_a_run_did_not_retrieve_comes_last(files):
    """Documents and whole queries; scores of a run may well be below 0."""
    data, low = DATA.as_grouped(), SCORES[DATA.order] - SCORES.max() - 1
    kept = (np.arange(data.n_docs) % 3 > 0) & (data.query_number > 0)
    some = Dataset(data.X[kept], data.y[kept], data.qid[kept], doc_ids=data.doc_ids[kept])
    write_run(some, low[kept], files / "some.run")
    plan = Plan(data={"easy": data}, rankers=[str(files / "some.run")], folds=3)
    found = {}
    for trial in run(plan, files / "store.sqlite", n_jobs=1):
        found |= dict(zip(trial.query_ids.tolist(), trial.per_query["ndcg@10"], strict=True))
    whole = ordino.evaluate(data, np.where(kept, low, -np.inf), metrics="ndcg@10")
    assert found == dict(zip(whole.query_ids.tolist(), whole.per_query["ndcg@10"], strict=True))


@pytest.mark.parametrize("file", ["model.ordino", "bm25.run", "scores-{fold}.txt"])
def test_scores_belong_to_their_documents_where_the_rows_of_a_part_are_scattered(files, file):
    (files / "scores.txt").rename(files / "scores-Fold1.txt")
    fold = Fold("Fold1", EASY, None, DATA)
    plan = Plan(data={"easy": Folds(["Fold1"], lambda _: fold)}, rankers=[str(files / file)])
    [trial] = run(plan, files / "store.sqlite", n_jobs=1)
    assert trial.test["ndcg@10"] == pytest.approx(ordino.evaluate(DATA, SCORES)["ndcg@10"])


def test_a_board_says_what_was_not_trained_here(files):
    boards = ordino.bench({"easy": DATA}, ["rank-svm", str(files / "model.ordino")], folds=3, n_jobs=1, verbose=False)
    assert isinstance(boards, Boards)
    assert "Not trained here, so nobody knows which queries they have seen: model." in str(boards)


def test_another_model_under_the_same_name_is_another_trial(files):
    plan = Plan(data={"easy": DATA}, rankers=[str(files / "model.ordino")], folds=3)
    before = run(plan, files / "store.sqlite", n_jobs=1)
    ordino.save(SingleFeature(feature=1).fit(easy_data(seed=5)), files / "model.ordino")
    after = run(plan, files / "store.sqlite", n_jobs=1)
    assert not {trial.key for trial in before} & {trial.key for trial in after}


def test_scores_of_official_folds_are_named_by_fold(files):
    folds = make_folds(DATA, 3)
    write_folds(folds, files / "folds")
    for fold in ordino.read_folds(files / "folds"):
        np.savetxt(files / f"s-{fold.name}.txt", fold.test.restore(fold.test.X[:, 1].astype(float)))
    plan = Plan(
        data=files / "folds",
        rankers=[{"ranker": "single-feature", "params": {"feature": 2, "sign": 1}}, str(files / "s-{fold}.txt")],
    )
    trials = run(plan, files / "store.sqlite", n_jobs=1)
    means = [[trial.test["map"] for trial in trials if trial.label == label] for label in ("SingleFeature", "s")]
    assert means[0] == means[1]
    with pytest.raises(ParameterError, match="to which fold do these scores belong"):
        run(Plan(data=files / "folds", rankers=[str(files / "scores.txt")]), files / "store.sqlite", n_jobs=1)


def test_a_model_that_has_seen_the_test_queries_is_refused(files):
    """The whole data, or the very test part; that of the training part may compete with those that learn from it."""
    other = easy_data(seed=9)
    own = Folds(["Fold1"], lambda _: Fold("Fold1", other, None, DATA))
    model = RankSVM().fit(DATA)
    for seen, data, is_refused in ((DATA, DATA, True), (DATA, own, True), (other, own, False)):
        ordino.save(model, files / "seen.ordino", data=seen)
        plan = Plan(data={"d": data}, rankers=[str(files / "seen.ordino")], folds=3)
        with (
            pytest.raises(ParameterError, match="was trained on the data that it would be tested on")
            if (is_refused)
            else nullcontext()
        ):
            run(plan, files / "s.sqlite", n_jobs=1)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("nowhere.ordino", "nowhere.ordino: there is no such file; check the name, or choose a ranker"),
        ({"ranker": "MODEL", "params": {"C": 1}}, "a file competes as it is; leave out params"),
        ({"ranker": "MODEL", "trials": 3}, "a file competes as it is; leave out params"),
    ],
)
def test_what_cannot_compete_is_a_problem_of_the_plan(entry, sentence, files):
    given = entry if isinstance(entry, str) else entry | {"ranker": str(files / "model.ordino")}
    with pytest.raises(ParameterError, match=sentence):
        Plan(data={"easy": DATA}, rankers=[given], folds=3).check()


def test_scores_that_do_not_fit_are_refused(files):
    np.savetxt(files / "scores.txt", SCORES[1:])
    plan = Plan(data={"easy": DATA}, rankers=[str(files / "scores.txt")], folds=3)
    with pytest.raises(DataError, match=f"{len(SCORES) - 1} scores for {len(SCORES)} documents"):
        run(plan, files / "store.sqlite", n_jobs=1)
    plan = Plan(data={"easy": EASY}, rankers=[str(files / "bm25.run")], folds=3)
    with pytest.raises(DataError, match="the data has no document ids"):
        run(plan, files / "store.sqlite", n_jobs=1)


def test_files_of_a_plan_in_toml_are_found_from_its_folder(files):
    ordino.write_letor(EASY, files / "data.txt")
    (files / "plan.toml").write_text('data = "data.txt"\nfolds = 3\nrankers = ["model.ordino"]\n', encoding="utf-8")
    assert Plan.from_toml(files / "plan.toml").rankers == [str(files / "model.ordino")]
