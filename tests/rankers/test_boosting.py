"""RankBoost, AdaRank and FRank: each round against a slow form that lists every pair or query."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordino.boosting.kernels import fidelity_loss, pair_potentials, split_weights
from ordino.boosting.stumps import bin_features
from ordino.data.dataset import Dataset
from ordino.data.source import canonical
from ordino.errors import ParameterError
from ordino.losses.levels import sort_labels
from ordino.metrics import parse_metric
from ordino.rankers.adarank import AdaRank
from ordino.rankers.stump_boosting import FidelityPairs, FRank, RankBoost
from ordino.testing import easy_data

QUICK = {
    "RankBoost": RankBoost(rounds=30),
    "AdaRank": AdaRank(rounds=20),
    "AdaRank-MAP of the paper": AdaRank(rounds=20, metric="map", reweighting="sum"),
    "FRank": FRank(rounds=30),
}


def listed_pairs(data: Dataset) -> list[tuple[int, int]]:
    """Better and worse row of every pair."""
    return [
        (i, j)
        for start, stop in pairwise(data.offsets)
        for i in range(start, stop)
        for j in range(start, stop)
        if data.y[i] > data.y[j]
    ]


def small_data(seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (40, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + rng.normal(0, 2, 40), [1, 3, 5])
    return canonical(Dataset(X, y, np.arange(40) // 8))


def torn_data() -> Dataset:
    """Two features of which each ranks half of the queries and turns the others around, and one of noise."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 80).astype(float)
    turned = np.where(np.arange(80) < 40, 1, -1)
    X = np.column_stack((y * turned, -y * turned, y)) + rng.normal(0, [1.0, 1.0, 4.0], (80, 3))
    return canonical(Dataset(X, y, np.arange(80) // 8))


# RankBoost


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=9), min_size=1, max_size=3), st.integers(0, 2**31))
def test_potentials_are_sums_of_pair_weights(by_query: list[list[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.concatenate(by_query).astype(float)
    offsets = np.concatenate(([0], np.cumsum([len(q) for q in by_query]))).astype(np.int64)
    scores, weights = rng.normal(0, 3, len(y)), rng.random(len(y))
    expected, total = np.zeros(len(y)), 0.0
    for i, j in listed_pairs(Dataset(np.zeros((len(y), 1)), y, np.repeat(np.arange(len(by_query)), np.diff(offsets)))):
        weight = weights[i] * weights[j] * np.exp(scores[j] - scores[i])
        expected[i] += weight
        expected[j] -= weight
        total += weight
    potential = np.empty(len(y))
    level = sort_labels(y, offsets).level
    buffers = np.empty((2, 9))
    assert pair_potentials(scores, level, weights, offsets, *buffers, potential) == pytest.approx(total)
    np.testing.assert_allclose(potential, expected, rtol=1e-9, atol=1e-9 * max(total, 1))


def test_rounds_of_rankboost_are_those_of_listed_pairs() -> None:
    data = small_data()
    ranker = RankBoost(rounds=8, thresholds=None).fit(data)
    pairs = listed_pairs(data)
    D = np.full(len(pairs), 1 / len(pairs))
    better, worse = np.array(pairs).T
    for stump in ranker.stumps_:
        r_of = {}
        for feature in range(3):
            values = np.unique(data.X[:, feature]).astype(float)
            for threshold in (values[:-1] + values[1:]) / 2:
                h = (data.X[:, feature] > threshold).astype(float)
                r_of[feature, threshold] = float(D @ (h[better] - h[worse]))
        r = r_of[stump.feature, stump.threshold]
        assert abs(r) == pytest.approx(max(map(abs, r_of.values())))
        assert stump.alpha == pytest.approx(0.5 * np.log((1 + r) / (1 - r)))
        h = stump.scores(data.X)
        D *= np.exp(h[worse] - h[better])
        D /= D.sum()
    np.testing.assert_allclose(ranker.predict(data), sum(s.scores(data.X) for s in ranker.stumps_))


def test_perfect_weak_ranker_has_a_finite_alpha() -> None:
    ranker = RankBoost(rounds=3).fit(Dataset([[0.0], [1.0]], [0, 1]))
    assert ranker.score(Dataset([[0.0], [1.0]], [0, 1])) == 1.0
    assert np.isfinite([s.alpha for s in ranker.stumps_]).all()


def test_document_weights_count() -> None:
    data = small_data()
    weights = np.where(np.arange(data.n_docs) < data.offsets[2], 1.0, 0.0)
    two = data.select_queries([0, 1])
    weighted = RankBoost(rounds=5, thresholds=None).fit(Dataset(data.X, data.y, data.qid, weights=weights))
    np.testing.assert_allclose(weighted.predict(two), RankBoost(rounds=5, thresholds=None).fit(two).predict(two))


# Thresholds


def test_candidates_are_thinned_evenly() -> None:
    X = np.arange(100, dtype=np.float32)[:, None]
    few = bin_features(X, 3)
    assert few.thresholds[0].tolist() == [0.5, 49.5, 98.5]
    assert few.codes.dtype == np.uint8
    assert few.codes[[0, 1, 49, 50, 98, 99], 0].tolist() == [0, 1, 1, 2, 2, 3]
    many = bin_features(np.arange(300, dtype=np.float32)[:, None], None)
    assert many.codes.dtype == np.uint16
    assert many.codes.ravel().tolist() == list(range(300))


@pytest.mark.parametrize("ranker", [RankBoost(rounds=1), FRank(rounds=1)], ids=["RankBoost", "FRank"])
@pytest.mark.parametrize("first_relevant", [1, 2, 3])
def test_seconds_since_1970_which_are_neighbors_in_single_precision_are_told_apart(ranker, first_relevant) -> None:
    seconds = np.float32(1.6e9) + 128 * np.arange(4, dtype=np.float32)  # 128 is the distance of two numbers there
    y = np.arange(4) >= first_relevant
    scores = ranker.fit(seconds[:, None], y, qid=[1] * 4).predict(seconds[:, None])
    assert (scores > 0).tolist() == y.tolist()


@pytest.mark.parametrize("kind", [RankBoost, FRank])
def test_best_number_of_rounds_is_kept(kind: type[RankBoost | FRank]) -> None:
    data, valid = small_data(), small_data(seed=1)
    ranker = kind(rounds=20, metric="map").fit(data, valid=valid)
    rounds = [row for row in ranker.history_ if row["round"] > 0]
    assert [row["round"] for row in rounds] == list(range(1, len(rounds) + 1))
    reached = [row["valid"] for row in rounds]
    assert len(ranker.stumps_) == np.argmax(reached) + 1
    assert ranker.score(valid) == pytest.approx(max(reached))


def test_feature_weights_add_up() -> None:
    ranker = RankBoost(rounds=10).fit(small_data())
    total = {f.feature: f.weight for f in ranker.feature_weights()}
    assert set(total) == {"f1", "f2", "f3"}
    assert sum(total.values()) == pytest.approx(sum(s.alpha for s in ranker.stumps_))


# AdaRank


@pytest.mark.parametrize("reweighting", ["rounds", "sum"])
@pytest.mark.parametrize("metric", ["map", "ndcg@5"])
def test_rounds_of_adarank_are_those_of_a_slow_form(metric: str, reweighting: str) -> None:
    data = torn_data()
    ranker = AdaRank(rounds=12, metric=metric, reweighting=reweighting).fit(data)
    assert len(set(ranker.features_)) > 1  # else the sum of the rounds orders as each of them does

    def measure(scores: np.ndarray) -> np.ndarray:
        return parse_metric(metric).per_query(data.y, scores, data.offsets)

    P = np.full(data.n_queries, 1 / data.n_queries)
    f, product = np.zeros(data.n_docs), np.ones(data.n_queries)
    for t, (feature, alpha) in enumerate(zip(ranker.features_, ranker.alphas_, strict=True)):
        np.testing.assert_allclose(ranker.query_weights_[t], P)
        E = [measure(data.X[:, j].astype(float)) for j in range(3)]
        assert P @ E[feature] == pytest.approx(max(P @ e for e in E))
        assert alpha == pytest.approx(0.5 * np.log((P @ (1 + E[feature])) / (P @ (1 - E[feature]))))
        f += alpha * data.X[:, feature]
        product *= np.exp(-alpha * E[feature])
        P = product / product.sum() if reweighting == "rounds" else np.exp(-measure(f)) / np.exp(-measure(f)).sum()
    np.testing.assert_allclose(ranker.predict(data), f, rtol=1e-5)


def test_adarank_keeps_the_best_round() -> None:
    data, valid = small_data(), small_data(seed=1)
    ranker = AdaRank(rounds=15, metric="map").fit(data, valid=valid)
    reached = [row["valid"] for row in ranker.history_]
    kept = int(np.argmax(reached)) + 1
    coef = np.zeros(3)
    for feature, alpha in zip(ranker.features_[:kept], ranker.alphas_[:kept], strict=True):
        coef[feature] += alpha
    np.testing.assert_allclose(ranker.coef_, coef)
    assert ranker.score(valid) == pytest.approx(max(reached))


def test_errors_are_turned_around() -> None:
    good = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5]])
    assert AdaRank(metric="pairwise_error", rounds=1).fit(Dataset(good, [0, 1, 2])).features_ == [0]


@pytest.mark.parametrize("reweighting", ["rounds", "sum"])
def test_few_errors_are_learned_as_much_accuracy_is(reweighting: str) -> None:
    data, valid = easy_data(), easy_data(seed=1)
    accuracy, error = (
        AdaRank(metric=metric, reweighting=reweighting, rounds=5).fit(data, valid=valid)
        for metric in ("pairwise_accuracy", "pairwise_error")
    )
    np.testing.assert_allclose(error.coef_, accuracy.coef_)
    assert error.score(valid) == pytest.approx(accuracy.score(valid) - 1)
    for name in ("metric", "valid"):
        told = [row[name] for row in accuracy.history_]
        np.testing.assert_allclose([row[name] + 1 for row in error.history_], told)


def test_nothing_to_learn_from_gives_zero_weights() -> None:
    ranker = AdaRank(profile="directranker").fit(Dataset([[1.0], [2.0]], [0, 0]))  # the only query is left out
    assert ranker.coef_.tolist() == [0.0]


# FRank


def test_pair_weights_of_frank_by_hand() -> None:
    # one pair at equal scores: P = 1/2, loss 1 - sqrt(1/2), weight sqrt(1/2) (1 - 1/2) / 2
    y, scores, offsets, one = np.array([1.0, 0.0]), np.zeros(2), np.array([0, 2]), np.ones(1)
    assert fidelity_loss(scores, y, one, offsets, np.array([False])) == pytest.approx(1 - np.sqrt(0.5))
    right, wrong = np.empty((2, 3)), np.empty((2, 3))
    codes = np.array([[2, 0], [0, 1]], np.uint8)  # above by feature 0 at codes 1 and 2, below by feature 1 at code 1
    split_weights(scores, y, one, offsets, np.array([False]), codes, right, wrong)
    weight = np.sqrt(0.5) / 4
    np.testing.assert_allclose(right, [[0, weight, weight], [0, 0, 0]])
    np.testing.assert_allclose(wrong, [[0, 0, 0], [0, weight, 0]], atol=1e-15)


def test_rounds_of_frank_are_those_of_listed_pairs() -> None:
    data = small_data()
    alike = Dataset(data.X[:4], np.ones(4), [99, 99, 99, 100])  # two queries that have no pair
    data = Dataset(np.r_[data.X, alike.X], np.r_[data.y, alike.y], np.r_[data.qid, alike.qid])
    ranker = FRank(rounds=5, thresholds=None).fit(data)
    better, worse = np.array(listed_pairs(data)).T
    query = np.repeat(np.arange(data.n_queries), data.counts)[better]
    D = 1 / np.bincount(query)[query] / len(np.unique(query))
    H = np.zeros(data.n_docs)
    for t, stump in enumerate(ranker.stumps_):
        P = 1 / (1 + np.exp(H[worse] - H[better]))
        assert ranker.history_[t]["loss"] == pytest.approx(float(D @ (1 - np.sqrt(P))))
        weights = D * np.sqrt(P) * (1 - P) / 2
        falls = {}
        for feature in range(3):
            values = np.unique(data.X[:, feature]).astype(float)
            for threshold in (values[:-1] + values[1:]) / 2:
                h = (data.X[:, feature] > threshold).astype(int)
                plus, minus = (float(weights[h[better] - h[worse] == sign].sum()) for sign in (1, -1))
                falls[feature, threshold] = (np.sqrt(plus) - np.sqrt(minus)) ** 2, plus, minus
        fall, plus, minus = falls[stump.feature, stump.threshold]
        assert fall == pytest.approx(max(f for f, _, _ in falls.values()))
        assert stump.alpha == pytest.approx(0.5 * np.log(plus / minus), rel=1e-2)
        assert ranker.history_[t]["loss"] - ranker.history_[t + 1]["loss"] >= 0.99 * fall  # the bound that chose it
        H += stump.scores(data.X)


@pytest.mark.parametrize(("n_levels", "spread"), [(2, 0.0), (4, 3.0), (300, 30.0)])
def test_long_queries_are_summed_to_many_digits(n_levels: int, spread: float) -> None:
    """Interpolated sums against those of all pairs, for score ranges up to hundreds."""
    rng = np.random.default_rng(0)
    counts = np.array([150, 200])
    offsets, n = np.array([0, 150, 350]), 350
    y, scores = rng.integers(0, n_levels, n).astype(float), rng.normal(0, spread, n)
    codes = rng.integers(0, 7, (n, 3)).astype(np.uint8)
    weight, pairs = np.array([0.5, 2.0]), np.array([1e9, 1e9])  # so many pairs that nodes are worth it
    data = Dataset(np.zeros((n, 1)), y, np.repeat([0, 1], counts))
    right, wrong, slow_right, slow_wrong = np.zeros((4, 3, 7))
    none = np.full(2, False)
    sums = FidelityPairs(data, pairs, weight)
    assert sums._long(scores)[0].all()
    sums.split(scores, codes, right, wrong)
    split_weights(scores, y, weight, offsets, none, codes, slow_right, slow_wrong)
    np.testing.assert_allclose(right[:, 1:], slow_right[:, 1:], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(wrong[:, 1:], slow_wrong[:, 1:], rtol=1e-9, atol=1e-9)
    assert sums.loss(scores) == pytest.approx(fidelity_loss(scores, y, weight, offsets, none), rel=1e-11)


def test_the_weak_rankers_of_long_queries_are_those_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    data = easy_data(n_queries=2, n_docs=500)
    quick = FRank(rounds=12).fit(data)
    monkeypatch.setattr("ordino.rankers.stump_boosting.WORTH_IT", 10**9)
    slow = FRank(rounds=12).fit(data)
    assert [stump[:2] for stump in quick.stumps_] == [stump[:2] for stump in slow.stumps_]
    np.testing.assert_allclose([one.alpha for one in quick.stumps_], [one.alpha for one in slow.stumps_], rtol=1e-9)


def test_fidelity_loss_falls() -> None:
    history = [row["loss"] for row in FRank(rounds=40).fit(easy_data()).history_]
    assert (np.diff(history) < 0).all()
    assert np.isfinite(
        fidelity_loss(np.array([-1e4, 1e4]), np.array([1.0, 0.0]), np.ones(1), np.array([0, 2]), np.array([False]))
    )


@pytest.mark.parametrize(
    ("ranker", "words"),
    [
        (RankBoost(rounds=0), "rounds=0"),
        (RankBoost(thresholds=0), "thresholds=0"),
        (AdaRank(rounds=0), "rounds=0"),
        (AdaRank(reweighting="paper"), "unknown reweighting 'paper'"),
        (AdaRank(metric="dcg"), "between -1 and 1"),
        (FRank(rounds=0), "rounds=0"),
        (FRank(thresholds=0), "thresholds=0"),
    ],
)
def test_wrong_parameters(ranker: RankBoost | AdaRank | FRank, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        ranker.fit(easy_data())
