"""The form of comparators, and where its sort starts."""

from itertools import pairwise

import numpy as np
import pytest

from ordino import Dataset
from ordino.errors import DataError, ParameterError
from ordino.layers import Layer
from ordino.order import PairNetwork, scores_from_order, sort_once, sort_queries
from ordino.order.pairs import Pairs, content_order
from ordino.testing import easy_data

DATA = easy_data(n_queries=5)


def circular(n_features=4):
    """A network that is far from transitive, so that where a sort starts shows."""
    rng = np.random.default_rng(0)
    left, right, top = (5 * rng.normal(size=shape) for shape in ((n_features, 8), (n_features, 8), (8, 2)))
    return PairNetwork(left, right, np.zeros(8), (Layer(top, np.zeros(2)),), activation="tanh")


def test_the_start_is_the_same_documents_whatever_their_order():
    turned = np.concatenate([np.arange(*bounds)[::-1] for bounds in pairwise(DATA.offsets)])
    other = Dataset(DATA.X[turned], DATA.y[turned], DATA.qid[turned])
    assert (DATA.X[content_order(DATA)] == other.X[content_order(other)]).all()
    assert (DATA.qid[content_order(DATA)] == DATA.qid).all()


@pytest.mark.parametrize("algorithm", ["merge", "quick", "heap", "insertion"])
def test_sorting_from_a_start_is_sorting_the_rows_in_that_order(algorithm):
    start = content_order(DATA)
    from_start = sort_queries(circular(), DATA.X, DATA.offsets, algorithm=algorithm, start=start, y=DATA.y)
    rows = sort_queries(circular(), DATA.X[start], DATA.offsets, algorithm=algorithm, y=DATA.y[start])
    assert (from_start.order == start[rows.order]).all()
    assert (from_start.order != sort_queries(circular(), DATA.X, DATA.offsets, algorithm=algorithm).order).any()
    assert (from_start.comparisons == rows.comparisons).all()
    scores = Pairs(None, 4, circular(), algorithm).score(DATA)
    assert (scores == scores_from_order(from_start.order, DATA.offsets)).all()


def test_a_sort_that_asks_once_starts_from_the_contents_too():
    start = content_order(DATA)
    from_start = start[sort_once(circular(), DATA.X[start], DATA.offsets)]
    assert (from_start != sort_once(circular(), DATA.X, DATA.offsets)).any()
    scores = Pairs(None, 4, circular(), asked="once").score(DATA)
    assert (scores == scores_from_order(from_start, DATA.offsets)).all()


@pytest.mark.parametrize("start", [[0, 0, 2], [1, 2, 0], [0.0, 1.0, 2.0], [0, 1]])
def test_a_start_that_is_no_order_of_the_rows_is_refused(start):
    with pytest.raises(DataError, match="order must hold"):
        sort_queries(circular(1), [[1.0], [2.0], [3.0]], [0, 2, 3], start=start)


def test_a_network_of_other_features_is_refused():
    Pairs(None, 4, circular()).check()
    for network in (circular(3), None):
        with pytest.raises(DataError, match="network_ does not fit"):
            Pairs(None, 4, network).check()


@pytest.mark.parametrize("algorithm", ["merge", "copeland"])
def test_what_a_kernel_relies_on_is_checked_where_documents_are_not(algorithm):
    with pytest.raises(DataError, match="the network compares 3 features but the data has 4"):
        Pairs(None, 4, circular(3), algorithm).score(DATA)
    with pytest.raises(ParameterError, match="unknown algorithm 'merg'; did you mean 'merge'"):
        Pairs(None, 4, circular(), "merg").score(DATA)
