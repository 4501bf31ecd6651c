"""A forked process has no threads of its parent: rankers of trees work there, where OpenMP would wait forever."""

import multiprocessing
import os

import numpy as np
import pytest
from sklearn.base import clone

from ordino.forms import load_trees
from ordino.testing import easy_data
from rankers.test_contract import quick

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def score_and_fit(fitted, results):
    """Scores of a ranker that was fitted before the fork, and of one that is fitted after it."""
    load_trees.cache_clear()
    results.put(fitted.predict(easy_data()))
    results.put(clone(fitted).fit(easy_data()).predict(easy_data()))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("name", ["lambda-mart", "mc-rank"])
def test_trees_are_fitted_and_score_in_a_forked_process(name):
    fitted = quick(name).set_params(n_jobs=4).fit(easy_data())  # whose threads the child does not have
    expected = fitted.predict(easy_data())
    forking = multiprocessing.get_context("fork")
    results = forking.Queue()
    child = forking.Process(target=score_and_fit, args=(fitted, results))
    child.start()
    try:
        np.testing.assert_array_equal(results.get(timeout=30), expected)
        np.testing.assert_array_equal(results.get(timeout=30), expected)
    finally:
        child.kill()
        child.join()
