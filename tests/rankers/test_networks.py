"""Rankers that are scoring networks: what is theirs beyond the contract."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import ordino
from ordino import Dataset, DeepNet, DenseComparator, DirectRanker, KernelRankNet, ListNet, RankNet, RankProp, Scorer
from ordino.data.folds import QueryKFold
from ordino.errors import DataError, ParameterError
from ordino.forms import Trees
from ordino.layers import Layer
from ordino.losses import LOSSES
from ordino.testing import easy_data

DATA = easy_data()
VALID = easy_data(seed=1)
THREE = [[0.0], [1.0], [2.0]]


def test_parameters_of_the_family_and_its_own_are_seen():
    names = RankNet().get_params()
    assert {"ties", "target", "average", "hidden", "epochs", "seed"} <= set(names)
    assert clone(RankNet(ties=True, hidden=3)).get_params() == RankNet(ties=True, hidden=3).get_params()
    with pytest.raises(ParameterError, match="did you mean 'hidden'"):
        RankNet(hiden=3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ranker", [RankNet, DeepNet, DenseComparator])
def test_pairs_are_learned_from_without_a_word_on_labels(ranker):
    ranker(hidden=2, scaling=None, epochs=1).fit_pairs(THREE, [(2, 1), (1, 0)])


def test_preferences_alone_teach_an_order():
    ranker = RankNet(hidden=(), scaling=None, epochs=50, learning_rate=0.05).fit_pairs(THREE, [(2, 1), (1, 0)])
    assert ranker.rank(THREE).tolist() == [2, 1, 0]


def test_contradicting_preferences_settle_at_their_probability():
    ranker = RankNet(hidden=(), scaling=None, epochs=600, learning_rate=0.05, optimizer="adam")
    ranker.fit_pairs([[0.0], [1.0]], [(1, 0)] * 3 + [(0, 1)])  # three of four say 1 before 0
    assert ranker.compare([[1.0]], [[0.0]])[0] == pytest.approx(3 / 4, abs=0.01)


def test_preference_probabilities_are_learned():
    ranker = RankNet(hidden=(), scaling=None, epochs=600, learning_rate=0.05, optimizer="adam")
    ranker.fit_pairs([[0.0], [1.0]], [(1, 0)], probability=0.8)
    assert ranker.compare([[1.0]], [[0.0]])[0] == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("pairs", "probability", "sentence"),
    [
        ([(0, 3)], 1.0, "pairs has row number 3; the rows of X go from 0 to 2"),
        ([(0, -1)], 1.0, "pairs has row number -1"),
        ([(0, 1, 2)], 1.0, "pairs must be rows"),
        (np.zeros((0, 2), int), 1.0, "at least one"),
        ([(0, 1)], 1.5, "probability must lie between 0 and 1"),
    ],
)
def test_bad_preferences_are_refused(pairs, probability, sentence):
    with pytest.raises(DataError, match=sentence):
        RankNet(scaling=None).fit_pairs(THREE, pairs, probability)


def test_the_published_settings():
    ranker = RankNet.as_published(epochs=60).fit(DATA, valid=VALID)
    assert ranker.initializer == "ranknet"
    assert ranker.score(VALID) > 0.9  # of pairs in the right order


def test_direct_ranker_with_cross_entropy_is_ranknet():
    binary = DATA.replace(y=(DATA.y > 0).astype(float))  # two classes: every pair is one of neighbors
    settings = {"hidden": 6, "epochs": 5, "learning_rate": 0.01, "dropout": 0.0, "scaling": "symlog"}
    direct = DirectRanker(loss="ranknet", **settings).fit(binary)
    assert direct.predict(binary).tolist() == RankNet(**settings).fit(binary).predict(binary).tolist()
    probability = RankNet(**settings).fit(binary).compare(DATA.X[:9], DATA.X[9:18])
    np.testing.assert_allclose((1 + direct.preference(DATA.X[:9], DATA.X[9:18])) / 2, probability, rtol=1e-9)
    weighted = DirectRanker(loss="lambdarank", **settings).fit(DATA)  # cross entropy too, whatever its pairs count
    probability = weighted.compare(DATA.X[:9], DATA.X[9:18])
    np.testing.assert_allclose((1 + weighted.preference(DATA.X[:9], DATA.X[9:18])) / 2, probability, rtol=1e-9)


@cache
def direct_ranker(output):
    return DirectRanker(hidden=(7, 3), output=output, epochs=2, scaling="quantile").fit(DATA)


DOCUMENTS = st.lists(st.lists(st.floats(0, 1, width=32), min_size=4, max_size=4), min_size=3, max_size=3)


@settings(max_examples=50, deadline=None)
@given(documents=DOCUMENTS, output=st.sampled_from(["identity", "tanh", "half-tanh", "softsign"]))
def test_direct_ranker_is_reflexive_antisymmetric_and_transitive(documents, output):
    def r(x, y):
        return float(direct_ranker(output).preference(np.float32([x]), np.float32([y]))[0])

    x, y, z = documents
    assert r(x, x) == 0
    assert r(x, y) == -r(y, x)
    if r(x, y) >= 0 and r(y, z) >= 0:
        assert r(x, z) >= 0


def test_compare_is_a_probability_that_sums_to_one():
    ranker = RankNet(epochs=3, scaling="symlog").fit(DATA)
    A, B = DATA.X[:40], DATA.X[40:80]
    np.testing.assert_allclose(ranker.compare(A, B) + ranker.compare(B, A), 1, rtol=1e-12)


def test_directranker_as_published_scales_as_its_paper_does():
    assert DirectRanker.as_published().scaling == "quantile"
    assert clone(DirectRanker(scaling="zscore")).scaling == "zscore"


def test_compare_refuses_a_scaling_that_needs_the_query():
    with pytest.raises(DataError, match="needs the whole query"):
        RankNet(epochs=1, scaling="zscore").fit(DATA).compare(DATA.X[:1], DATA.X[1:2])


@pytest.mark.parametrize("ranker", [RankNet(), DeepNet(), RankNet(scaling="rank", missing="median")])
def test_pairs_refuse_a_scaling_that_needs_the_query(ranker):
    with pytest.raises(ParameterError, match="not told which query a document is from"):
        ranker.fit_pairs(THREE, [(2, 1), (1, 0)])


def test_repeats_trained_together_are_those_trained_alone():
    ranker = RankNet(hidden=5, epochs=4, learning_rate=0.01)
    together = ranker.fit_repeats(DATA, [0, 7], valid=VALID)
    for repeat, seed in zip(together, (0, 7), strict=True):
        alone = clone(ranker).set_params(seed=seed).fit(DATA, valid=VALID)
        assert repeat.seed == seed
        np.testing.assert_allclose(repeat.predict(VALID), alone.predict(VALID), atol=1e-4)
        assert len(repeat.history_) == 4
    assert not np.allclose(together[0].predict(VALID), together[1].predict(VALID))


@pytest.mark.parametrize("ranker", [RankNet, DeepNet, DenseComparator])
def test_what_learned_from_pairs_knows_the_names_of_its_columns(ranker):
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [5.0, 3.0, 4.0]})
    fitted = ranker(hidden=2, scaling=None, epochs=1).fit_pairs(frame, [(2, 1), (1, 0)])
    assert fitted.feature_names() == ("a", "b")
    swapped = frame[["b", "a"]]
    for use in (fitted.predict, lambda X: fitted.compare(X, X)):
        with pytest.raises(DataError, match="column 0 is 'b' but was 'a' in fit"):
            use(swapped)
    alone = ranker(hidden=2, scaling=None, epochs=1).fit_pairs(frame.to_numpy(), [(2, 1), (1, 0)])
    assert alone.predict(frame).tolist() == fitted.predict(frame).tolist()


def test_warm_start_goes_on():
    ranker = RankNet(hidden=(), epochs=3, learning_rate=0.01, warm_start=True).fit(DATA)
    error = ranker.history_[-1]["error"]
    assert ranker.fit(DATA).history_[0]["error"] < error


def test_warm_start_refuses_layers_of_other_sizes():
    ranker = RankNet(hidden=(8, 4), epochs=1, warm_start=True).fit(DATA)
    for hidden in ((8,), (8, 5), (8, 4, 2)):
        with pytest.raises(ParameterError, match="layers of other sizes"):
            ranker.set_params(hidden=hidden).fit(DATA)


def test_warm_start_refuses_columns_in_another_order():
    named = DATA.replace(feature_names=tuple("abcd"))
    ranker = RankNet(hidden=(), epochs=1, scaling=None, warm_start=True).fit(named)
    with pytest.raises(DataError, match="column 0 is 'd' but was 'a' in fit"):
        ranker.fit(named.replace_features(named.X[:, ::-1], tuple("dcba")))
    assert ranker.fit(named).score(named) == ranker.score(DATA)  # refused before anything was forgotten


def test_a_warm_start_in_the_space_of_a_kernel_keeps_its_landmarks():
    settings = {"n_components": 30, "scaling": None, "warm_start": True}
    ranker = KernelRankNet(epochs=20, **settings).fit(DATA)
    before = ranker.history_[-1]["error"]
    few = easy_data(n_queries=1, n_docs=20, seed=4)  # fewer documents than landmarks
    for data in (easy_data(seed=2), few):
        known = ranker.features_
        assert ranker.set_params(epochs=1, seed=3).fit(data).score(data) > 0.95
        assert ranker.features_ is known
    assert ranker.fit(DATA).history_[0]["error"] < before
    for change in ({"gamma": 2.0}, {"kernel": "linear"}, {"n_components": 29}, {"n_components": 31}):
        with pytest.raises(ParameterError, match="cannot go on from another kernel"):
            KernelRankNet(epochs=1, **settings).fit(DATA).set_params(**change).fit(DATA)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("model", ["linear", "network", "trees"])
def test_every_loss_trains_every_model(loss, model):
    rate = 0.1 if model == "trees" else 0.02
    ranker = Scorer(loss=loss, model=model, epochs=100, learning_rate=rate, hidden=8, rounds=40, min_leaf=3)
    assert ranker.fit(DATA).score(VALID) > 0.85


def test_trees_choose_their_round_on_validation_data():
    ranker = Scorer(model="trees", rounds=60, min_leaf=3, patience=5).fit(DATA, valid=VALID)
    assert ranker.best_round_ <= 60
    assert [row["round"] for row in ranker.history_] == [*range(1, len(ranker.history_) + 1)]
    # equal scores stand in another order there: training sees the documents in canonical order
    assert ranker.score(VALID) == pytest.approx(max(row["valid"] for row in ranker.history_), abs=0.01)


@pytest.mark.parametrize("normalize", [False, True])
def test_trees_of_a_scorer_are_those_of_lambdamart_where_the_loss_is_the_same(normalize):
    """LightGBM's lambdas are the change in NDCG in lists that its truncation leaves whole, normalized or not.

    What differs then is the order of equal scores, so the first tree: ours has the worst first, LightGBM the order of
    the rows. The norm makes a greater difference than that.
    """
    data = ordino.synthetic("ranknet-net", queries=150, docs=25, features=10, levels=3)
    options = {"metric": "ndcg@30", "normalize": normalize}
    ours = Scorer(model="trees", loss="lambdarank", loss_options=options, scaling=None, rounds=60)
    scores = ours.fit(data).predict(data)
    same, other = (
        ordino.LambdaMART(rounds=60, truncation=30, options={"lambdarank_norm": norm}).fit(data).predict(data)
        for norm in (normalize, not normalize)
    )
    assert np.corrcoef(scores, same)[0, 1] > 0.985 > np.corrcoef(scores, other)[0, 1]
    quality, of_same = (ordino.evaluate(data, one, metrics="ndcg@10")["ndcg@10"] for one in (scores, same))
    assert quality == pytest.approx(of_same, abs=0.005)


def test_trees_of_a_scorer_are_its_own_and_can_be_saved(tmp_path):
    ranker = Scorer(model="trees", rounds=5, min_leaf=3).fit(DATA)
    assert isinstance(ranker.form(), Trees)
    ordino.save(ranker, tmp_path / "model.ordino")
    assert (ordino.load(tmp_path / "model.ordino").predict(VALID) == ranker.predict(VALID)).all()


def test_a_scorer_keeps_nothing_of_another_model():
    ranker = Scorer(model="trees", rounds=3, min_leaf=3, epochs=1, hidden=4).fit(DATA)
    for model, kept, gone in (("network", "layers_", "model_"), ("trees", "model_", "layers_")):
        ranker.set_params(model=model).fit(DATA)
        alone = clone(ranker).fit(DATA)
        assert hasattr(ranker, kept)
        assert not hasattr(ranker, gone)
        assert {name for name in vars(ranker) if name.endswith("_")} == {
            name for name in vars(alone) if name.endswith("_")
        }
        assert (ranker.predict(VALID) == alone.predict(VALID)).all()


def test_the_rate_of_a_scorer_depends_on_its_model():
    assert Scorer()._schedule().learning_rate == 3e-3
    usual, same, other = (
        Scorer(model="trees", rounds=5, min_leaf=3, learning_rate=rate).fit(DATA).predict(DATA)
        for rate in (None, 0.1, 0.5)
    )
    assert (usual == same).all()
    assert (usual != other).any()
    with pytest.raises(ParameterError, match="shrinkage of Scorer is now called 'learning_rate'"):
        Scorer(shrinkage=0.1)


def test_soft_targets_keep_margins_smaller():
    spread = {
        target: np.ptp(RankNet(hidden=(), target=target, epochs=100, learning_rate=0.05).fit(DATA).predict(DATA))
        for target in (1.0, 0.8)
    }
    assert spread[0.8] < spread[1.0]


def test_kernel_ranknet_learns_what_no_linear_ranker_can():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 2)).astype(np.float32)
    data = Dataset(X, (np.hypot(*X.T) < 0.6).astype(float), np.repeat(np.arange(20), 30))  # a disk
    curved = KernelRankNet(scaling=None, gamma=2.0, n_components=60, epochs=60).fit(data)
    straight = RankNet(hidden=(), scaling=None, epochs=60).fit(data)
    assert curved.score(data) > 0.95 > straight.score(data)


def test_a_kernel_ranker_has_no_parameter_without_effect():
    with pytest.raises(ParameterError, match="unknown parameter of KernelRankNet: 'hidden'"):
        KernelRankNet(hidden=3)


def test_a_kernel_ranker_whose_parts_do_not_fit_is_refused():
    ranker = KernelRankNet(n_components=20, epochs=1).fit(DATA)
    ranker.form().check()
    ranker.layers_ = [Layer(ranker.layers_[0].W[1:], ranker.layers_[0].b)]
    with pytest.raises(DataError, match="layers_ does not fit"):
        ranker.form().check()


def test_a_larger_norm_penalty_makes_a_flatter_kernel_ranker():
    def size(l2):
        return np.ptp(KernelRankNet(l2=l2, n_components=50, epochs=40).fit(DATA).predict(DATA))

    assert size(1000.0) < 0.5 * size(1e-5)


def test_rankprop_learns():
    assert RankProp(epochs=40, learning_rate=0.02).fit(DATA).score(VALID) > 0.9


def test_grid_search_by_query_folds_scores_each_query():
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            RankNet(epochs=20, learning_rate=0.02),
            {"hidden": [(), (8,)]},
            cv=QueryKFold(n_splits=3),
            error_score="raise",
        )
        search.fit(DATA.X, DATA.y, qid=DATA.qid, groups=DATA.qid)
    assert 0.7 < search.best_score_ <= 1
    assert search.best_estimator_.n_queries_in_ == DATA.n_queries


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"hidden": (0,)}, "hidden=0; it must be a whole number, 1 or more"),
        ({"dropout": 1.0}, "dropout=1.0; it must be a number, from 0 to 0.95"),
        ({"learning_rate": 0}, "learning_rate=0; it must be a number, more than 0"),
        ({"epochs": 0}, "epochs=0"),
        ({"activation": "rellu"}, "did you mean 'relu'"),
        ({"batch": 0}, "batch=0"),
        ({"initializer": "heh"}, "did you mean 'he'"),
        ({"rate": "halv"}, "did you mean 'halve'"),
        ({"optimizer": "sgd"}, "unknown optimizer 'sgd'; choose from: adam"),
    ],
)
def test_bad_parameters_are_refused(params, sentence):
    with pytest.raises(ParameterError, match=sentence):
        ListNet(**params).fit(DATA)


def test_an_unknown_model_is_refused():
    with pytest.raises(ParameterError, match="did you mean 'trees'"):
        Scorer(model="tree").fit(DATA)


@pytest.mark.parametrize("hidden", ["abc", 1.5, None])
def test_widths_that_are_none_are_refused_as_given(hidden):
    with pytest.raises(ParameterError, match=f"hidden={hidden!r}; give the neurons"):
        RankNet(hidden=hidden).fit(DATA)


def test_the_epoch_with_the_smallest_error_is_kept():
    kept = {}
    for metric in ("pairwise_error", "pairwise_accuracy"):
        ranker = RankNet(hidden=4, epochs=8, learning_rate=0.1, metric=metric, patience=None)
        kept[metric] = ranker.fit(DATA, valid=easy_data(seed=3)).best_epoch_
    assert kept["pairwise_error"] == kept["pairwise_accuracy"]
