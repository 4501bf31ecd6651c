"""The flat doors: what a person types first, imported from ``ordino`` itself."""

import numpy as np
import pytest
import sklearn
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ordino
from ordino.backends import local_backend
from ordino.errors import DataError, ParameterError
from ordino.experiment.compare.comparison import compare_evaluations
from ordino.experiment.run import driver
from ordino.experiment.store.kept import Kept, kept_path
from ordino.metrics import evaluate
from ordino.pipelines import score_with
from ordino.testing import easy_data

DATA, TEST = easy_data(), easy_data(seed=1)


@pytest.fixture(scope="module")
def trees():
    return ordino.LambdaMART(rounds=5, min_leaf=5).fit(DATA)


def test_two_rankers_or_their_scores_or_their_evaluations_compare_alike(trees):
    other = ordino.RandomRanker().fit(DATA)
    found = ordino.compare(trees, other, TEST, metrics=["map", "mrr"])
    by_scores = ordino.compare(trees.predict(TEST), other, TEST, metrics=["map", "mrr"])
    evaluations = [evaluate(TEST, one.predict(TEST), metrics=["map", "mrr"]) for one in (trees, other)]
    assert found == by_scores == ordino.compare(*evaluations)
    assert found[0].difference == pytest.approx(evaluations[0]["map"] - evaluations[1]["map"])
    assert "p of 2 is Holm-corrected for the 2 metrics; 12 queries in both" in str(found)
    assert "Holm-corrected for the 2" in found._repr_html_()


def test_models_of_other_libraries_compare_by_their_predictions(trees):
    peer = Ridge().fit(DATA.X, DATA.y)
    shuffled = ordino.Dataset(TEST.X[::-1], TEST.y[::-1], np.roll(TEST.qid, 3)[::-1])  # rows in no order of queries
    [found] = ordino.compare(peer, trees, shuffled, metrics="map")
    given = np.empty(len(TEST.X))
    given[shuffled.order] = peer.predict(shuffled.X)
    assert found.mean_a == evaluate(shuffled, given, metrics="map")["map"]


def test_a_pipeline_is_compared_query_by_query(trees):
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = ordino.RankSVM(scaling="querymax").set_fit_request(qid=True)
        piped = make_pipeline(StandardScaler(), ranker).fit(DATA.X, DATA.y, qid=DATA.qid)
    X = TEST.X[:12].copy()
    X[:, 1:] *= np.repeat([[1], [50]], 6, 0)  # large in some queries: as one list, the others would hardly count
    few = ordino.Dataset(X, np.arange(12) % 3, np.repeat([1, 2, 3, 4], 3))
    whole = score_with(piped, few)
    as_one_list = piped.predict(few.X)
    assert ordino.compare(as_one_list, trees, few) != ordino.compare(whole, trees, few)
    assert ordino.compare(piped, trees, few) == ordino.compare(whole, trees, few)


def test_evaluations_that_have_nothing_in_common_are_not_compared(trees):
    scores = trees.predict(TEST)
    by_map, by_ndcg = evaluate(TEST, scores, metrics="map"), evaluate(TEST, scores, metrics="ndcg@5")
    with pytest.raises(ParameterError, match=r"a has map and b has ndcg@5; evaluate both by the same metrics"):
        ordino.compare(by_map, by_ndcg)
    other = evaluate(TEST, scores, metrics="ndcg@5", profile="letor3")
    with pytest.raises(ParameterError, match="a was evaluated in profile 'standard' and b in 'letor3'"):
        ordino.compare(by_ndcg, other)


def test_compare_says_what_is_missing(trees):
    with pytest.raises(ParameterError, match=r"compare\(\) needs data="):
        ordino.compare(trees, trees)
    measured = evaluate(TEST, trees.predict(TEST))
    with pytest.raises(ParameterError, match="takes evaluations without data"):
        ordino.compare(measured, measured, TEST)
    with pytest.raises(DataError, match=r"Ridge could not score the data .* give its scores instead"):
        ordino.compare(Ridge(), trees, TEST)


@pytest.mark.parametrize("asked", [{"profile": "letor3"}, {"test": "paired-t"}, {"metrics": "p@3"}])
def test_compare_measures_and_tests_as_it_is_asked_to(asked):
    a, b = (ordino.SingleFeature(feature=feature).fit(DATA) for feature in (1, 2))
    usual = {"metrics": "ndcg@5", "profile": "standard", "test": "wilcoxon"}
    how = usual | asked
    sides = [evaluate(TEST, one.predict(TEST), metrics=how["metrics"], profile=how["profile"]) for one in (a, b)]
    expected = compare_evaluations(*sides, test=how["test"])
    assert ordino.compare(a, b, TEST, **how) == expected != ordino.compare(a, b, TEST, **usual)


@pytest.mark.parametrize("out", [None, "store.sqlite"])
def test_bench_keeps_rankings_beside_a_store_and_works_as_it_is_asked_to(tmp_path, monkeypatch, capsys, out):
    asked = []
    monkeypatch.setattr(driver, "open_backend", lambda n_jobs, _: asked.append(n_jobs) or local_backend(1))
    store = None if out is None else tmp_path / out
    how = {"metrics": ["map"], "folds": 3, "repeats": 2, "n_jobs": 3}
    [board] = ordino.bench({"easy": DATA}, ["random-ranker"], out=store, verbose=out is None, **how)
    assert (asked, board.lines[0].n_trials, board.measures) == ([3], 6, ["map"])
    assert ("trials" in capsys.readouterr().err) == (out is None)
    if store is not None:
        with Kept(kept_path(store)) as kept:
            assert len(kept.keys()) == 6


def test_bench_trains_and_compares(tmp_path):
    store = tmp_path / "store.sqlite"
    boards = ordino.bench(
        {"easy": DATA}, ["rank-svm", "random-ranker"], metrics=["map"], folds=3, n_jobs=1, out=store, verbose=False
    )
    assert [line.label for line in boards[0].lines] == ["RankSVM", "RandomRanker"]
    assert store.exists()
    assert "RankSVM" in str(boards)
    assert "Wilcoxon" in boards._repr_html_()


def test_values_of_queries_as_a_frame(trees):
    measured = evaluate(TEST, trees.predict(TEST), metrics=["map", "ndcg@5"])
    for backend in ("pandas", "polars", "pyarrow"):
        frame = measured.to_frame(backend)
        names = frame.column_names if backend == "pyarrow" else list(frame.columns)
        assert names == ["qid", "map", "ndcg@5"]
        assert len(frame) == TEST.n_queries
    assert measured.to_frame()["map"].tolist() == measured.per_query["map"].tolist()


@pytest.mark.parametrize(
    "model",
    [ordino.RankSVM(), make_pipeline(StandardScaler(), ordino.RankSVM()), Ridge()],
    ids=["ours", "pipe", "peer"],
)
def test_metrics_are_scorers_of_scikit_learn(model):
    with sklearn.config_context(enable_metadata_routing=True):
        values = cross_val_score(
            model, DATA.X, DATA.y, cv=ordino.QueryKFold(3), scoring=ordino.scorer("map"), params={"qid": DATA.qid}
        )
        search = GridSearchCV(ordino.RankSVM(), {"C": [1.0]}, cv=ordino.QueryKFold(3), scoring=ordino.scorer("mrr"))
        assert search.fit(DATA.X, DATA.y, qid=DATA.qid).best_score_ > 0.9
    assert (values > 0.9).all()


def test_a_scorer_uses_its_metric_and_profile_and_turns_errors_round():
    ranker = ordino.RankSVM().fit(DATA)
    scores = ranker.predict(TEST)
    assert evaluate(TEST, TEST.y[::-1], metrics="dcg@5", profile="trec") != evaluate(
        TEST, TEST.y[::-1], metrics="dcg@5"
    )
    for metric in ("dcg@5", "pairwise_error"):
        value = ordino.scorer(metric, profile="trec")(ranker, TEST.X, TEST.y, qid=TEST.qid)
        mean = evaluate(TEST, scores, metrics=metric, profile="trec")[metric]
        assert value == (-mean if metric == "pairwise_error" else mean)
    with pytest.raises(DataError, match="needs the query of each row"):
        ordino.scorer("map")(ranker, TEST.X, TEST.y)
    with pytest.raises(ParameterError, match="did you mean 'map'"):
        ordino.scorer("mapp")
    assert repr(ordino.scorer("p@5")) == "scorer('p@5', profile='standard')"


def test_trees_have_importances_and_a_booster_with_names(trees):
    named = ordino.Dataset(DATA.X, DATA.y, DATA.qid, feature_names=["bm25", "page rank", "age", "length"])
    ranker = ordino.LambdaMART(rounds=5, min_leaf=5).fit(named)
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    assert ranker.feature_importances_.argmax() == 0
    assert ranker.booster_.feature_name() == ["bm25", "page_rank", "age", "length"]
    np.testing.assert_array_equal(ranker.booster_.predict(DATA.X), trees.predict(DATA))
    assert not hasattr(ordino.RankNet(epochs=1).fit(DATA), "feature_importances_")
    chosen = SelectFromModel(trees, prefit=True, threshold="mean").transform(DATA.X)
    assert 1 <= chosen.shape[1] < 4


def test_boosted_stumps_have_importances():
    ranker = ordino.RankBoost(rounds=5).fit(DATA)
    sizes = np.zeros(DATA.n_features)
    for stump in ranker.stumps_:
        sizes[stump.feature] += abs(stump.alpha)
    np.testing.assert_allclose(ranker.feature_importances_, sizes / sizes.sum())
    assert not hasattr(ordino.RankBoost(), "feature_importances_")


@pytest.mark.parametrize(
    "show",
    [
        lambda trees: DATA,
        lambda trees: DATA.describe(),
        lambda trees: evaluate(DATA, trees.predict(DATA)),
        lambda trees: ordino.why(trees, DATA[0].X[0], DATA[0].X[1]),
        lambda trees: ordino.compare(trees, trees.predict(DATA) * 0, DATA),
    ],
    ids=["Dataset", "Summary", "Evaluation", "Why", "Comparisons"],
)
def test_notebooks_show_tables(show, trees):
    page = show(trees)._repr_html_()
    assert page.count("<table>") == page.count("</table>") == 1
    assert page.count("<tr>") > 2


def test_names_from_data_are_escaped_in_notebooks():
    named = ordino.Dataset(DATA.X[:, :1], DATA.y, DATA.qid, feature_names=["<script>alert(1)</script>"])
    ranker = ordino.SingleFeature(feature=1).fit(named)
    assert "<script>" not in ordino.why(ranker, [1.0], [2.0])._repr_html_()
