"""LambdaMART and McRank: LightGBM's trees under our contract, and its traps."""

import copy
import re
from math import exp, log

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from sklearn.base import clone

from ordino.boosting import library, trees
from ordino.boosting.booster import Booster, training_groups
from ordino.boosting.native_ndcg import native_ndcg
from ordino.boosting.trees import load_trees
from ordino.data.dataset import Dataset
from ordino.data.source import canonical
from ordino.data.synthetic import synthetic
from ordino.errors import DataError, ParameterError
from ordino.judge import Choice, Judge
from ordino.metrics import METRICS, evaluate
from ordino.rankers.lambdamart import GAINS, LambdaMART, graded
from ordino.rankers.mcrank import McRank, at_levels, logistic_gradients
from ordino.streams import spawn_seed
from ordino.testing import easy_data

QUICK = {"rounds": 20, "learning_rate": 0.1, "min_leaf": 5}
RANKERS = [
    LambdaMART(**QUICK),
    LambdaMART(**QUICK, query_share=0.5, feature_share=0.5),
    McRank(**QUICK),
    McRank(**QUICK, classification="ordinal"),
]


def valid_values(ranker) -> list[float]:
    """The metric on held-out data after each round."""
    return [row["valid"] for row in ranker.history_]


@pytest.mark.parametrize(("n_queries", "leaves", "rate"), [(1499, 6, 0.1), (1500, 15, 0.05)])
def test_trees_of_few_queries_are_smaller_unless_told(n_queries, leaves, rate):
    data = easy_data(n_queries=n_queries)
    same = LambdaMART(rounds=2, leaves=leaves, learning_rate=rate).fit(data)
    assert LambdaMART(rounds=2).fit(data).model_ == same.model_
    assert LambdaMART(rounds=2, leaves=4, learning_rate=rate).fit(data).model_ != same.model_
    assert LambdaMART(rounds=2, leaves=leaves, learning_rate=0.2).fit(data).model_ != same.model_


# ---------------------------------------------------------------------------------------------------------------------
# LambdaMART is LightGBM's


def test_scores_are_those_of_bare_lightgbm():
    data = easy_data(n_queries=30)
    ours = LambdaMART(rounds=10, leaves=7, learning_rate=0.2, seed=5).fit(data).predict(data)
    rows = canonical(data)
    params = {"objective": "lambdarank", "num_leaves": 7, "learning_rate": 0.2, "seed": 5, "verbosity": -1}
    params |= {"min_data_in_leaf": 50, "deterministic": True, "force_row_wise": True}
    bare = lgb.train(params, lgb.Dataset(rows.X, rows.y, group=rows.counts), num_boost_round=10)
    assert ours.tolist() == bare.predict(data.X).tolist()


@pytest.mark.parametrize(
    ("metric", "profile"), [("ndcg@10", "standard"), ("map", "directranker"), ("pairwise_error", "letor4")]
)
def test_the_best_round_on_held_out_data_is_kept(metric: str, profile: str):
    data, valid = easy_data(n_queries=6), easy_data(n_queries=40, seed=1)
    ranker = LambdaMART(rounds=60, learning_rate=0.3, min_leaf=3, patience=7, metric=metric, profile=profile)
    ranker.fit(data, valid=valid)
    assert ranker.best_round_ == 1 + int(np.argmax(valid_values(ranker)))
    assert len(valid_values(ranker)) in (60, ranker.best_round_ + 7)
    assert load_trees(ranker.model_).num_trees() == ranker.best_round_
    # what was followed round by round is what the kept model says of the held-out data, in canonical row order
    assert ranker.score(canonical(valid)) == pytest.approx(max(valid_values(ranker)), abs=1e-12)


@pytest.mark.parametrize("patience", [1, 3, 7, 60])
@pytest.mark.parametrize("kind", [LambdaMART, McRank])
def test_rounds_measured_together_are_those_measured_one_by_one(kind, patience: int, monkeypatch: pytest.MonkeyPatch):
    data, valid = easy_data(n_queries=6), easy_data(n_queries=40, seed=1)
    ranker = kind(rounds=60, learning_rate=0.3, min_leaf=3, patience=patience, metric="ndcg")  # not LightGBM's own
    sizes: list[int] = []
    means = Judge.means
    monkeypatch.setattr(Judge, "means", lambda self, data, batch: sizes.append(len(batch)) or means(self, data, batch))
    together = ranker.fit(data, valid=valid)
    kept = (together.model_, together.best_round_, together.history_)
    assert sizes[0] == 1
    assert max(sizes) == (min(patience, 16) if patience > 1 else 1)
    monkeypatch.setattr("ordino.judge.MOST_AT_ONCE", 1)
    sizes.clear()
    alone = ranker.fit(data, valid=valid)
    assert set(sizes) == {1}
    assert (alone.model_, alone.best_round_, alone.history_) == kept


@pytest.mark.parametrize("metric", [*(m.example for m in METRICS.values()), "pairwise_accuracy(samples=5)"])
def test_means_of_several_scores_are_their_means(metric: str):
    rng = np.random.default_rng(0)
    data = easy_data(n_queries=5)
    judge = Judge(metric, "directranker")
    batch = [rng.random(data.n_docs).round(1) for _ in range(3)]
    assert judge.means(data, batch) == [judge.mean(data, scores) for scores in batch]


def test_a_query_that_is_left_out_is_not_in_the_mean():
    data = Dataset([[0.0]] * 4, [1, 0, 0, 0], ["a", "a", "empty", "empty"])
    assert Judge("mrr", "directranker").mean(data, np.arange(4.0)) == 1 / 2
    assert Judge("mrr", "standard").mean(data, np.arange(4.0)) == (1 / 2 + 0) / 2


def test_only_what_is_better_than_all_before_is_taken():
    choice = Choice(easy_data(), "mrr", "standard")
    taken = [choice.takes_value(value) for value in (0.5, 0.75, 0.25, 0.5, 0.75, 0.8)]
    assert taken == [True, True, False, False, False, True]
    assert Choice(None, "mrr", "standard").takes_which([np.zeros(0)] * 3) == 2  # without held-out data the last


@pytest.mark.parametrize(
    ("metric", "profile", "n_jobs"), [("ndcg@10", "standard", 1), ("ndcg@10", "standard", 2), ("ndcg@3", "lightgbm", 1)]
)
def test_lightgbm_measures_what_we_would_have_measured(
    metric: str, profile: str, n_jobs: int, monkeypatch: pytest.MonkeyPatch
):
    data = synthetic("mq", queries=60, seed=3)
    train, valid = data.replace(X=np.round(data.X, 1)).split(0.6)  # few values, so that scores are equal
    ranker = LambdaMART(rounds=25, patience=10, metric=metric, profile=profile, n_jobs=n_jobs)
    asked = []
    monkeypatch.setattr(Booster, "outputs", lambda *given: asked.append(given))
    native = clone(ranker).fit(train, valid=valid)
    assert not asked
    monkeypatch.undo()
    monkeypatch.setattr(trees, "native_ndcg", lambda *given: None)
    ours = clone(ranker).fit(train, valid=valid)
    assert min(valid.select_queries([q]).y.max() for q in range(valid.n_queries)) == 0  # there are empty queries
    assert native.model_.partition("parameters:")[0] == ours.model_.partition("parameters:")[0]
    assert valid_values(native) == pytest.approx(valid_values(ours), rel=0, abs=1e-11)


@pytest.mark.parametrize("metric", ["ndcg@10", "map"])
@pytest.mark.parametrize("gain", GAINS)
def test_what_is_measured_does_not_depend_on_the_gain_that_is_learned_by(gain, metric):
    train, valid = map(canonical, synthetic("mq", queries=20, seed=3).split(0.6))
    assert valid.y.max() == 2  # where the gains are 3 and 2
    ranker = LambdaMART(rounds=3, min_leaf=5, gain=gain, metric=metric).fit(train, valid=valid)
    measured = evaluate(valid, ranker.predict(valid), metrics=[metric])[metric]
    assert max(valid_values(ranker)) == pytest.approx(measured, abs=1e-11)


@pytest.mark.parametrize(
    ("metric", "profile", "labels"),
    [
        ("map", "standard", [0, 1, 2]),
        ("ndcg", "standard", [0, 1, 2]),
        ("ndcg@10", "letor4", [0, 1, 2]),
        ("ndcg@10", "standard", [0, 1]),  # valid has a label that training lacks
        ("ndcg@10", "standard", [0, 1.5, 3]),
        ("ndcg@10", "standard", [1, 2]),
    ],
)
def test_lightgbm_measures_nothing_else(metric: str, profile: str, labels: list[float]):
    valid = Dataset([[0.0]] * 3, [0, 1, 2])
    assert native_ndcg("ndcg@10", "standard", np.array([0.0, 1.0, 2.0]), valid) is not None
    assert native_ndcg(metric, profile, np.array(labels, float), valid) is None
    above = Dataset([[0.0]] * 2, [1, 2])  # whose lowest level would gain nothing
    assert native_ndcg("ndcg@10", "standard", np.array([1.0, 2.0]), above) is None
    long = Dataset(np.zeros((10_001, 1)), np.arange(10_001) % 3)
    assert native_ndcg("ndcg@10", "standard", np.array([0.0, 1.0, 2.0]), long) is None


def test_without_held_out_data_all_rounds_are_kept():
    ranker = LambdaMART(rounds=9, patience=1).fit(easy_data())
    assert ranker.best_round_ == 9
    assert ranker.history_ == [{"round": number} for number in range(1, 10)]
    assert load_trees(ranker.model_).num_trees() == 9


def test_training_ends_where_nothing_can_be_split():
    ranker = LambdaMART(rounds=50).fit(easy_data().replace(y=np.ones(180)))
    assert ranker.best_round_ == 1
    assert ranker.predict(easy_data()).tolist() == [0.0] * 180


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_threads_do_not_matter_on_more_data(ranker):
    data = easy_data(n_queries=200, n_docs=40)
    one, two = (copy.deepcopy(ranker).set_params(n_jobs=n).fit(data).predict(data) for n in (1, 2))
    assert one.tolist() == two.tolist()


def test_the_same_queries_are_drawn_on_several_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1800, 46))
    data = Dataset(X, np.digitize(X[:, 0] + rng.normal(size=1800), [0, 1]), np.repeat(np.arange(6), 300))
    one, *others = (LambdaMART(rounds=10, query_share=0.6, n_jobs=n).fit(data).predict(data) for n in (1, 2, 2, 2))
    assert all(other.tolist() == one.tolist() for other in others)


def test_seeds_matter_where_something_is_drawn():
    data = easy_data()
    one, two = (LambdaMART(**QUICK, query_share=0.5, seed=s).fit(data).predict(data) for s in (0, 1))
    assert one.tolist() != two.tolist()


@pytest.mark.parametrize("kind", [LambdaMART, McRank])
def test_control_c_keeps_the_best_so_far(kind, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    update, calls = Booster.update, []

    def interrupted(self, *args, **kwargs):
        if len(calls) == 5:
            raise KeyboardInterrupt
        calls.append(1)
        return update(self, *args, **kwargs)

    data, valid = easy_data(), easy_data(seed=1)
    monkeypatch.setattr(Booster, "update", interrupted)
    ranker = kind(rounds=40).fit(data, valid=valid)
    assert "stopped at 5 of 40; the best so far is kept" in capsys.readouterr().err
    assert len(valid_values(ranker)) == 5
    assert ranker.best_round_ == 1 + int(np.argmax(valid_values(ranker)))
    monkeypatch.setattr(Booster, "update", update)
    assert ranker.predict(data).tolist() == kind(rounds=ranker.best_round_).fit(data).predict(data).tolist()


def test_a_text_of_lightgbm_is_whole_however_much_room_it_is_given_first(monkeypatch):
    whole = library.text("DumpParamAliases")
    for room in range(len(whole) - 2, len(whole) + 3):
        monkeypatch.setattr(library, "SMALL", room)
        assert library.text("DumpParamAliases") == whole


@pytest.mark.parametrize(("share", "n_threads"), [(1.0, 3), (0.5, 1)])
def test_queries_are_drawn_on_one_thread(monkeypatch, share, n_threads):
    """On several, LightGBM draws other queries each time; data so small does not show it."""
    told = []
    monkeypatch.setattr(trees, "Booster", lambda params, *_: told.append(params["num_threads"]) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        LambdaMART(rounds=1, query_share=share, n_jobs=3).fit(easy_data())
    assert told == [n_threads]


def test_bags_are_summed():
    data, valid = easy_data(), easy_data(seed=1)
    quick = QUICK | {"query_share": 0.5, "seed": 3}
    bagged = LambdaMART(**quick, bags=3).fit(data, valid=valid)
    first = LambdaMART(**quick).fit(data, valid=valid)
    assert bagged.history_[: len(first.history_)] == [{"bag": 1} | row for row in first.history_]
    assert {row["bag"] for row in bagged.history_} == {1, 2, 3}
    assert load_trees(bagged.model_).num_trees() == bagged.best_round_ > first.best_round_
    others = [
        LambdaMART(**(quick | {"seed": spawn_seed(bagged.seed, "bag", bag)})).fit(data, valid=valid) for bag in (1, 2)
    ]
    assert len({ranker.model_ for ranker in (first, *others)}) == 3
    total = first.predict(data) + others[0].predict(data) + others[1].predict(data)
    np.testing.assert_allclose(bagged.predict(data), total, rtol=1e-12)
    with pytest.raises(ParameterError, match="bags=2 would all be the same; set query_share or feature_share below 1"):
        LambdaMART(bags=2).fit(data)


@pytest.mark.parametrize(("calls_before", "trees"), [(23, 23), (20, 20), (0, None)])
def test_control_c_among_bags(calls_before: int, trees: int | None, monkeypatch: pytest.MonkeyPatch):
    update, calls = Booster.update, []

    def interrupted(self, *args, **kwargs):
        if len(calls) == calls_before:
            raise KeyboardInterrupt
        calls.append(1)
        return update(self, *args, **kwargs)

    monkeypatch.setattr(Booster, "update", interrupted)
    ranker = LambdaMART(**QUICK, query_share=0.5, bags=3)  # 20 rounds each
    if trees is None:
        with pytest.raises(KeyboardInterrupt):
            ranker.fit(easy_data())
    else:
        assert load_trees(ranker.fit(easy_data()).model_).num_trees() == trees


# ---------------------------------------------------------------------------------------------------------------------
# LightGBM's traps


def test_gains_of_usual_labels_are_lightgbms_own():
    levels, gains = graded(np.array([0.0, 1.0, 2.0, 4.0]), "exponential")
    assert levels.tolist() == [0, 1, 2, 3]
    assert gains.tolist() == [0, 1, 3, 15]  # 2^0 - 1, 2^1 - 1, 2^2 - 1, 2^4 - 1
    assert graded(np.array([0.0, 1.0, 2.0, 4.0]), "linear")[1].tolist() == [0, 1, 2, 4]


def test_gains_of_fractions_negative_and_very_large_labels():
    assert graded(np.array([0.5, 1.5]), "exponential")[1].tolist() == [2**0.5 - 1, 2**1.5 - 1]
    assert graded(np.array([-1.0, 1.0]), "exponential")[1].tolist() == [0, 3]  # -1 and 1 are as far apart as 0 and 2
    gains = graded(np.array([0.0, 1999.0, 2000.0]), "exponential")[1]
    assert gains[0] == 0
    assert gains[2] / gains[1] == 2  # 2^2000 is beyond double precision, its proportion to 2^1999 is not


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
def test_levels_order_as_labels_do(labels: list[float]):
    values = np.unique(labels)
    for gain in ("exponential", "linear"):
        levels, gains = graded(values, gain)
        assert levels.tolist() == list(range(len(values)))
        assert np.isfinite(gains).all()
        assert (np.diff(gains) >= 0).all()


def test_labels_above_thirty_are_learned():
    data = easy_data(n_queries=24)
    with pytest.raises(lgb.basic.LightGBMError, match="Label 50 is not less than the number of label mappings"):
        lgb.train({"objective": "lambdarank", "verbosity": -1}, lgb.Dataset(data.X, data.y * 25, group=data.counts))
    unseen = easy_data(seed=5)
    for factor in (25, 1000):
        scores = LambdaMART(**QUICK).fit(data.replace(y=data.y * factor)).predict(unseen)
        assert evaluate(unseen, scores, metrics="ndcg@10")["ndcg@10"] > 0.8


def test_thousands_of_levels():
    data = easy_data(n_queries=200)
    y = data.X[:, 0] * 5.0
    values = np.unique(y)
    levels, gains = graded(values, "exponential")
    assert len(values) > 2048 >= len(gains)
    assert np.abs(np.log2(gains + 1)[levels] - values).max() < 5 / 2047  # half a step of rounding
    fitted = LambdaMART(rounds=5).fit(data.replace(y=y))
    assert np.corrcoef(fitted.predict(data), y)[0, 1] > 0.9


def test_queries_of_more_than_ten_thousand_documents():
    data = easy_data(n_queries=1, n_docs=25_000)
    with pytest.raises(lgb.basic.LightGBMError, match="exceeds upper limit of 10000"):
        lgb.train({"objective": "lambdarank", "verbosity": -1}, lgb.Dataset(data.X, data.y, group=[25_000]))
    ranker = LambdaMART(rounds=10).fit(data, valid=data)
    assert ranker.score(data) > 0.7  # by chance 0.2


@given(st.lists(st.integers(1, 50), min_size=0, max_size=20), st.integers(1, 20))
def test_parts_make_up_their_queries(counts: list[int], limit: int):
    parts = training_groups(np.array(counts, np.int64), limit)
    ends = np.cumsum(parts)
    assert (parts <= limit).all()
    assert (parts >= 1).all()
    assert np.isin(np.cumsum(counts), ends).all()  # no part reaches across a query
    assert len(parts) == sum(-(-count // limit) for count in counts)


def test_names_that_lightgbm_refuses():
    data = easy_data()
    names = ['a "quoted" name', "with,comma", "[brackets]", "{braces}: 1"]
    ranker = LambdaMART(**QUICK).fit(Dataset(data.X, data.y, data.qid, feature_names=names))
    assert ranker.predict(data).tolist() == LambdaMART(**QUICK).fit(data).predict(data).tolist()
    assert ranker.feature_gains()[0].feature == names[0]  # the heaviest feature of easy data


def test_missing_values_are_learned_from():
    rng = np.random.default_rng(0)
    X = rng.random((400, 1)).astype(np.float32)
    y = (rng.random(400) < 0.5).astype(float)
    X[y > 0] = np.nan  # missing means relevant
    for kind in (LambdaMART, McRank):
        scores = kind(rounds=5).fit(X, y, qid=np.repeat(np.arange(40), 10)).predict([[np.nan], [0.5]])
        assert scores[0] > scores[1]


def test_no_document_gets_no_score():
    for ranker in RANKERS:
        fitted = copy.deepcopy(ranker).fit(easy_data())
        assert fitted.predict(np.zeros((0, 4))).shape == (0,)


def test_documents_that_weigh_nothing_teach_nothing():
    data = easy_data(n_queries=24)
    wrong = np.random.default_rng(0).random(data.n_docs) < 0.3
    y = np.where(wrong, 2 - data.y, data.y)
    weighted = Dataset(data.X, y, data.qid, weights=np.where(wrong, 0.0, 1.0))
    unseen = easy_data(seed=5)
    for ranker in (LambdaMART(**QUICK), McRank(**QUICK), McRank(**QUICK, classification="ordinal")):
        assert ranker.fit(weighted).score(unseen) > ranker.fit(data.replace(y=y)).score(unseen)


# ---------------------------------------------------------------------------------------------------------------------
# What is kept


@pytest.mark.parametrize("ranker", RANKERS, ids=repr)
def test_a_fitted_ranker_is_plain_values(ranker):
    fitted = copy.deepcopy(ranker).fit(easy_data(), valid=easy_data(seed=1))
    plain = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    for name, value in plain.items():
        assert value is None or isinstance(value, str | int | list | np.ndarray), name
    rebuilt = type(ranker)(**ranker.get_params())
    for name, value in plain.items():
        setattr(rebuilt, name, value)
    load_trees.cache_clear()
    assert rebuilt.predict(easy_data()).tolist() == fitted.predict(easy_data()).tolist()


def test_feature_gains_are_shares():
    gains = LambdaMART(**QUICK).fit(easy_data()).feature_gains()
    assert gains[0].feature == "f1"
    assert sum(gain.weight for gain in gains) == pytest.approx(1)
    assert [gain.weight for gain in gains] == sorted((gain.weight for gain in gains), reverse=True)
    flat = LambdaMART(**QUICK).fit(easy_data().replace(y=np.ones(180)))
    assert {gain.weight for gain in flat.feature_gains()} == {0.0}


def test_a_text_that_needs_more_room_is_asked_for_again(monkeypatch):
    ranker = LambdaMART(rounds=3)
    known = ranker.fit(easy_data()).model_
    monkeypatch.setattr("ordino.boosting.library.SMALL", 100)
    assert ranker.fit(easy_data()).model_ == known


def test_other_options_reach_lightgbm():
    ranker = LambdaMART(rounds=3, seed=4, options={"max_depth": 1}).fit(easy_data())
    assert "[max_depth: 1]" in ranker.model_
    assert "[seed: 4]" in ranker.model_
    assert load_trees(ranker.model_).trees_to_dataframe()["node_depth"].max() == 2  # a root and its leaves


def test_an_option_that_is_off_reaches_lightgbm_too():
    ranker = LambdaMART(rounds=1, options={"lambdarank_norm": False, "sigmoid": 2, "cat_smooth": 0})
    told = ranker.fit(easy_data(n_queries=3)).model_
    assert {"[lambdarank_norm: 0]", "[sigmoid: 2]", "[cat_smooth: 0]"} <= set(told.splitlines())


THEIRS = {
    "rounds": "num_boost_round num_iterations", "learning_rate": "eta shrinkage_rate", "leaves": "num_leaves max_leaf",
    "min_leaf": "min_data_in_leaf min_child_samples", "l2": "lambda_l2 reg_lambda",
    "feature_share": "feature_fraction colsample_bytree",
    "query_share": "bagging_fraction subsample bagging_freq subsample_freq bagging_by_query",
    "patience": "early_stopping_round early_stopping_rounds n_iter_no_change", "metric": "metric eval_at ndcg_at",
    "seed": "seed random_state", "n_jobs": "num_threads nthread", "verbose": "verbosity verbose",
    "truncation": "lambdarank_truncation_level", "gain": "label_gain",
}  # fmt: skip
"""LightGBM's names of what the rankers' own parameters say; as options they would have no effect."""
NOT_THEIRS = {"bags", "classification", "options", "profile", "scaling", "value"}


def test_what_a_parameter_of_the_ranker_says_is_refused_as_an_option():
    assert {*LambdaMART().get_params(), *McRank().get_params()} == {*THEIRS, *NOT_THEIRS}
    for own, names in THEIRS.items():
        for name in names.split():
            with pytest.raises(
                ParameterError, match=f"{{'{name}': ...}}; the ranker sets it by its own parameter {own}$"
            ):
                LambdaMART(options={name: 1}).fit(easy_data())


@pytest.mark.parametrize(
    ("ranker", "sentence"),
    [
        (LambdaMART(rounds=0), "rounds=0; it must be a whole number, 1 or more"),
        (LambdaMART(learning_rate=0), "learning_rate=0; it must be a number, more than 0"),
        (LambdaMART(leaves=1), "leaves=1; it must be a whole number, from 2 to"),
        (LambdaMART(min_leaf=0), "min_leaf=0"),
        (LambdaMART(l2=-1), "l2=-1"),
        (LambdaMART(feature_share=1.5), "feature_share=1.5; it must be a number, more than 0 and at most 1"),
        (LambdaMART(query_share=0), "query_share=0"),
        (LambdaMART(truncation=0), "truncation=0"),
        (LambdaMART(patience=0), "patience=0"),
        (LambdaMART(gain="linaer"), "unknown gain 'linaer'; did you mean 'linear'"),
        (LambdaMART(seed=-1), "seed=-1"),
        (LambdaMART(n_jobs=0), "n_jobs=0"),
        (LambdaMART(options="max_depth=3"), "options='max_depth=3'; give a mapping"),
        (LambdaMART(options={"seed": 99}), "options={'seed': ...}; the ranker sets it by its own parameter seed"),
        (LambdaMART(options={"reg_lambda": 1}), "options={'reg_lambda': ...}; .* by its own parameter l2"),
        (McRank(options={"objective": "rank_xendcg"}), "options={'objective': ...}; the ranker has its own"),
        (
            LambdaMART(options={"monotone_constraints": {"f": 1}}),
            "{'f': 1}}; LightGBM takes a number, a text or a list",
        ),
        (LambdaMART(options={"max_dept": 3}), "in options: 'max_dept'; did you mean 'max_depth'?"),
        (McRank(classification="ordnial"), "unknown classification 'ordnial'; did you mean 'ordinal'"),
        (McRank(value="log"), "unknown value 'log'; choose from: exponential, linear"),
    ],
    ids=lambda case: case if isinstance(case, str) else "",
)
def test_parameters_are_checked(ranker, sentence: str):
    with pytest.raises(ParameterError, match=sentence):
        ranker.fit(easy_data())


def test_held_out_data_must_count():
    empty = easy_data().replace(y=np.zeros(180))
    with pytest.raises(DataError, match="valid has no query that ndcg@10 in profile 'directranker' counts"):
        LambdaMART(profile="directranker").fit(easy_data(), valid=empty)


# ---------------------------------------------------------------------------------------------------------------------
# McRank


def test_probabilities_are_a_softmax_over_the_trees():
    data = easy_data()
    ranker = McRank(**QUICK).fit(data)
    raw = load_trees(ranker.model_).predict(data.X, raw_score=True)
    for i, row in enumerate(raw[:20]):
        total = sum(exp(value) for value in row)
        expected = [exp(value) / total for value in row]
        np.testing.assert_allclose(ranker.predict_proba(data)[i], expected, rtol=1e-12)
        relevance = 0 * expected[0] + 1 * expected[1] + 2 * expected[2]
        assert ranker.predict(data)[i] == pytest.approx(relevance, rel=1e-12)


def test_ordinal_probabilities_are_differences():
    data = easy_data()
    ranker = McRank(**QUICK, classification="ordinal").fit(data)
    raw = load_trees(ranker.model_).predict(data.X, raw_score=True)
    for i, row in enumerate(raw[:20]):
        one, two = (1 / (1 + exp(-(value + start))) for value, start in zip(row, ranker.start_, strict=True))
        two = min(one, two)
        np.testing.assert_allclose(ranker.predict_proba(data)[i], [1 - one, one - two, two], rtol=1e-9, atol=1e-12)
        assert ranker.predict(data)[i] == pytest.approx(one + two, rel=1e-9)  # sum of P(y >= k)


@given(st.lists(st.lists(st.floats(-1000, 1000), min_size=3, max_size=3), min_size=1, max_size=5))
def test_levels_share_what_is_certain(outputs: list[list[float]]):
    probabilities = at_levels(np.array(outputs))
    assert probabilities.shape == (len(outputs), 4)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_a_level_is_no_likelier_than_the_one_below():
    # P(y >= 1) = 1/4 and P(y >= 2) = 3/4 cannot both be
    np.testing.assert_allclose(at_levels(np.log([[1 / 3, 3.0]])), [[3 / 4, 0, 1 / 4]])


def test_gradients_are_those_of_the_logistic_loss():
    rng = np.random.default_rng(0)
    above, weights = rng.random((4, 2)) < 0.5, rng.random(4)
    outputs = rng.normal(size=8)

    def loss(z):  # the slow obvious form
        return sum(
            weights[i] * log(1 + exp(z[2 * i + k] if not above[i, k] else -z[2 * i + k]))
            for i in range(4)
            for k in range(2)
        )

    gradient, hessian = logistic_gradients(above, weights)(outputs, None)
    np.testing.assert_allclose(np.ravel(gradient), approx_fprime(outputs, loss), atol=1e-6)
    steps = np.eye(8) * 1e-4
    second = [(loss(outputs + s) - 2 * loss(outputs) + loss(outputs - s)) / 1e-8 for s in steps]
    np.testing.assert_allclose(np.ravel(hessian), second, atol=1e-5)


@pytest.mark.parametrize("classification", ["multiclass", "ordinal"])
def test_before_it_learns_it_says_the_frequencies(classification: str):
    data = easy_data()
    ranker = McRank(classification=classification, rounds=1, learning_rate=1e-9)
    for weights in (np.ones(180), np.where(data.y == 1, 5.0, 1.0)):
        frequencies = [np.average(data.y == level, weights=weights) for level in (0, 1, 2)]
        found = ranker.fit(data.with_weights(weights)).predict_proba(data)[0]
        np.testing.assert_allclose(found, frequencies, atol=5e-3)


@pytest.mark.parametrize("value", ["linear", "exponential"])
@pytest.mark.parametrize("classification", ["multiclass", "ordinal"])
def test_what_is_followed_is_what_is_kept(classification: str, value: str):
    levels = np.array([0.0, 1.0, 6.0])  # 1, 2 and 64 of value, if it is exponential
    data, valid = (one.replace(y=levels[one.y.astype(int)]) for one in (easy_data(8), easy_data(40, seed=1)))
    quick = {"rounds": 30, "learning_rate": 0.3, "min_leaf": 3, "patience": 5, "metric": "map"}
    ranker = McRank(classification=classification, value=value, **quick).fit(data, valid=valid)
    assert ranker.best_round_ == 1 + int(np.argmax(valid_values(ranker)))
    assert ranker.score(canonical(valid)) == pytest.approx(max(valid_values(ranker)), abs=1e-3)


@pytest.mark.parametrize("classification", ["multiclass", "ordinal"])
def test_levels_may_be_any_numbers(classification: str):
    data = easy_data()
    y = np.array([-1.0, 0.5, 40.0])[data.y.astype(int)]
    ranker = McRank(**QUICK, classification=classification).fit(data.replace(y=y))
    assert ranker.levels_.tolist() == [-1.0, 0.5, 40.0]
    probabilities = ranker.predict_proba(data.X, qid=data.qid)
    np.testing.assert_allclose(ranker.predict(data), probabilities @ ranker.levels_, rtol=1e-12)
    one_level = McRank(**QUICK, classification=classification).fit(data.replace(y=np.full(180, 3.0)))
    assert one_level.predict_proba(data).shape == (180, 1)


def test_exponential_worth():
    ranker = McRank(**QUICK, value="exponential").fit(easy_data())
    assert ranker.worth_.tolist() == [1, 2, 4]  # 2^y, which orders as 2^y - 1 does
    large = McRank(**QUICK, value="exponential").fit(easy_data().replace(y=easy_data().y * 1000))
    assert np.isfinite(large.predict(easy_data())).all()


def test_two_levels():
    data = easy_data().replace(y=np.minimum(easy_data().y, 1))
    for classification in ("multiclass", "ordinal"):
        ranker = McRank(**QUICK, classification=classification).fit(data, valid=data)
        assert ranker.predict_proba(data).shape == (180, 2)
        assert ranker.score(data) > 0.9


def test_too_many_levels_are_refused():
    with pytest.raises(DataError, match="y has 180 different labels, but McRank supports at most 100 levels"):
        McRank().fit(easy_data().replace(y=np.arange(180)))


def test_levels_that_do_not_fit_the_trees_are_refused():
    ranker = McRank(**QUICK, classification="ordinal").fit(easy_data())
    ranker.form().check()
    ranker.start_ = ranker.start_[:-1]
    with pytest.raises(DataError, match="start_ does not fit"):
        ranker.form().check()


def test_every_bag_draws_for_itself_and_by_the_seed():
    def bags(seed):
        ranker = LambdaMART(bags=3, rounds=2, query_share=0.5, min_leaf=5, seed=seed).fit(easy_data(n_queries=12))
        _, *trees = re.split(r"^Tree=\d+\n", ranker.model_.partition("end of trees")[0], flags=re.MULTILINE)
        assert len(trees) == 6
        return ["".join(trees[i : i + 2]) for i in (0, 2, 4)]

    assert len({*bags(0), *bags(1)}) == 6


def test_the_booster_has_the_names_of_the_features_whatever_they_are():
    data = easy_data().replace(feature_names=("a\\d", "b\\n", "c\td", "e f"))
    ranker = LambdaMART(rounds=3, min_leaf=5).fit(data)
    assert ranker.booster_.feature_name() == ["a\\d", "b\\n", "c_d", "e_f"]
    assert ranker.booster_.predict(data.X).tolist() == ranker.predict(data).tolist()
