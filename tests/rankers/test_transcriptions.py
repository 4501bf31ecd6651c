"""Formulas of papers, written down a second time as slow loops over one number at a time."""

import math
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from order.comparators import merge_sort, preferences
from ordino import (
    Dataset,
    DeepNet,
    DirectRanker,
    KernelRankNet,
    ListNet,
    NestedRanker,
    RankDE,
    RankNet,
    RankProp,
    SortNet,
)
from ordino.errors import DataError
from ordino.metrics import evaluate
from ordino.order.pairs import content_order
from ordino.ranker import Ranker
from ordino.rankers.baselines import LinearRegressionRanker
from ordino.rankers.deepnet import drawn_pairs
from ordino.rankers.rankprop import rank_targets
from ordino.rankers.sortnet import _KnownPairs
from ordino.testing import easy_data

PLAIN = {"hidden": (), "optimizer": "descent", "batch": None, "scaling": None, "l2": 0.0}


def some_data(seed=0, n_queries=4, n_docs=6, n_features=3, levels=3):
    rng = np.random.default_rng(seed)
    n = n_queries * n_docs
    X = rng.normal(size=(n, n_features)).astype(np.float32)
    return Dataset(X, rng.integers(0, levels, n), np.repeat(np.arange(n_queries), n_docs))


def better_pairs(data):
    """Rows (i, j) of the same query with y_i > y_j."""
    for start, stop in pairwise(data.offsets):
        for i in range(start, stop):
            yield from ((i, j) for j in range(start, stop) if data.y[i] > data.y[j])


# RankProp: sort by label, break ties by the network's output, regress on the ranks


def slow_ranks(y, outputs):
    patterns = sorted(range(len(y)), key=lambda i: (y[i], outputs[i]))
    ranks = [patterns.index(i) for i in range(len(y))]
    mean = sum(ranks) / len(ranks)
    deviation = math.sqrt(sum((rank - mean) ** 2 for rank in ranks) / len(ranks))
    return [(rank - mean) / deviation for rank in ranks]


@pytest.mark.parametrize("seed", range(5))
def test_rankprop_targets_are_the_ranking_nearest_to_the_net_that_the_labels_allow(seed):
    rng = np.random.default_rng(seed)
    y, outputs = rng.integers(0, 3, 25).astype(float), rng.normal(size=25)
    targets = rank_targets(y, outputs)
    np.testing.assert_allclose(targets, slow_ranks(y, outputs))
    for i in range(25):
        for j in range(25):
            if y[i] > y[j] or (y[i] == y[j] and outputs[i] > outputs[j]):
                assert targets[i] > targets[j]
    assert rank_targets(np.ones(1), np.ones(1)).tolist() == [0]


@pytest.mark.parametrize("period", [1, 2])
def test_rankprop_alternates_between_ranks_and_regression(period):
    data = some_data()
    ranker = RankProp(**PLAIN, epochs=5, period=period, learning_rate=0.1)
    [layer] = ranker._fresh(data, ranker.seed).layers()
    w, b = layer.W[:, 0].astype(float), float(layer.b[0])
    for epoch in range(5):
        outputs = [float(x @ w) + b for x in data.X]
        if epoch % period == 0:
            targets = slow_ranks(data.y, outputs)
        missed = [output - target for output, target in zip(outputs, targets, strict=True)]
        w = w - 0.1 * sum(2 * one * x for one, x in zip(missed, data.X.astype(float), strict=True)) / len(missed)
        b -= 0.1 * sum(2 * one for one in missed) / len(missed)
    np.testing.assert_allclose(ranker.fit(data).predict(data), data.X @ w + b, rtol=1e-4, atol=1e-5)


def test_the_error_of_an_epoch_of_rankprop_is_the_mean_over_documents():
    some, more = some_data(n_queries=2), some_data(1, n_queries=1, n_docs=30)
    data = Dataset(np.vstack((some.X, more.X)), np.append(some.y, more.y), [*some.qid, *[9] * 30])
    ranker = RankProp(**PLAIN | {"batch": 1}, epochs=1, learning_rate=1e-12).fit(data)
    outputs = ranker.predict(data)
    error = np.mean((outputs - slow_ranks(data.y, outputs)) ** 2)
    assert ranker.history_[0]["error"] == pytest.approx(error, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MQ2008", "MQ2007"])
def test_rankprop_is_not_worse_than_linear_regression_on_the_splits_of_table_4(name):
    """As published, and as the table has it, with the rate that is best on the validation part."""
    if "ORDINO_DATA" not in os.environ:
        pytest.skip(f"ORDINO_DATA names no folder with {name}")
    from ordino.experiment.papers.ranknet.search import SYSTEMS, _splits
    from ordino.experiment.papers.target import Request

    def quality(ranker, part):
        return evaluate(part, ranker.predict(part), metrics="ndcg@15")["ndcg@15"]

    means = {"published": [], "table": [], "regression": []}
    _, splits = _splits(Request(data=Path(os.environ["ORDINO_DATA"], name)))
    assert len(splits) == 5
    entry = SYSTEMS["RankProp"].entry(Request())
    for parts in splits:
        published, regression = RankProp.as_published(), LinearRegressionRanker(metric="ndcg@15", scaling="symlog")
        tried = [entry.make({**entry.params, "learning_rate": rate}) for rate in entry.grids[0]["learning_rate"]]
        for ranker in (published, regression, *tried):
            ranker.fit(parts.learned, valid=parts.valid)
        chosen = max(tried, key=lambda ranker: quality(ranker, parts.valid))
        for what, ranker in zip(means, (published, chosen, regression), strict=True):
            means[what].append(quality(ranker, parts.test))
    assert min(np.mean(means["published"]), np.mean(means["table"])) >= np.mean(means["regression"])


# RankNet: rates, targets and weights of pairs


def test_a_published_step_of_ranknet_is_its_rate_times_the_sum_over_the_pairs_of_a_query():
    data = some_data(n_queries=1, n_docs=8)
    ranker = RankNet.as_published(hidden=(), epochs=1)
    assert (ranker.initializer, ranker.learning_rate, ranker.batch) == ("uniform", 0.001, 1)
    [layer] = ranker._fresh(data, ranker.seed).layers()
    w, X = layer.W[:, 0].astype(float), data.X.astype(float)
    step = sum((X[i] - X[j]) / (1 + math.exp((X[i] - X[j]) @ w)) for i, j in better_pairs(data))
    np.testing.assert_allclose(ranker.fit(data).predict(data), data.X @ (w + 0.001 * step), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("pairs_are_given", [False, True])
@pytest.mark.parametrize("until", ["no-error", "same-error"])
def test_ranknet_ends_where_its_paper_does(until, pairs_are_given):
    """At no error (section 5), or after ten epochs that did not change it (section 6), by pairs counted one by one."""
    data = some_data(n_queries=2, n_docs=7, n_features=8)
    pairs = list(better_pairs(data))

    def learn(**changes):
        rate = 1.0 if pairs_are_given else 0.05  # of all pairs together, or of each
        ranker = RankNet.as_published(hidden=3, learning_rate=rate, **changes)
        return ranker.fit_pairs(data.X, pairs) if pairs_are_given else ranker.fit(data)

    errors = []
    for epochs in range(1, 61):
        scores = learn(epochs=epochs, until="all-epochs").predict(data)
        errors.append(sum(scores[i] < scores[j] for i, j in pairs))
        if errors[-1] == 0 if until == "no-error" else len(errors) > 10 and set(errors[-11:]) == {errors[-1]}:
            break
    ranker = learn(until=until)
    assert 3 < len(ranker.history_) == len(errors) < 60
    assert [row["wrong_pairs"] == 0 for row in ranker.history_] == [error == 0 for error in errors]


def test_targets_of_ranknet_follow_the_lemma():
    data, odds = some_data(levels=5), 0.7 / 0.3
    scores, total, n_pairs = np.random.default_rng(1).normal(size=data.n_docs), 0.0, 0
    for i, j in better_pairs(data):
        power = odds ** (data.y[i] - data.y[j])
        o, target = scores[i] - scores[j], power / (1 + power)
        total += -target * o + math.log(1 + math.exp(o))  # eq. 3
        n_pairs += 1
    loss = RankNet(target=0.7, target_by="step", average="pairs")._loss()
    assert loss.value_and_gradient(scores, data.y, data.offsets)[0] == pytest.approx(total / n_pairs)


def test_weights_of_given_pairs_multiply_their_cost():
    X, pairs = some_data(n_docs=5, n_queries=1).X.astype(float), [(0, 1), (2, 3), (4, 0), (1, 2)]
    target, weights = [1.0, 0.8, 0.5, 0.9], [3.0, 0.0, 0.5, 2.0]
    ranker = RankNet(**PLAIN, epochs=1, learning_rate=0.2)
    w = ranker._fresh(Dataset(X, np.zeros(5)), ranker.seed).layers()[0].W[:, 0].astype(float)
    slope = np.zeros(3)
    for (a, b), p, weight in zip(pairs, target, weights, strict=True):
        difference = X[a] - X[b]
        slope += weight * (1 / (1 + math.exp(-difference @ w)) - p) * difference
    fitted = ranker.fit_pairs(X, pairs, target, weights=weights)
    np.testing.assert_allclose(fitted.predict(X), X @ (w - 0.2 * slope / sum(weights)), rtol=1e-5, atol=1e-6)


def test_a_pair_of_weight_two_is_a_pair_given_twice():
    X, ranker = some_data(n_docs=4, n_queries=1).X, RankNet(hidden=4, batch=None, scaling=None, epochs=20)
    weighed = ranker.fit_pairs(X, [(0, 1), (1, 2), (3, 0)], weights=[2, 1, 1]).predict(X)
    twice = ranker.fit_pairs(X, [(0, 1), (0, 1), (1, 2), (3, 0)]).predict(X)
    np.testing.assert_allclose(weighed, twice, rtol=1e-4, atol=1e-5)
    even = ranker.fit_pairs(X, [(0, 1), (1, 2)], weights=7.0).predict(X)
    np.testing.assert_allclose(even, ranker.fit_pairs(X, [(0, 1), (1, 2)]).predict(X), rtol=1e-6)
    for wrong in ([1.0], [1.0, -1.0], [0.0, 0.0], [1.0, np.nan]):
        with pytest.raises(DataError, match="weights must be finite"):
            ranker.fit_pairs(X, [(0, 1), (1, 2)], weights=wrong)


@pytest.mark.parametrize("penalty", [0.3, pytest.param(3.0, marks=pytest.mark.slow)])
def test_kernel_ranknet_minimizes_equation_17_over_the_functions_of_equation_18(penalty):
    data = some_data(n_queries=3, n_docs=5, n_features=2)
    X, pairs = data.X.astype(float), list(better_pairs(data))
    kernel = np.array([[math.exp(-0.5 * float((a - b) @ (a - b))) for b in X] for a in X])

    better, worse = np.array(pairs).T

    def objective(alpha):
        f = kernel @ alpha
        return np.log1p(np.exp(f[worse] - f[better])).sum() + penalty * alpha @ kernel @ alpha

    best = kernel @ minimize(objective, np.zeros(len(X)), tol=1e-10).x
    settings = {"gamma": 0.5, "n_components": len(X), "scaling": None, "batch": None, "optimizer": "descent"}
    ranker = KernelRankNet(l2=penalty, epochs=4000, learning_rate=0.02, **settings).fit(data)
    np.testing.assert_allclose(ranker.predict(data), best, atol=2e-3 * np.ptp(best))


def test_steps_of_kernel_ranknet_share_the_penalty():
    shares = [KernelRankNet(l2=4.0, batch=batch) for batch in (None, 100, 5, 2)]
    for ranker in shares:
        ranker.n_queries_in_ = 10
    assert [ranker._schedule().l2 for ranker in shares] == [8.0, 8.0, 4.0, 1.6]


# DirectRanker's pairs and ListNet's first k


def test_pairs_of_direct_ranker():
    y, scores = np.array([3.0, 2.0, 0.0, 2.0]), np.array([0.1, 0.7, -0.4, 0.2])  # no document has the label 1
    wanted = {"exact": [(0, 1), (0, 3)], "neighbors": [(0, 1), (0, 3), (1, 2), (3, 2)]}
    wanted["all"] = [*wanted["neighbors"], (0, 2)]
    for pairs, expected in wanted.items():
        loss = DirectRanker(pairs=pairs, average="sum")._loss()
        total = sum(y[i] * (1 - (scores[i] - scores[j])) ** 2 for i, j in expected)  # r(d_i) (1 - o_1(d_i, d_j))^2
        assert loss.value_and_gradient(scores, y, [0, 4])[0] == pytest.approx(total)
    fitted = [
        DirectRanker(hidden=4, epochs=3, pairs=pairs).fit(some_data(levels=5)).predict(some_data()) for pairs in wanted
    ]
    assert len({tuple(scores) for scores in fitted}) == 3


@pytest.mark.parametrize("epochs", [1, 5])
def test_published_steps_of_direct_ranker_are_adams_by_the_mean_over_pairs_of_labels_1_apart(epochs):
    """The first is 0.01 g / (|g| + 1e-8), almost a sign; later ones tell how large the slopes are."""
    data = some_data(levels=6)
    ranker = DirectRanker.as_published(hidden=(), epochs=epochs, batch=None, scaling=None)
    [layer] = ranker._fresh(data, ranker.seed).layers()
    w, X = layer.W[:, 0].astype(float).tolist(), data.X.astype(float).tolist()
    pairs = [(i, j) for i, j in better_pairs(data) if data.y[i] - data.y[j] == 1]
    assert 0 < len(pairs) < len(list(better_pairs(data)))
    mean, square = [0.0] * len(w), [0.0] * len(w)
    for step in range(1, epochs + 1):
        slopes = [0.0] * len(w)
        for i, j in pairs:
            difference = [a - b for a, b in zip(X[i], X[j], strict=True)]
            o = sum(weight * one for weight, one in zip(w, difference, strict=True))
            for k, one in enumerate(difference):
                slopes[k] += -2 * data.y[i] * (1 - o) * one / len(pairs)  # of r(d_i) (1 - o)^2
        for k, slope in enumerate(slopes):
            mean[k] = 0.9 * mean[k] + 0.1 * slope
            square[k] = 0.999 * square[k] + 0.001 * slope**2
            w[k] -= 0.01 * mean[k] / (1 - 0.9**step) / (math.sqrt(square[k] / (1 - 0.999**step)) + 1e-8)
    expected = [sum(weight * one for weight, one in zip(w, x, strict=True)) for x in X]
    np.testing.assert_allclose(ranker.fit(data).predict(data), expected, rtol=1e-5, atol=1e-6)


def test_a_query_without_a_pair_of_labels_that_differ_by_one_teaches_nothing():
    data = Dataset(some_data(n_queries=1, n_docs=4).X, [0, 2, 4, 4])
    start = DirectRanker(hidden=(), epochs=1, pairs="exact", l2=0.0).fit(data).history_
    assert start[0]["error"] == 0


def test_listnet_learns_the_first_k_and_refuses_sums_without_end():
    data = easy_data()
    assert ListNet(k=2, epochs=30, learning_rate=0.02).fit(data).score(easy_data(seed=1)) > 0.9
    long = Dataset(np.zeros((60, 2)), np.arange(60) % 3)
    with pytest.raises(
        DataError, match="a query has 60 documents, so listnet with k=5 is a sum of more than 10,000,000"
    ):
        ListNet(k=5, epochs=1).fit(long)
    weighed = Dataset(np.zeros((60, 2)), np.arange(60) % 3, weights=np.full(60, 2.0))
    with pytest.raises(DataError, match="choose a smaller k"):
        ListNet(k=10**6, epochs=1).fit(weighed)


# SortNet's Algorithm 3.1


def slow_average_precision(y, order):
    """Of the documents of a query in this order."""
    relevant = [rank for rank, row in enumerate(order, 1) if y[row] > 0]
    return sum(n / rank for n, rank in enumerate(relevant, 1)) / len(relevant) if relevant else 0.0


def sort_queries(network, part):
    """The order of each query by a slow merge sort, and the mis-compared pairs of all: the better document first."""
    orders, wrong, start = [], set(), content_order(part).tolist()
    for first, last in pairwise(part.offsets.tolist()):
        rows = start[first:last]
        P = preferences(network, part.X[rows])
        order, _, missed = merge_sort(len(rows), lambda a, b, P=P: P[a, b] - 0.5, part.y[rows])
        orders.append([rows[place] for place in order])
        wrong |= {(rows[better], rows[worse]) for better, worse in missed}
    return orders, wrong


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sortnet_is_algorithm_3_1_line_by_line(seed):
    T, V = (some_data(seed=10 * seed + part, n_docs=12, levels=2) for part in range(2))
    ranker = SortNet.as_published(hidden=4, max_iter=4, epochs=8, scaling=None, seed=seed)
    train, valid = _KnownPairs(T), _KnownPairs(V)  # what TrainAndValidate takes
    network = ranker._plain(ranker._fresh(T.X, train.learning_set(), seed).layers())  # line 3
    TP, VP, best_score, best, known = set(), set(), -1.0, None, []  # lines 4 and 5
    for i in range(ranker.max_iter + 1):  # line 6
        _, TP_i = sort_queries(network, T)  # lines 7 and 8
        orders, VP_i = sort_queries(network, V)
        score = sum(slow_average_precision(V.y, order) for order in orders) / len(orders)  # line 9
        if score > best_score:  # lines 10 to 13
            best_score, best = score, (i, network)
        known.append((len(TP), len(VP)))
        if TP_i <= TP and VP_i <= VP:  # lines 14 to 16
            break
        TP, VP = TP | TP_i, VP | VP_i  # lines 17 and 18
        for pairs, part in ((TP, train), (VP, valid)):
            part.add(np.array([better * part.data.n_docs + worse for better, worse in sorted(pairs)], np.int64))
        network = ranker._plain(ranker._trained(train, valid, i + 1, []))  # line 19
    fitted = ranker.fit(T, valid=V)
    assert [(row["train_known"], row["valid_known"]) for row in fitted.history_] == known
    assert fitted.best_iteration_ == best[0]
    np.testing.assert_allclose(fitted.network_.left, best[1].left, rtol=1e-4, atol=1e-6)
    assert max(row["valid"] for row in fitted.history_) == pytest.approx(best_score)


# DeepNet: neurons with duals, squared error, a step along the slope of the weights that a neuron shares with its dual


class SlowCmpNN:
    """A CmpNN as numbers: each weight is kept once, for a neuron and its dual."""

    def __init__(self, layers):
        (W, b), *deeper = [(np.array(W, float), np.array(b, float)) for W, b in layers]
        self.n_features, self.widths = len(W) // 2, [len(b), *(len(b) for _, b in deeper)]
        free = [W[:, : len(b) // 2]]  # of x and of y, for the first half; a dual has those of y and x
        free += [W[: len(W) // 2] for W, _ in deeper]  # a dual's weight to a dual is that of the two themselves
        free += [one[: len(one) // 2] for one in (b, *(b for _, b in deeper))]
        self.theta = np.concatenate([one.ravel() for one in free])

    def layers(self, theta):
        """The weights and biases of all neurons."""
        rest = list(theta)

        def take(n_rows, n_columns):
            return [[rest.pop(0) for _ in range(n_columns)] for _ in range(n_rows)]

        f, (first, *_) = self.n_features, self.widths
        half = take(2 * f, first // 2)
        weights = [[half[i] + half[(i + f) % (2 * f)] for i in range(2 * f)]]
        for n_in, n_out in pairwise(self.widths):
            top, o = take(n_in // 2, n_out), n_out // 2
            weights.append(top + [row[o:] + row[:o] for row in top])
        biases = [2 * take(1, width // 2)[0] for width in self.widths]
        return weights, biases

    def outputs(self, theta, x, y):
        """N> and N< of two documents: ReLU neurons, then two sigmoids."""
        weights, biases = self.layers(theta)
        values = [*x, *y]
        for depth, (W, b) in enumerate(zip(weights, biases, strict=True)):
            sums = [sum(v * row[j] for v, row in zip(values, W, strict=True)) + b[j] for j in range(len(b))]
            is_top = depth == len(weights) - 1
            values = [1 / (1 + math.exp(-s)) if is_top else max(s, 0.0) for s in sums]
        return values

    def error(self, theta, X, pairs, targets):
        """The mean squared error of both outputs over all pairs."""
        total = 0.0
        for (i, j), target in zip(pairs, targets, strict=True):
            before, after = self.outputs(theta, X[i], X[j])
            total += ((before - target) ** 2 + (after - (1 - target)) ** 2) / 2
        return total / len(pairs)


def test_a_published_step_of_deepnet_goes_down_the_slope_of_the_shared_weights():
    """One of its 1,000 epochs, from stacked auto-encoders, without dropout, which is drawn."""
    data = some_data(n_queries=2, n_docs=5)
    ranker = DeepNet.as_published(hidden=(4, 2), epochs=1, dropout=0.0, pretraining=3, n_pairs=12)
    X = data.X.astype(float)
    for start, stop in pairwise(data.offsets):  # SortNet's eq. 4
        X[start:stop] = (X[start:stop] - X[start:stop].mean(axis=0)) / np.abs(X[start:stop]).max(axis=0)
    pairs = drawn_pairs(ranker, data, "n_pairs", ranker.seed)
    net = SlowCmpNN(ranker._fresh(X.astype(np.float32), pairs, ranker.seed).layers())
    rows, targets = pairs.rows(data.n_docs).T.tolist(), pairs.target.tolist()
    assert all(
        (data.y[i] > data.y[j]) == (target == 1) != (data.y[i] < data.y[j])
        for (i, j), target in zip(rows, targets, strict=True)
    )
    slopes = []
    for place in range(len(net.theta)):  # by differences, so that no formula of a slope is needed
        there, back = net.theta.copy(), net.theta.copy()
        there[place] += 1e-6
        back[place] -= 1e-6
        slopes.append((net.error(there, X, rows, targets) - net.error(back, X, rows, targets)) / 2e-6)
    weights, biases = net.layers(net.theta - 0.1 * np.array(slopes))
    learned = ranker.fit(data).network_
    np.testing.assert_allclose(np.vstack((learned.left, learned.right)), weights[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(learned.bias, biases[0], rtol=1e-4, atol=1e-5)
    for (W, b), expected, bias in zip(learned.deeper, weights[1:], biases[1:], strict=True):
        np.testing.assert_allclose(W, expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(b, bias, rtol=1e-4, atol=1e-5)
    assert np.abs(slopes).max() > 0.01


# NestedRanker and RankDE


def least_squares(X, y):
    design = np.column_stack((X, np.ones(len(X))))
    return np.linalg.lstsq(design, y, rcond=None)[0][:-1]


def test_nested_stages_see_features_that_were_scaled_once_over_the_query():
    data = some_data(n_queries=6, n_docs=9)
    sizes, X = (None, 6, 3), data.X.astype(float)
    for start, stop in pairwise(data.offsets):  # SortNet's eq. 4, over all documents of the query
        for column in range(X.shape[1]):
            values = X[start:stop, column].copy()
            X[start:stop, column] = (values - values.mean()) / np.abs(values).max()
    order = [list(range(start, stop)) for start, stop in pairwise(data.offsets)]
    for size in sizes:
        top = [row for query in order for row in query[:size]]
        w = least_squares(X[top], data.y[top])
        order = [sorted(query[:size], key=lambda row: -X[row] @ w) + query[len(query[:size]) :] for query in order]
    stage = LinearRegressionRanker(alpha=0.0, scaling="minmax")
    nested = NestedRanker(stage, sizes=sizes, scaling="querymax").fit(data)
    assert nested.rank(data).tolist() == [row for query in order for row in query]
    assert nested.rank(data).tolist() != NestedRanker(stage, sizes=sizes).fit(data).rank(data).tolist()


class ByFirst(Ranker):
    """Ranks by the first feature, up or down by turns: every second stage is worse."""

    def __init__(self, sign=1):
        self.sign = sign

    def _fit(self, data, valid): ...

    def _predict(self, data):
        return self.sign * data.X[:, 0].astype(float)


def test_all_eight_stages_of_the_thesis_are_trained_and_kept():
    data = easy_data(n_docs=12)
    published = NestedRanker.as_published(ranker=LinearRegressionRanker())
    assert published.fit(data, valid=data).sizes_ == [None, 1000, 750, 500, 200, 100, 50, 10]
    assert all(stage.scaling is None for stage in published.rankers_)
    assert published.scaler_ is not None
    down = Dataset([[i] for i in range(5)], [0, 0, 0, 1, 2])
    for stages, kept in (("all", [None, 4]), ("best", [None])):
        ranker = NestedRanker([ByFirst(), ByFirst(-1)], sizes=(None, 4), stages=stages)
        assert ranker.fit(down, valid=down).sizes_ == kept


def test_the_network_of_chapter_5():
    network = NestedRanker.as_published().ranker
    assert (network.hidden, network.n_pairs, network.n_valid_pairs) == ((24, 12, 6), 100_000, 50_000)


def test_rankde_keeps_the_individual_of_highest_fitness_on_the_training_data():
    data, valid = some_data(levels=2), some_data(seed=1, levels=2)
    settings = {"population": 8, "generations": 15}
    published = RankDE.as_published(**settings).fit(data, valid=valid)
    reached = [
        evaluate(data, data_scores, metrics="map")["map"]
        for data_scores in published.population_ @ published.prepared(data).X.T
    ]
    assert published.fitness_ == pytest.approx(max(reached))
    assert published.coef_.tolist() == RankDE(**settings).fit(data).coef_.tolist()
    assert published.coef_.tolist() != RankDE(**settings).fit(data, valid=valid).coef_.tolist()
