"""RankNet's experiments: random functions, 1,000 documents, splits of a search engine's queries, Figure 1."""

import numpy as np
import pytest

from ordino import Dataset, write_letor
from ordino.experiment.papers.catalogue import TARGETS
from ordino.experiment.papers.number import Number
from ordino.experiment.papers.ranknet import functions, online, search
from ordino.experiment.papers.target import Request


def test_a_train_size_counts_documents():
    parts = functions._fold("Poly", 100, [0], 0)
    assert (parts.train.n_docs, parts.valid.n_docs, parts.test.n_docs) == (100, 5000, 5000)
    pairs = functions._n_pairs("Poly", 100, 0)
    assert 1960 < pairs < 2125  # the paper: 2,060 of 2,450


def test_the_net_does_not_start_from_the_function_it_must_find():
    request = Request(quick=True)
    [plan] = TARGETS["ranknet.table2"].plans(request)
    [folds] = plan.data.values()
    assert len(folds) == len(functions._function_seeds(request)) == 2
    assert plan.seed not in functions._function_seeds(request)


def test_a_step_after_each_pair_is_descent_on_its_cost():
    """Equations 12 to 15 against finite differences of the cost, pair by pair."""
    rng = np.random.default_rng(0)
    X, pairs, rate = rng.normal(size=(4, 3)), np.array([[0, 1], [2, 3], [0, 3]]), 0.1
    net = online.Net(rng.normal(size=(2, 3)), rng.normal(size=2), rng.normal(size=2))
    flat = np.concatenate([part.ravel() for part in net])

    def cost(flat, pair):
        V, b, w = flat[:6].reshape(2, 3), flat[6:8], flat[8:]
        scores = np.tanh(X[pair] @ V.T + b) @ w
        return np.log1p(np.exp(scores[1] - scores[0]))

    total = 0.0
    for pair in pairs:
        total += cost(flat, pair)
        slopes = [(cost(flat + e, pair) - cost(flat - e, pair)) / 2e-6 for e in 1e-6 * np.eye(len(flat))]
        flat = flat - rate * np.array(slopes)
    assert online.learn_pairs(X, pairs, *net, rate) == pytest.approx(total, rel=1e-6)
    assert np.concatenate([part.ravel() for part in net]) == pytest.approx(flat, rel=1e-6)


def test_learning_ends_without_an_error():
    easy = Dataset(np.arange(6.0)[:, None] / 3, range(6))
    epochs = list(online.learn(easy, hidden=2, epochs=500, seed=0))
    assert epochs[-1].train_error == 0 < epochs[0].cost
    assert all(epoch.train_error > 0 for epoch in epochs[:-1])
    same = Dataset(np.zeros((4, 1)), range(4))  # nothing to learn: every pair is level
    assert [epoch.train_error for epoch in online.learn(same, hidden=2, epochs=11, seed=0)] == [1.0] * 11


def test_figure_1_is_the_formula():
    numbers = [one for one in functions.fig1(Request(), None) if isinstance(one, Number)]
    assert len(numbers) == 3 * 21 + 21
    assert all(abs(number.difference) < 1e-12 for number in numbers)
    at = {number.labels: number.mean for number in numbers}
    assert at["cost of o", "target 0.5", "0"] == pytest.approx(np.log(2))
    assert at["combined probability", "P", "0.75"] == pytest.approx(0.9)  # odds 3 and 3 make 9


def test_search_engine_splits(folder):
    name, splits = search._splits(Request(folder / "MQ2008", seed=1))
    assert (name, len(splits)) == ("MQ2008", 5)
    judged = {query for split in splits for part in split[1:] for query in part.query_ids}
    for split in splits:
        parts = [set(part.query_ids) for part in split[1:]]
        assert set.union(*parts) == judged
        assert sum(map(len, parts)) == len(judged)
        assert all((query.y > 0).any() for part in split for query in part)
        n_relevant = int((split.train.y > 0).sum())
        assert int((split.learned.y > 0).sum()) == n_relevant
        assert split.learned.n_docs < split.train.n_docs
    tested = [query for split in splits for query in split.test.query_ids]
    assert len(tested) == len(set(tested))  # no query twice


def test_a_query_without_a_relevant_document_is_not_judged(tmp_path):
    fold = tmp_path / "one" / "Fold1"
    fold.mkdir(parents=True)
    for part, first in (("train", 0), ("test", 8)):
        data = Dataset(np.arange(16.0)[:, None], [1, 0] * 6 + [0] * 4, np.repeat(np.arange(8), 2) + first)
        write_letor(data, fold / f"{part}.txt")
    _, splits = search._splits(Request(tmp_path / "one"))
    assert sum(part.n_queries for part in splits[0][1:]) == 12  # of 16
