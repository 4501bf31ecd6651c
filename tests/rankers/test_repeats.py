"""Repeats are what single fits are, seed by seed; parts draw from streams of their own; copies are no repeats."""

import numpy as np
import pytest

from goldens.variants import make, variants
from ordino import (
    CMARank,
    DeepNet,
    ESRank,
    LambdaMART,
    McRank,
    NestedRanker,
    RankAggregation,
    RankDE,
    RankNet,
    RankSVM,
    Scorer,
    SortNet,
)
from ordino.data.source import canonical
from ordino.errors import ParameterError
from ordino.ranker import Ranker
from ordino.testing import easy_data

SEEDS = [3, 0, 7]
TOGETHER = [
    variant
    for variant, (name, changes) in variants().items()
    if make(name, changes).fit_repeats.__func__ is not Ranker.fit_repeats
]


def test_the_networks_are_among_those_that_train_together():
    assert {"ranknet()", "directranker()", "deepnet()", "scorer(loss=fidelity,model=network)"} <= set(TOGETHER)


@pytest.mark.parametrize("variant", TOGETHER)
def test_a_repeat_is_what_a_single_fit_is(variant):
    ranker, data, valid = make(*variants()[variant]), easy_data(), easy_data(n_queries=6, seed=1)
    if "patience" in ranker.get_params():
        ranker.set_params(epochs=12, patience=2)  # networks end at epochs of their own
    together = ranker.fit_repeats(data, SEEDS, valid=valid)
    for seed, repeat in zip(SEEDS, together, strict=True):
        alone = ranker.with_seed(seed).fit(data, valid=valid)
        assert repeat.get_params() == alone.get_params()
        assert np.array_equal(repeat.predict(data), alone.predict(data))
        assert getattr(repeat, "history_", None) == getattr(alone, "history_", None)


def test_patience_and_masks_are_each_networks_own():
    ranker = RankNet(epochs=40, patience=3, dropout=0.3, hidden=(8,))
    data, valid = easy_data(), easy_data(n_queries=6, seed=1)
    ends = [len(repeat.history_) for repeat in ranker.fit_repeats(data, range(6), valid=valid)]
    assert len(set(ends)) > 1


def test_iterations_of_near_seeds_share_no_weights(monkeypatch):
    seeds, real = [], SortNet._fresh
    monkeypatch.setattr(SortNet, "_fresh", lambda self, *given: seeds.append(given[-1]) or real(self, *given))
    for seed in (0, 1, 2):
        SortNet(hidden=4, max_iter=2, epochs=1, seed=seed).fit(easy_data())
    assert len(seeds) == len(set(seeds)) > 3  # iterations after the first weights of each too


def test_rows_are_ordered_before_they_are_scaled():
    """So that the order can be written to disk: what fit sees is the canonical data, scaled."""
    data = easy_data()
    seen = []

    class Spy(RankNet.__mro__[1]):  # type: ignore[misc,name-defined]
        def _loss(self):
            raise NotImplementedError

        def _fit(self, data, valid):
            seen.append(data)
            self.layers_, self.history_ = [], []

    ranker = Spy(scaling="quantile").fit(data)
    assert np.array_equal(seen[0].X, ranker.scaler_.transform(canonical(data)).X)


@pytest.mark.parametrize(
    ("ranker", "is_random"),
    [
        (LambdaMART(), False),
        (LambdaMART(query_share=0.5), True),
        (LambdaMART(options={"extra_trees": True}), True),
        (LambdaMART(options={"max_bin": 31}), False),
        (McRank(feature_share=0.5), True),
        (Scorer(model="trees"), False),
        (Scorer(model="linear"), True),
        (NestedRanker("lambda-mart"), False),
        (NestedRanker("ranknet"), True),
        (RankAggregation("rank-svm", resample="queries"), True),
        (RankAggregation(["rank-svm", "rank-boost"]), False),
    ],
    ids=repr,
)
def test_what_draws_nothing_says_so(ranker, is_random):
    assert ranker.is_random is is_random


@pytest.mark.parametrize("inner", ["lambda-mart", NestedRanker("rank-svm"), Scorer(model="trees")], ids=repr)
def test_an_aggregation_of_equal_members_is_refused(inner):
    with pytest.raises(ParameterError, match="all 3 members would be equal; set resample='queries'"):
        RankAggregation(inner, n=3).fit(easy_data())


def test_members_differ_also_inside_a_nested_ranker():
    nested = NestedRanker(RankNet(epochs=2, hidden=(4,)), sizes=(None, 5))
    data = easy_data()
    fitted = RankAggregation(nested, n=2).fit(data)
    one, other = (member.predict(data) for member in fitted.rankers_)
    assert not np.array_equal(one, other)


def test_stages_of_a_nested_ranker_draw_from_streams_of_their_own():
    fitted = NestedRanker(RankNet(epochs=1, hidden=(4,)), sizes=(None, 10)).fit(easy_data())
    assert fitted.rankers_[0].seed != fitted.rankers_[1].seed


def test_trees_inside_a_scorer_aggregate_when_their_data_is_drawn():
    data = easy_data()
    ranker = RankAggregation(Scorer(model="trees", rounds=3, min_leaf=5), n=3, resample="queries").fit(data)
    assert ranker.predict(data).shape == (data.n_docs,)


@pytest.mark.parametrize("change", [{"F": 0.9}, {"CR": 0.9}, {"mutation": "best/1"}], ids=repr)
def test_a_warm_start_heeds_changed_parameters(change):
    data = easy_data()
    settings = {"generations": 3, "population": 8, "warm_start": True}
    same, changed = (RankDE(**settings).fit(data) for _ in range(2))
    same.fit(data)
    changed.set_params(**change).fit(data)
    assert not np.array_equal(same.population_, changed.population_)


def test_two_warm_fits_are_one_long_fit():
    data = easy_data()
    twice = CMARank(generations=3, population=8, warm_start=True).fit(data).fit(data)
    once = CMARank(generations=6, population=8).fit(data)
    assert np.array_equal(twice.coef_, once.coef_)


def test_fit_pairs_heeds_the_batch():
    X = np.random.default_rng(0).random((40, 3)).astype(np.float32)
    pairs = np.argwhere(X[:, None, 0] > X[None, :, 0])
    small, large = (RankNet(hidden=(), epochs=2, batch=batch, scaling=None).fit_pairs(X, pairs) for batch in (1, None))
    assert not np.array_equal(small.predict(X), large.predict(X))


def test_a_seed_goes_to_the_rankers_that_a_ranker_is_made_of():
    assert ESRank(start=CMARank()).with_seed(5).start.seed == 5
    assert RankAggregation(NestedRanker(RankNet()), n=2).with_seed(5).ranker.ranker.seed == 5
    assert [one.seed for one in RankAggregation([RankNet(seed=1), RankNet()]).with_seed(5).ranker] == [1, 0]  # a list


@pytest.mark.parametrize("ranker", [RankNet(), DeepNet(), RankSVM()])
def test_no_seed_is_no_ranker(ranker):
    assert ranker.fit_repeats(easy_data(), []) == []
