"""Rankers made of rankers: the contract, what is trained on what, and what goes wrong."""

import numpy as np
import pytest
from sklearn.base import clone

from ordino.data.dataset import Dataset
from ordino.data.scaling import MinMax
from ordino.errors import DataError, ParameterError
from ordino.metrics import evaluate
from ordino.order.fusion import METHODS, fuse
from ordino.ranker import Ranker
from ordino.rankers.aggregation import RankAggregation
from ordino.rankers.baselines import LinearRegressionRanker, RandomRanker, SingleFeature
from ordino.rankers.nested import NestedRanker
from ordino.rankers.ranknet import RankNet
from ordino.testing import easy_data

NET = RankNet(hidden=(), epochs=8, learning_rate=0.05)
QUICK = {
    "aggregation": RankAggregation(NET, n=3),
    "aggregation of a list": RankAggregation([LinearRegressionRanker(), NET], method="score_mean"),
    "aggregation, resampled": RankAggregation(LinearRegressionRanker(), n=3, resample="documents", method="kemeny"),
    "nested": NestedRanker(LinearRegressionRanker(), sizes=(None, 10, 5)),
    "nested, several": NestedRanker([LinearRegressionRanker(), NET], sizes=(None, 8)),
}


class Spy(Ranker):
    """Ranks by one feature and writes down what it was given."""

    def __init__(self, column=0, seed=0, n_jobs=None):
        self.column = column
        self.seed = seed
        self.n_jobs = n_jobs

    def _fit(self, data, valid):
        self.seen_ = data
        self.valid_ = valid

    def _predict(self, data):
        return data.X[:, self.column].astype(float)


def six_documents():
    """One query; feature 0 rises, feature 1 falls."""
    return Dataset([[i, -i] for i in range(6)], [0, 0, 0, 1, 1, 2])


def test_a_stage_learns_from_the_top_of_the_one_before_and_reranks_only_that():
    data = six_documents()
    valid = data.replace(y=[0, 0, 1, 2, 0, 0])  # for which all three stages are needed
    nested = NestedRanker([Spy(0), Spy(1), Spy(0)], sizes=(None, 4, 2)).fit(data, valid=valid)
    for part in ("seen_", "valid_"):
        assert [sorted(getattr(stage, part).X[:, 0].tolist()) for stage in nested.rankers_] == [
            [0, 1, 2, 3, 4, 5],
            [2, 3, 4, 5],
            [2, 3],
        ]
    # stage 1 orders 5 4 3 2 1 0, stage 2 turns the first four: 2 3 4 5, stage 3 the first two: 3 2
    assert nested.rank(data).tolist() == [3, 2, 4, 5, 1, 0]


def test_a_stage_that_would_see_the_same_documents_is_left_out():
    nested = NestedRanker(Spy(), sizes=(None, 1000, 500, 4)).fit(six_documents())
    assert nested.sizes_ == [None, 4]
    assert NestedRanker([Spy(), Spy()], sizes=(None, 1000)).fit(six_documents()).sizes_ == [None, 1000]


def test_stages_after_the_best_on_validation_data_are_dropped():
    data = six_documents()
    nested = NestedRanker([Spy(0), Spy(1)], sizes=(None, 6)).fit(data, valid=data)  # the second turns all around
    assert nested.sizes_ == [None]
    assert nested.history_[0] == {"stage": 1, "valid": 1.0}
    assert nested.history_[1]["size"] == 6
    assert nested.history_[1]["valid"] < 1.0
    assert nested.rankers_[0].valid_ is not None


def test_stages_are_measured_by_the_metric_and_the_profile_asked_for():
    valid = Dataset([[i, -i] for i in range(6)] * 2, [0, 0, 0, 1, 1, 2] + [0] * 6, ["a"] * 6 + ["empty"] * 6)
    nested = NestedRanker([Spy(0), Spy(1)], sizes=(None, 6), metric="mrr", profile="directranker")
    values = [row["valid"] for row in nested.fit(six_documents(), valid=valid).history_]
    assert values == [1.0, 1 / 4]  # nothing of the empty query


def test_ties_keep_the_order_of_the_stage_before():
    data = Dataset([[i, 7.0] for i in range(4)], [0, 0, 1, 1])
    nested = NestedRanker([Spy(0), Spy(1)], sizes=(None, 3)).fit(data)
    assert nested.rank(data).tolist() == [3, 2, 1, 0]


def test_members_of_one_ranker_have_seeds_of_their_own():
    data = easy_data()
    first, again, other = (
        [member.seed for member in RankAggregation(Spy(), n=15, seed=seed).fit(data).rankers_] for seed in (5, 5, 6)
    )
    assert first == again
    assert len(set(first) | set(other)) == 30  # an aggregation with another seed shares no member


def test_networks_train_together_and_are_what_they_would_be_alone():
    data, valid = easy_data(), easy_data(seed=1)
    together = RankAggregation(NET, n=3).fit(data, valid=valid)
    alone = [clone(NET).set_params(seed=member.seed).fit(data, valid=valid) for member in together.rankers_]
    for one, other in zip(together.rankers_, alone, strict=True):
        assert one.best_epoch_ == other.best_epoch_
        np.testing.assert_allclose(one.predict(data), other.predict(data), rtol=1e-4, atol=1e-5)


def test_a_list_is_taken_as_it_is():
    given = Spy(1, seed=4)
    members = RankAggregation([given, SingleFeature()], n=7).fit(easy_data()).rankers_
    assert [type(member) for member in members] == [Spy, SingleFeature]
    assert members[0].seed == 4
    assert not hasattr(given, "seen_")  # what is trained is a copy
    mixed = RankAggregation([NET, LinearRegressionRanker()]).fit(easy_data()).rankers_  # a network is not repeated
    assert [type(member) for member in mixed] == [RankNet, LinearRegressionRanker]


@pytest.mark.parametrize("method", METHODS)
def test_the_orders_of_the_members_become_one_by_the_rule_asked_for(method):
    data = easy_data(n_queries=3)
    members = RankAggregation([Spy(0), Spy(1), Spy(2)], method=method).fit(data)
    assert members.predict(data) == pytest.approx(fuse(data.X.T[:3].astype(float), data.offsets, method))


def test_validation_data_reach_every_member_whole():
    data, valid = easy_data(), easy_data(seed=1)
    members = RankAggregation(Spy(), n=2, resample="queries").fit(data, valid=valid).rankers_
    assert [member.valid_.n_queries for member in members] == [valid.n_queries] * 2


def test_queries_are_drawn_anew_for_each_member_and_seed():
    data = easy_data(n_queries=10)
    first, second, other = (
        RankAggregation(Spy(), n=2, resample="queries", share=0.5, seed=seed).fit(data).rankers_[i].seen_
        for seed, i in ((0, 0), (0, 1), (2, 0))
    )
    assert set(first.query_ids) != set(other.query_ids)
    assert first.n_queries == second.n_queries == 5
    assert set(first.query_ids) != set(second.query_ids)
    assert first.counts.tolist() == [15] * 5


def test_documents_are_drawn_inside_each_query():
    data = easy_data(n_queries=4)
    first, second = (m.seen_ for m in RankAggregation(Spy(), n=2, resample="documents", share=0.5).fit(data).rankers_)
    assert first.counts.tolist() == second.counts.tolist() == [8] * 4  # half of 15, rounded up
    assert not np.array_equal(np.sort(first.X, axis=0), np.sort(second.X, axis=0))


def test_an_aggregation_of_noisy_rankers_is_better_than_they_are():
    data, unseen = easy_data(n_queries=6), easy_data(n_queries=30, seed=5)
    members = RankAggregation(LinearRegressionRanker(), n=9, resample="documents", share=0.2).fit(data)

    def quality(ranker):
        return evaluate(unseen, ranker.predict(unseen), metrics="ndcg@10")["ndcg@10"]

    assert quality(members) > np.mean([quality(member) for member in members.rankers_])


def test_parameters_of_the_ranker_inside_are_reached():
    ranker = RankAggregation(RankNet(hidden=3), n=2)
    assert ranker.get_params()["ranker__hidden"] == 3
    assert clone(ranker.set_params(ranker__hidden=5)).ranker.hidden == 5
    assert NestedRanker(RankNet()).get_params()["ranker__ties"] is False


def test_missing_values_are_for_those_whose_members_all_know_them():
    assert RankAggregation(["lambda-mart", "mc-rank"]).allows_nan
    assert not NestedRanker(["lambda-mart", "ranknet"], sizes=(None, 10)).allows_nan


@pytest.mark.parametrize(
    ("ranker", "sentence"),
    [
        (RankAggregation("ranknett"), "did you mean 'ranknet'"),
        (RankAggregation([]), "give a ranker, the name of one, or a list"),
        (RankAggregation([7]), "ranker=7 is not a ranker"),
        (RankAggregation(Spy(), n=0), "n=0; it must be a whole number"),
        (RankAggregation(Spy(), method="sum"), "unknown method 'sum'"),
        (RankAggregation(Spy(), resample="pears"), "unknown resample 'pears'"),
        (RankAggregation(Spy(), resample="queries", share=0), "share=0; it must be"),
        (RankAggregation(LinearRegressionRanker()), "uses no randomness, so all 15 members would be equal"),
        (RankAggregation(Spy(), n=2, n_jobs=0), "n_jobs=0; it must be a whole number"),
        (NestedRanker(Spy(), sizes=10), "give None .all documents. first, then decreasing"),
        (NestedRanker(Spy(), sizes=()), "give None .all documents. first, then decreasing"),
        (NestedRanker(Spy(), sizes=(None, 10, 20)), "give None .all documents. first, then decreasing"),
        (NestedRanker(Spy(), sizes=(10, 5)), "give None .all documents. first, then decreasing"),
        (NestedRanker(Spy(), sizes=(None, 0)), "sizes=0; it must be"),
        (NestedRanker([Spy(), Spy()], sizes=(None,)), "there are 2 rankers for 1 sizes"),
    ],
)
def test_what_goes_wrong_is_one_sentence(ranker, sentence):
    with pytest.raises(ParameterError, match=sentence):
        ranker.fit(easy_data())


def test_a_single_member_needs_no_seed():
    data = easy_data()
    alone = LinearRegressionRanker().fit(data)
    assert RankAggregation(LinearRegressionRanker(), n=1).fit(data).rank(data).tolist() == alone.rank(data).tolist()


def test_nested_over_chance_stays_a_ranking():
    data = easy_data(n_queries=2)
    order = NestedRanker(RandomRanker(), sizes=(None, 5)).fit(data).rank(data)
    assert sorted(order.tolist()) == list(range(30))


@pytest.mark.parametrize("ranker", [NestedRanker(LinearRegressionRanker(), sizes=(None, 5)),
                                    RankAggregation(LinearRegressionRanker(), n=2, resample="queries")])  # fmt: skip
def test_every_part_is_checked(ranker):
    fitted = clone(ranker).fit(easy_data())
    fitted.form().check()
    fitted.rankers_[1].coef_ = fitted.rankers_[1].coef_[:-1]
    with pytest.raises(DataError, match="coef_ does not fit"):
        fitted.form().check()
    for parts in ([], [LinearRegressionRanker()], [7]):
        fitted.rankers_ = parts
        with pytest.raises(DataError, match="does not fit"):
            fitted.form().check()


@pytest.mark.parametrize(
    ("ranker", "is_random"),
    [
        (NestedRanker("random-ranker", sizes=(None, 5)), True),
        (NestedRanker(RandomRanker(), sizes=(None, 5)), True),
        (NestedRanker(NestedRanker("random-ranker", sizes=(None, 5)), sizes=(None, 3)), True),
        (NestedRanker([RandomRanker(), RandomRanker(seed=1)], sizes=(None, 5)), False),
        (RankAggregation("random-ranker", n=2), True),
        (RankAggregation([RandomRanker(), RandomRanker(seed=1)]), False),
        (RankAggregation(["linear-regression-ranker", "rank-svm"], resample="documents"), True),
        (RankAggregation(NestedRanker("random-ranker", sizes=(None, 5)), n=2), True),
    ],
    ids=range(8),
)
def test_another_seed_gives_another_ranker_where_it_is_called_random(ranker, is_random):
    data = easy_data()
    one, other = ranker.fit_repeats(data, [1, 2])
    assert ranker.is_random is is_random
    assert (one.predict(data).tolist() != other.predict(data).tolist()) is is_random


def test_members_that_would_be_copies_of_a_list_are_refused():
    with pytest.raises(ParameterError, match="NestedRanker uses no randomness, so all 3 members would be equal"):
        RankAggregation(NestedRanker([RandomRanker(), RandomRanker()], sizes=(None, 5)), n=3).fit(easy_data())


@pytest.mark.parametrize("given", ["zscore", ("zscore", "rank", "minmax")], ids=["one", "several"])
def test_features_are_scaled_once_and_not_again_in_each_stage(given):
    several = [LinearRegressionRanker(scaling=one) for one in ([given] if isinstance(given, str) else given)]
    ranker = NestedRanker(several[0] if isinstance(given, str) else several, sizes=(None, 6, 3), scaling="minmax")
    data = easy_data()
    ranker.fit(data, valid=easy_data(seed=1))
    assert {type(one) for one in (ranker.scaler_, *(stage.scaler_ for stage in ranker.rankers_))} == {
        MinMax,
        type(None),
    }
    whole = LinearRegressionRanker(scaling=None).fit(
        MinMax().fit(data).transform(data), valid=ranker.prepared(easy_data(seed=1))
    )
    np.testing.assert_allclose(ranker.rankers_[0].coef_, whole.coef_, rtol=1e-6)
    assert [one.scaling for one in several] == ["zscore", "rank", "minmax"][: len(several)]  # theirs stays as it was


@pytest.mark.parametrize("resample", [None, "queries", "documents"])
@pytest.mark.parametrize("member", [NET, LinearRegressionRanker()], ids=["networks", "regressions"])
def test_each_member_learns_from_its_own_part_alone(member, resample, monkeypatch):
    """Also networks, which could otherwise train together on all data."""
    data, seen, as_ever = easy_data(), [], type(member)._fit
    monkeypatch.setattr(type(member), "_fit", lambda self, *given: seen.append(given[0]) or as_ever(self, *given))
    members = member if resample else [member, clone(member)]
    ranker = RankAggregation(members, n=3, share=0.5, resample=resample, n_jobs=1).fit(data)
    n_queries, n_docs = {None: (1, 1), "queries": (0.5, 0.5), "documents": (1, 8 / 15)}[resample]
    sizes = {(one.n_queries, one.n_docs) for one in seen}
    assert sizes == {(round(n_queries * data.n_queries), round(n_docs * data.n_docs))}
    assert {one.n_queries_in_ for one in ranker.rankers_} == {round(n_queries * data.n_queries)}
    assert len({one.X.tobytes() for one in seen}) == (len(seen) if resample else 1)
