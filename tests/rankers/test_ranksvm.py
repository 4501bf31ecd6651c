"""RankSVM: the same optimum as a solver that lists every pair, without listing any."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from ordino.data.dataset import Dataset
from ordino.errors import ParameterError
from ordino.losses.levels import sort_labels
from ordino.rankers.ranksvm import LOSSES, RankSVM, document_weights
from ordino.svm.divided import Piece, Step
from ordino.svm.pairs import PairSums
from ordino.svm.solver import minimize
from ordino.testing import easy_data


def noisy_data(n_queries: int = 8, n_docs: int = 20, n_levels: int = 3, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 5)).astype(np.float32)
    hidden = X @ rng.normal(size=5) + rng.normal(0, 0.5, len(X))
    y = np.digitize(hidden, np.quantile(hidden, np.linspace(0, 1, n_levels + 1)[1:-1]))
    return Dataset(X, y, np.repeat(np.arange(n_queries), n_docs))


def listed_pairs(data: Dataset, values: np.ndarray) -> np.ndarray:
    """values of the better document minus those of the worse, for every pair."""
    parts = []
    for start, stop in pairwise(data.offsets):
        better, worse = np.nonzero(data.y[start:stop, None] > data.y[None, start:stop])
        parts.append(values[start:stop][better] - values[start:stop][worse])
    return np.concatenate(parts)


def listed_objective(data: Dataset, w: np.ndarray, C: float, loss: str) -> float:
    short = np.maximum(0, 1 - listed_pairs(data, data.X.astype(float)) @ w)
    return float(0.5 * w @ w + C * (short**2 if loss == "squared-hinge" else short).sum())


def solve_listed(data: Dataset, C: float, loss: str) -> np.ndarray:
    """The weights of scikit-learn's LinearSVC on pair differences, every second one mirrored."""
    rows = listed_pairs(data, data.X.astype(float))
    side = np.where(np.arange(len(rows)) % 2 == 0, 1, -1)
    svc = LinearSVC(loss=loss.replace("-", "_"), dual=True, fit_intercept=False, C=C, tol=1e-6, max_iter=20000)
    try:
        svc.fit(rows * side[:, None], side)
    except ConvergenceWarning:  # warnings are errors in tests; the hinge's dual is slow to close the last digits
        pytest.fail("the reference did not converge; choose smaller C")
    return svc.coef_[0]


@pytest.mark.parametrize("n_levels", [2, 5, 12])
@pytest.mark.parametrize("C", [1e-3, 1e-1, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_objective_of_an_explicit_pair_solver(loss: str, C: float, n_levels: int) -> None:
    data = noisy_data(n_levels=n_levels)
    ranker = RankSVM(C=C, loss=loss, tol=1e-6).fit(data)
    expected = listed_objective(data, solve_listed(data, C, loss), C, loss)
    assert ranker.objective_ == pytest.approx(listed_objective(data, ranker.coef_, C, loss), rel=1e-9)
    assert ranker.objective_ == pytest.approx(expected, rel=1e-4)
    assert -1e-12 <= ranker.gap_ <= 1e-6 * ranker.objective_


@pytest.mark.parametrize("loss", LOSSES)
def test_gap_bounds_the_distance_to_the_optimum(loss: str) -> None:
    data = noisy_data()
    best = RankSVM(C=1.0, loss=loss, tol=1e-9).fit(data).objective_
    for max_iter in (1, 2, 3, 8):
        early = RankSVM(C=1.0, loss=loss, tol=1e-9, max_iter=max_iter).fit(data)
        assert early.objective_ - early.gap_ <= best * (1 + 1e-9)
        sums = PairSums(data.X, data.y, data.offsets)
        assert minimize(sums, C=1.0, loss=loss, tol=1e-9, max_iter=max_iter).iterations <= max_iter


@pytest.mark.parametrize("loss", LOSSES)
def test_it_stops_at_a_share_of_the_objective_however_small_that_is(loss: str) -> None:
    for C in (1e-6, 1.0):
        ranker = RankSVM(C=C, loss=loss, tol=1e-6).fit(easy_data(n_queries=4))
        assert ranker.gap_ <= 1e-6 * ranker.objective_


labels = st.lists(st.integers(0, 4), min_size=1, max_size=12)
queries = st.lists(labels, min_size=1, max_size=4)


@pytest.mark.parametrize("most_pairs", [0, 150], ids=["sweep", "loop"])
@settings(max_examples=60, deadline=None)
@given(
    queries,
    st.integers(0, 2**31),
    st.sampled_from([(-np.inf, 0.1), (-np.inf, 1.0), (0.5, 1.5), (0.0, 2.0), (1.0, 2.0)]),
    st.booleans(),
)
def test_sums_are_those_of_a_double_loop(
    most_pairs: int, by_query: list[list[int]], seed: int, band: tuple[float, float], rounded: bool
) -> None:
    low, high = band
    rng = np.random.default_rng(seed)
    y = np.concatenate(by_query).astype(float)
    offsets = np.concatenate(([0], np.cumsum([len(q) for q in by_query]))).astype(np.int64)
    scores = rng.normal(0, 1.5, len(y)).round(
        0 if rounded else 9
    )  # rounded ones have ties and margins on the thresholds
    weights, v = rng.random(len(y)), rng.normal(size=len(y))
    value, shortfall = 0.0, 0.0
    slope, degree, curved = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(y))
    for start, stop in pairwise(offsets):
        for i in range(start, stop):
            for j in range(start, stop):
                margin = scores[i] - scores[j]
                if y[i] > y[j] and margin < high:
                    weight = weights[i] * weights[j]
                    short = (high - margin) - max(0.0, low - margin)
                    value += weight * ((high - margin) ** 2 - max(0.0, low - margin) ** 2)
                    shortfall += weight * short
                    slope[i] += weight * short
                    slope[j] -= weight * short
                    if margin >= low:
                        degree[[i, j]] += weight
                        curved[i] += weight * (v[i] - v[j])
                        curved[j] += weight * (v[j] - v[i])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ordino.svm.pairs.MOST_PAIRS", most_pairs)
        pairs = PairSums(np.eye(len(y), dtype=np.float32), y, offsets, weights)  # a feature for each document
    assert pairs.is_long.all() == (most_pairs == 0) or len(pairs.rows) == 0
    np.testing.assert_array_equal(pairs.scores(scores), scores[pairs.rows])
    sums = pairs.sums(pairs.scores(scores), low, high)
    assert sums.value == pytest.approx(value, abs=1e-9)
    assert sums.shortfall == pytest.approx(shortfall, abs=1e-9)
    np.testing.assert_allclose(pairs.features(sums.slope), slope, atol=1e-9)
    np.testing.assert_allclose(pairs.features(sums.degree), degree, atol=1e-9)
    np.testing.assert_allclose(pairs.curvature(scores[pairs.rows], sums, v), curved, atol=1e-9)


def test_number_of_pairs_by_hand() -> None:
    y = np.array([0.0, 1.0, 2.0, 1.0, 5.0, 5.0])  # 0 1 2 1: 3 above 0, 2 above a 1; 5 5: none
    assert sort_labels(y, np.array([0, 4, 6])).n_pairs.tolist() == [5, 0]
    pairs = PairSums(np.zeros((6, 1), np.float32), y, np.array([0, 4, 6]))
    assert pairs.n_pairs == 5
    assert pairs.rows.tolist() == [0, 1, 3, 2]  # by label, without the query that has no pair
    assert pairs.floor.tolist() == [0, 1, 1, 3]  # worse documents of each


@pytest.mark.parametrize("loss", LOSSES)
def test_long_queries_end_where_short_ones_do(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = noisy_data(n_levels=4)
    looped = RankSVM(C=0.1, loss=loss, tol=1e-7).fit(data)
    monkeypatch.setattr("ordino.svm.pairs.MOST_PAIRS", 0)
    swept = RankSVM(C=0.1, loss=loss, tol=1e-7).fit(data)
    assert swept.objective_ == pytest.approx(looped.objective_, rel=2e-7)
    assert swept.objective_ == pytest.approx(listed_objective(data, swept.coef_, 0.1, loss), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_to_compare(loss: str) -> None:
    ranker = RankSVM(loss=loss).fit(Dataset([[1.0], [2.0]], [1, 1]))
    assert ranker.coef_.tolist() == [0.0]
    assert ranker.objective_ == 0.0


def test_scales_of_pairs() -> None:
    data = noisy_data()
    n_pairs = len(listed_pairs(data, data.y))
    mean = RankSVM(C=2.0 * n_pairs, pair_weights="mean", tol=1e-8).fit(data)
    total = RankSVM(C=2.0, pair_weights="sum", tol=1e-8).fit(data)
    np.testing.assert_allclose(mean.coef_, total.coef_, rtol=1e-3)
    one = noisy_data(n_queries=1)  # one query: its mean is the mean
    n_pairs = len(listed_pairs(one, one.y))
    by_query = RankSVM(C=2.0 * n_pairs, pair_weights="query", tol=1e-8).fit(one)
    np.testing.assert_allclose(by_query.coef_, RankSVM(C=2.0, tol=1e-8).fit(one).coef_, rtol=1e-3)


def test_document_weights_multiply() -> None:
    data = noisy_data(n_queries=2)
    weights = np.repeat([1.0, 0.0], data.counts)  # the second query does not count at all
    weighted = Dataset(data.X, data.y, data.qid, weights=weights)
    first = data.select_queries([0])
    assert document_weights(weighted, "sum").tolist() == weights.tolist()
    np.testing.assert_allclose(
        RankSVM(C=1.0, tol=1e-8).fit(weighted).coef_, RankSVM(C=1.0, tol=1e-8).fit(first).coef_, 1e-3
    )


def test_path_is_warm_and_chosen_on_valid() -> None:
    data, valid = noisy_data(), noisy_data(seed=1)
    path = [10.0, 1e-4, 0.1]
    ranker = RankSVM(C=path, metric="map").fit(data, valid=valid)
    assert [row["C"] for row in ranker.history_] == sorted(path)
    best = max(ranker.history_, key=lambda row: row["valid"])
    assert best["C"] == ranker.C_
    assert ranker.score(valid) == pytest.approx(best["valid"])
    for row in ranker.history_:  # a warm start ends where a cold one does
        assert row["objective"] == pytest.approx(RankSVM(C=row["C"]).fit(data).objective_, rel=2e-5)
    assert RankSVM(C=path).fit(data).C_ == 10.0  # the first where nothing can choose


def test_threads_do_not_change_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordino.reduction.BLOCK", 32)
    data = noisy_data()
    one, two = (RankSVM(C=1.0, n_jobs=n).fit(data) for n in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)


def test_a_machine_remembers_scores_by_all_that_led_to_them() -> None:
    data = easy_data(n_queries=3)
    pairs = PairSums(data.X, data.y, data.offsets)
    piece, (w, v) = Piece(pairs, 0), np.random.default_rng(0).normal(size=(2, data.n_features))
    ways = [(w, length, v) for length in (1.0, 0.5)] + [(w, 0.5, w), (v, 0.5, v)]
    for begin, length, then in ways:
        steps = Step(1.0, begin), Step(length, then)
        wanted = pairs.scores(begin) + length * pairs.scores(then)
        np.testing.assert_array_equal(piece.scores(steps), wanted)
        for low, high in ((-np.inf, 1.0), (0.5, 1.0), (0.5, 1.5)):
            np.testing.assert_array_equal(piece.sums(steps, low, high)[0], pairs.sums_of_blocks(wanted, low, high)[0])


def test_newton_stops_where_double_precision_does() -> None:
    data = easy_data()
    pairs = PairSums(data.X, data.y, data.offsets)
    found = minimize(pairs, C=1e6, loss="squared-hinge", tol=1e-300, max_iter=200)
    assert found.iterations < 200
    rounded = minimize(pairs, C=1.0, loss="hinge", tol=1e-300, max_iter=500)
    assert 0 <= rounded.gap <= 1e-6 * rounded.objective


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"C": 0}, "C=0"),
        ({"C": []}, "C is empty"),
        ({"loss": "hing"}, "did you mean 'hinge'"),
        ({"pair_weights": "all"}, "unknown pair_weights 'all'"),
        ({"pairs": "mean"}, "pairs of RankSVM is now called 'pair_weights'"),
        ({"tol": -1}, "tol=-1"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_wrong_parameters(params: dict[str, object], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        RankSVM(**params).fit(easy_data())
