"""Reasons sum to the difference, are exact where the model is a sum, and ignore what the ranker ignores."""

import re
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordino import Dataset, LambdaMART, LinearRegressionRanker, RankAggregation, RankFusion, SingleFeature
from ordino.errors import DataError, ParameterError
from ordino.explain import why
from ordino.explain.paths import (
    SQUASHES,
    along_the_line,
    comparator_slopes,
    in_random_orders,
    one_by_one,
    scorer_slopes,
)
from ordino.layers import Layer
from ordino.order import PairNetwork
from ordino.rankers import RANKERS
from ordino.testing import easy_data
from rankers.test_contract import quick

paths_of_why = import_module("ordino.explain.why")  # whose name is also that of its function
COMBINATIONS = {"NestedRanker", "RankAggregation", "AutoRanker"}  # the last has its own test
SINGLE = [name for name, entry in RANKERS.items() if entry.cls not in COMBINATIONS | {"RankFusion"}]


def network(activation, *, seed=0, hidden=7, n_features=4):
    rng = np.random.default_rng(seed)
    sizes = [(n_features, hidden), (hidden, 5), (5, 1)]
    return [Layer(*(rng.normal(0, 1, shape).astype(np.float32) for shape in (size, size[1:]))) for size in sizes]


def pair_network(output="sigmoid", *, seed=0):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.normal(0, 1, shape).astype(np.float32)  # noqa: E731
    return PairNetwork(draw(4, 6), draw(4, 6), draw(6), (Layer(draw(6, 2), draw(2)),), output=output)


@pytest.mark.parametrize("name", SINGLE)
def test_the_reasons_sum_to_the_difference_of_the_scores(name):
    data = easy_data()
    ranker = quick(name).fit(data)
    query = data[0].X
    reasons = why(ranker, 3, 8, query=query)
    assert sum(reason.adds for reason in reasons.reasons) == pytest.approx(reasons.difference)
    sizes = [abs(reason.adds) for reason in reasons.reasons]
    assert sizes == sorted(sizes, reverse=True)
    if not any(isinstance(part, PairNetwork) for part in vars(ranker).values()):
        scores = ranker.predict(query)
        assert reasons.difference == pytest.approx(scores[3] - scores[8], abs=1e-4 * max(1.0, abs(scores).max()))


def test_a_fusion_is_explained_by_its_runs():
    """Reciprocal ranks add up, so what a run adds is what it pays for the two places."""
    runs = {"bm25": {"q": {"x": 9.0, "y": 5.0, "z": 1.0}}, "dense": {"q": {"z": 0.9, "y": 0.5}}}
    data = Dataset.from_runs(runs, {"q": {"y": 1}})
    ids = data.doc_ids.tolist()
    found = why(RankFusion().fit(data), ids.index("x"), ids.index("z"), query=data)
    adds = {reason.feature: reason.adds for reason in found.reasons}
    assert adds == {"bm25_score": pytest.approx(1 / 61 - 1 / 63), "dense_score": pytest.approx(-1 / 61)}
    sharper = why(RankFusion(k=1).fit(data), ids.index("x"), ids.index("z"), query=data)
    assert {reason.feature: reason.adds for reason in sharper.reasons} == {
        "bm25_score": pytest.approx(1 / 2 - 1 / 4), "dense_score": pytest.approx(-1 / 2)
    }  # fmt: skip
    assert found.method == "runs"
    assert np.isnan({reason.feature: reason.a for reason in found.reasons}["dense_score"])  # which did not find it


def test_few_runs_are_taken_in_every_order(monkeypatch):
    """Of five, what each adds does not depend on a seed; of six, orders are drawn, as many as are asked for."""
    rng = np.random.default_rng(0)
    drawn = []
    monkeypatch.setattr(paths_of_why, "in_random_orders", lambda *a, **how: drawn.append(how) or np.zeros(6))
    for n_runs in (5, 6):
        data = Dataset(rng.random((8, n_runs)), rng.integers(0, 2, 8))
        found = why(RankFusion(method="combmnz").fit(data), 0, 1, query=data, orders=7, seed=3)
        assert len(found.reasons) == n_runs
        assert drawn == [{"orders": 7, "seed": 3}] * (n_runs - 5)


def test_what_a_run_adds_does_not_depend_on_the_places_of_the_runs():
    """A rule that counts how many runs found a document is no sum: who joins first adds something else."""
    X = np.random.default_rng(0).random((8, 4))
    told = []
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        data = Dataset(X[:, order], np.arange(8) % 2, feature_names=[f"run {i}" for i in order])
        reasons = why(RankFusion(method="combmnz").fit(data), 0, 1, query=data).reasons
        told.append({reason.feature: reason.adds for reason in reasons})
    assert told[0] == pytest.approx(told[1])


@pytest.mark.parametrize("method", ["combmnz", "combmax", "isr", "kemeny", "zscore"])
def test_runs_add_up_to_the_difference_by_any_rule(method):
    data = easy_data()
    ranker = RankFusion(method=method).fit(data)
    query = data[0].X
    found = why(ranker, 3, 8, query=query)
    scores = ranker.predict(query)
    assert found.difference == pytest.approx(scores[3] - scores[8])
    assert sum(reason.adds for reason in found.reasons) == pytest.approx(found.difference)


def test_a_fusion_needs_the_other_documents():
    data = easy_data()
    with pytest.raises(
        ParameterError, match="a RankFusion ranks by places in each run, which no document has by itself"
    ):
        why(quick("rank-fusion").fit(data), data.X[3], data.X[8])


def test_a_linear_ranker_is_explained_by_its_weights():
    data = easy_data()
    ranker = LinearRegressionRanker(scaling=None).fit(data)
    a, b = data.X[0].astype(float), data.X[1].astype(float)
    reasons = {reason.feature: reason for reason in why(ranker, a, b).reasons}
    for j in range(4):
        assert reasons[f"f{j + 1}"].adds == ranker.coef_[j] * (a[j] - b[j])
        assert (reasons[f"f{j + 1}"].a, reasons[f"f{j + 1}"].b) == (a[j], b[j])


def test_scaling_inside_the_query_is_part_of_the_reasons():
    query = np.array([[0.0, 5.0], [2.0, 5.0], [10.0, 5.0]])
    ranker = LinearRegressionRanker(scaling="minmax").fit(Dataset(query, [0, 1, 2]))
    found = why(ranker, 2, 1, query=query)  # 10 is scaled to 1 and 2 to 0.2
    assert found.reasons[0].adds == pytest.approx(ranker.coef_[0] * 0.8)
    with pytest.raises(DataError, match="scaling='minmax' needs all documents of the query"):
        why(ranker, query[2], query[1])


def test_each_stump_speaks_for_its_own_feature():
    data = easy_data()
    ranker = quick("rank-boost").fit(data)
    a, b = data.X[0], data.X[1]
    expected = np.zeros(4)
    for stump in ranker.stumps_:
        expected[stump.feature] += stump.alpha * (float(a[stump.feature] > stump.threshold))
        expected[stump.feature] -= stump.alpha * (float(b[stump.feature] > stump.threshold))
    found = why(ranker, a, b)
    assert found.method == "stumps"
    assert {reason.feature: pytest.approx(reason.adds, abs=1e-12) for reason in found.reasons} == {
        f"f{j + 1}": expected[j] for j in range(4)
    }


def test_trees_of_one_feature_speak_for_that_feature():
    X, y, qid = [[1.0, 0.5], [2.0, 0.5], [3.0, 0.5]] * 20, [0, 1, 2] * 20, np.repeat(range(20), 3)
    ranker = LambdaMART(rounds=5, min_leaf=5).fit(X, y, qid=qid)
    found = why(ranker, [3.0, 9.0], [1.0, 0.1])
    scores = ranker.predict([[3.0, 9.0], [1.0, 0.1]])
    assert found.method == "trees"
    assert found.reasons[0].feature == "f1"
    assert found.reasons[0].adds == pytest.approx(scores[0] - scores[1])
    assert found.reasons[1].adds == 0


@pytest.mark.parametrize("activation", SQUASHES)
def test_gradients_of_scorers_agree_with_differences(activation):
    slopes = scorer_slopes(network(activation), activation)
    check_gradient(slopes, np.random.default_rng(1).normal(size=4))


@pytest.mark.parametrize("output", ["sigmoid", "tanh", "softplus", "identity"])
def test_gradients_of_comparators_agree_with_differences(output):
    rng = np.random.default_rng(1)
    check_gradient(comparator_slopes(pair_network(output), rng.normal(size=4)), rng.normal(size=4))


def check_gradient(slopes, x, step=1e-6):
    for j in range(len(x)):
        nudge = np.eye(len(x))[j] * step
        above, below = slopes(np.stack((x + nudge, x - nudge)))[0]
        assert slopes(x[None])[1][0, j] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-6)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(sorted(SQUASHES)))
def test_the_integral_along_the_line_is_complete(seed, activation):
    rng = np.random.default_rng(seed)
    slopes = scorer_slopes(network(activation, seed=seed), activation)
    a, b = rng.normal(0, 3, (2, 4))
    values = slopes(np.stack((a, b)))[0]
    assert along_the_line(slopes, a, b).sum() == pytest.approx(values[0] - values[1], abs=1e-6 * abs(values).max())


def test_rounding_that_hides_the_difference_does_not_halve_the_line_forever():
    """Sums of 1e9 that cancel: their rounding is more than the score, at every point."""
    hidden = Layer(np.float32([[1e9, 3e9], [1e8, 3e8]]), np.float32([0.3, 0.9]))
    slopes = scorer_slopes([hidden, Layer(np.float32([[3], [-1]]), np.float32([0]))], "relu")
    parts = along_the_line(slopes, np.array([0.9, 0.3]), np.array([0.1, 0.7]))
    assert parts.tolist() == pytest.approx([0.0, 0.0], abs=1e-5)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(["sigmoid", "tanh"]))
def test_a_comparator_is_explained_by_its_own_preference(seed, output):
    """What its two outputs say, whatever squashes them; the hidden neurons are sigmoids."""
    comparator = pair_network(output, seed=seed)
    a, b = np.random.default_rng(seed).normal(size=(2, 4)).astype(np.float32).astype(float)
    parts = along_the_line(comparator_slopes(comparator, b), a, b)
    width = {"sigmoid": 1, "tanh": 2}[output]  # of what an output can be
    assert parts.sum() == pytest.approx(width * (2 * comparator.compare([a], [b])[0] - 1), abs=1e-5)
    back = along_the_line(comparator_slopes(comparator, a), b, a)
    assert back.sum() == pytest.approx(-parts.sum(), abs=1e-6)


def test_a_feature_that_does_not_differ_adds_nothing():
    a, b = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 2.0, 1.0, 4.0])
    slopes = scorer_slopes(network("tanh"), "tanh")
    for parts in (
        along_the_line(slopes, a, b),
        one_by_one(lambda X: slopes(X)[0], a, b),
        in_random_orders(lambda X: slopes(X)[0], a, b, orders=4, seed=1),
    ):
        assert (parts[1], parts[3]) == (0, 0)


def test_all_ways_agree_on_a_sum():
    a, b = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    weights = np.array([3.0, 0.25])
    expected = weights * (a - b)
    np.testing.assert_allclose(along_the_line(lambda X: (X @ weights, np.tile(weights, (len(X), 1))), a, b), expected)
    np.testing.assert_allclose(one_by_one(lambda X: X @ weights, a, b), expected)
    np.testing.assert_allclose(in_random_orders(lambda X: X @ weights, a, b, orders=3, seed=0), expected)


@pytest.mark.parametrize(("orders", "ways"), [(1, 2), (2, 2), (3, 4), (4, 4)])
def test_no_fewer_orders_are_taken_than_asked_for(orders, ways):
    """Each that is drawn is also taken backwards; the features join one by one in each."""
    seen = []

    def product(X):
        seen.append(len(X))
        return X.prod(axis=1)

    in_random_orders(product, np.array([2.0, 3.0, 5.0]), np.zeros(3), orders=orders, seed=0)
    assert seen == [4] * ways


def test_a_combination_points_to_its_members():
    ranker = RankAggregation("linear-regression-ranker", n=2, resample="queries").fit(easy_data())
    with pytest.raises(ParameterError, match="a RankAggregation ranks by the orders of its members"):
        why(ranker, 0, 1, query=easy_data().X)
    assert why(ranker.rankers_[0], 0, 1, query=easy_data()[0].X).method == "linear"


def test_what_cannot_be_explained_is_refused():
    ranker = SingleFeature(feature=1).fit(Dataset([[1.0], [2.0]], [0, 1]))
    for a, b in (([1.0], [2.0]), (0.5, 1)):
        with pytest.raises(DataError, match="with query=, a and b are row numbers in it, from 0"):
            why(ranker, a, b, query=[[1.0], [2.0]])
    with pytest.raises(DataError, match="there is no row 2; the query has 2 documents, from 0"):
        why(ranker, 0, 2, query=[[1.0], [2.0]])
    with pytest.raises(DataError, match="fitted with 1 features but the data has 2"):
        why(ranker, [1.0, 2.0], [3.0, 4.0])
    with pytest.raises(ParameterError, match="a str is not a ranker"):
        why("ranknet", [1.0], [2.0])


def test_names_and_json():
    data = Dataset([[1.0, 0.0], [2.0, 0.0]], [0, 1], feature_names=["bm25", "age"])
    found = why(SingleFeature(feature="bm25").fit(data), [3.0, 1.0], [1.0, 1.0])
    assert found.to_dict() == {
        "difference": 2.0,
        "method": "linear",
        "reasons": [
            {"feature": "bm25", "a": 3.0, "b": 1.0, "adds": 2.0},
            {"feature": "age", "a": 1.0, "b": 1.0, "adds": 0.0},
        ],
    }
    cells = ["bm25", "3", "1", "+2.0000", "age", "1", "1", "+0.0000"]
    assert [cell for line in str(found).splitlines()[1:3] for cell in line.split()] == cells
    shown = re.findall(r"<t[dh] [^>]*>([^<]*)<", found._repr_html_())
    assert shown == ["feature", "a", "b", "adds", *cells, "together", "", "", "+2.0000"]
