"""The fitness of a population is the measure itself, to the last digit, on any number of threads."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordino.data.dataset import Dataset
from ordino.errors import DataError
from ordino.evolve import Formula, FormulaFitness, LinearFitness, weigh
from ordino.evolve.divided import DividedFitness
from ordino.evolve.fitness import as_single
from ordino.evolve.genetic_programming import run_over
from ordino.metrics import METRICS, PROFILES, measure
from ordino.metrics.rank_kernels import MANY

MEASURES = [*(entry.example for entry in METRICS.values()), "p@1", "p@100", "map@3"]


@st.composite
def tied_data(draw: st.DrawFn) -> Dataset:
    """Few different feature values, so that most scores are tied; empty, short and long queries."""
    counts = draw(st.lists(st.integers(1, 150), min_size=1, max_size=5))
    n = sum(counts)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = draw(st.sampled_from([1, 2, 5]))
    X = rng.integers(0, levels + 1, (n, draw(st.integers(1, 6)))).astype(np.float32) / np.float32(3)
    y = rng.integers(0, draw(st.integers(1, 3)), n) * (rng.random(n) < draw(st.sampled_from([0.05, 0.3, 1.0])))
    return Dataset(X, y, np.repeat(np.arange(len(counts)), counts))


def some_weights(data: Dataset, n: int = 5) -> np.ndarray:
    rng = np.random.default_rng(1)
    weights = rng.uniform(-1, 1, (n, data.n_features))
    weights[1:3] = weights[1:3].round()  # more ties
    weights[-1] = 0.0  # nothing but ties
    return weights


@pytest.mark.parametrize("metric", MEASURES)
@settings(max_examples=20, deadline=None)
@given(profile=st.sampled_from(sorted(PROFILES)), data=tied_data())
def test_fitness_is_the_measure_to_the_last_digit(metric: str, profile: str, data: Dataset) -> None:
    if metric == "err":
        data = data.replace(y=np.minimum(data.y, 1.0))  # some profiles take labels up to 1 here
    weights = some_weights(data)
    with LinearFitness(data, metric, profile=profile, n_jobs=1) as fitness:
        found, means = fitness.per_query(weights), fitness(weights)
        sign = 1 if fitness.objective.metric.greater_is_better else -1
    for p, row in enumerate(weights):
        known = measure(data.y, weigh(data.X, row), data.offsets, metric, profile=profile)
        np.testing.assert_array_equal(found[p], known.per_query[metric])
        mean = known[metric]
        assert means[p] == (0.0 if np.isnan(mean) else sign * mean)


@pytest.mark.parametrize("metric", ["map", "p@300", "map@300"])
def test_a_query_with_many_relevant_documents(metric: str) -> None:
    rng = np.random.default_rng(0)
    y = np.append(rng.random(600) < 0.75, rng.random(40) < 0.5)
    data = Dataset(rng.integers(0, 9, (640, 3)), y, qid=np.repeat([0, 1], [600, 40]))
    assert y[:600].sum() > MANY > y[600:].sum()
    weights = some_weights(data)
    with LinearFitness(data, metric) as fitness:
        found = fitness.per_query(weights)
    for p, row in enumerate(weights):
        known = measure(data.y, weigh(data.X, row), data.offsets, metric)
        np.testing.assert_array_equal(found[p], known.per_query[metric])


@pytest.mark.parametrize("metric", ["map", "p@5", "ndcg@10"])
def test_threads_and_neighbors_change_nothing(metric: str) -> None:
    rng = np.random.default_rng(0)
    data = Dataset(rng.random((6000, 7)), rng.integers(0, 3, 6000), np.repeat(np.arange(60), 100))
    weights = rng.normal(size=(9, 7))
    with LinearFitness(data, metric, n_jobs=1) as one, LinearFitness(data, metric, n_jobs=2) as two:
        assert one(weights).tolist() == two(weights).tolist()
        assert [one([row])[0] for row in weights] == one(weights).tolist()


@given(st.integers(0, 10_000), st.integers(1, 600), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_a_document_is_scored_the_same_alone_and_among_others(seed: int, n: int, n_features: int) -> None:
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, n_features)).astype(np.float32), rng.normal(size=n_features)
    scores = weigh(X, w)
    row = int(rng.integers(n))
    assert weigh(X[row : row + 1], w)[0] == scores[row]
    np.testing.assert_allclose(scores, X.astype(np.float64) @ w, rtol=1e-4, atol=1e-5)
    assert weigh(X, as_single(w)).tolist() == scores.tolist()  # what a ranker keeps is what was measured


def test_many_relevant_documents_are_ranked_by_bisection() -> None:
    """90 of 100 relevant; the one at rank 1 is not: AP = (1/90) sum of i / (i + 1)."""
    y = np.array([0.0] + [1.0] * 90 + [0.0] * 9)
    data = Dataset(np.arange(100, 0, -1, dtype=float)[:, None], y)
    with LinearFitness(data, "map") as fitness:
        assert fitness([[1.0]])[0] == pytest.approx(sum(i / (i + 1) for i in range(1, 91)) / 90)


@pytest.mark.parametrize("n_relevant", [1, 10, 60])  # few are ranked by counting, many by bisection
def test_ties_keep_the_row_order(n_relevant: int) -> None:
    """Every second of equal documents is relevant, so that the precision at each is i / 2i."""
    data = Dataset(np.ones((2 * n_relevant, 1)), [0, 1] * n_relevant)
    with LinearFitness(data, "map") as fitness:
        assert fitness([[1.0]]).tolist() == [1 / 2]


def test_a_measure_of_which_less_is_better_counts_negative() -> None:
    data = Dataset([[2.0], [1.0]], [0, 1])
    with LinearFitness(data, "pairwise_error") as fitness:
        assert fitness([[1.0], [-1.0]]).tolist() == [-1.0, 0.0]


def test_weights_of_any_size_are_scored() -> None:
    X = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    assert weigh(X, [1e200, 1.0]).tolist()[0] == pytest.approx(1e200)
    with LinearFitness(Dataset(X, [1, 0]), "map") as fitness:
        assert fitness([[1e200, 1.0], [1e-200, 1.0], [0.0, 0.0]]).tolist() == [1.0, 0.5, 1.0]


def test_features_too_large_for_single_precision_are_refused() -> None:
    with pytest.raises(DataError, match="rescale it first"):
        LinearFitness(Dataset([[1e38], [0.0]], [1, 0]), "map")


def test_formulas_are_measured_on_the_scores_that_they_give() -> None:
    rng = np.random.default_rng(0)
    data = Dataset(rng.random((500, 3)).round(1), rng.integers(0, 2, 500), np.repeat(np.arange(5), 100))
    trees = [
        Formula.parse(words.split())
        for words in ("0", "/ 0 1", "- 0.5 1", "- 0.2 1", "* 1 - 0 0.5", "* 1 - 0 0.9", "sqrt - 2 0.5", "* 0 + 1 2")
    ]  # some differ in a constant alone
    for profile in ("standard", "xgboost", "sklearn"):
        with FormulaFitness(data, "map", profile=profile) as fitness:
            found = fitness(trees)
        for tree, value in zip(trees, found, strict=True):
            assert value == measure(data.y, run_over(tree, data.X), data.offsets, "map", profile=profile)["map"]


def test_where_no_query_counts_every_ranker_is_worth_nothing_wherever_the_data_lies() -> None:
    data, weights = Dataset([[1.0], [2.0]], [0, 0]), [[1.0], [-1.0]]
    with LinearFitness(data, "map", profile="directranker") as fitness:
        assert fitness(weights).tolist() == [0.0, 0.0]
    bench, parts = SimpleNamespace(data={"train": data}, made={}), []

    class OneMachine:
        def each(self, work, *given, own=(), lasting=False):
            parts.append(work(bench, *own, "train", *given))
            return parts[-1:]

    assert DividedFitness(OneMachine(), LinearFitness, "map", profile="directranker")(weights).tolist() == [0.0, 0.0]


def test_a_query_that_the_profile_leaves_out_does_not_count() -> None:
    data = Dataset([[1.0], [2.0], [1.0]], [0, 0, 1], [0, 0, 1])
    with LinearFitness(data, "map", profile="directranker") as fitness:
        assert fitness([[1.0]]).tolist() == [1.0]
    empty = Dataset([[1.0], [2.0]], [0, 0])
    with LinearFitness(empty, "map", profile="directranker") as fitness:
        assert fitness([[1.0]]).tolist() == [0.0]
