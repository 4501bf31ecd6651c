"""Weights of documents: rankers that use them learn something else from them, all others say that they do not."""

import warnings

import numpy as np
import pytest
from test_contract import quick

from ordino import Dataset
from ordino.rankers import RANKERS, ranker_class
from ordino.testing import easy_data

DATA = easy_data()
FIRST_QUERIES_ALONE = Dataset(DATA.X, DATA.y, DATA.qid, weights=np.where(DATA.qid < 6, 1.0, 0.0))
OF_ONE_MODEL = [name for name in RANKERS if name not in ("nested-ranker", "rank-aggregation")]


@pytest.mark.parametrize("name", OF_ONE_MODEL)
def test_weights_are_used_or_warned_of(name: str):
    ranker = quick(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker.fit(FIRST_QUERIES_ALONE)
    said = [str(warning.message) for warning in caught if "document weights" in str(warning.message)]
    if ranker.uses_weights:
        assert said == []
        assert not np.allclose(ranker.predict(DATA), quick(name).fit(DATA).predict(DATA))
    else:
        assert said == [f"{type(ranker).__name__} does not use document weights; "
                        "every document counts the same"]  # fmt: skip


def test_networks_trees_and_regression_use_weights():
    users = {RANKERS[name].cls for name in OF_ONE_MODEL if ranker_class(name).uses_weights}
    assert {"RankNet", "LambdaMART", "McRank", "RankSVM", "RankBoost", "LinearRegressionRanker"} <= users
    assert "PRank" not in users
