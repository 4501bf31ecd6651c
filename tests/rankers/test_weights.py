"""Weights of documents: rankers that use them learn nothing from what weighs nothing, all others say that they do."""

import warnings

import numpy as np
import pytest
from test_contract import quick

from ordino import Dataset
from ordino.rankers import RANKERS, ranker_class
from ordino.testing import easy_data

DATA = easy_data()
IS_RIGHT = DATA.qid < 4
MOSTLY_WRONG = Dataset(DATA.X, np.where(IS_RIGHT, DATA.y, 2 - DATA.y), DATA.qid)
FIRST_QUERIES_ALONE = MOSTLY_WRONG.with_weights(np.where(IS_RIGHT, 1.0, 0.0))
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
        unseen = easy_data(seed=5)
        assert ranker.score(unseen) > quick(name).fit(MOSTLY_WRONG).score(unseen) + 0.05
    else:
        assert said == [f"{type(ranker).__name__} does not use document weights; "
                        "every document counts the same"]  # fmt: skip


def test_networks_trees_and_regression_use_weights():
    users = {RANKERS[name].cls for name in OF_ONE_MODEL if ranker_class(name).uses_weights}
    assert {"RankNet", "LambdaMART", "McRank", "RankSVM", "RankBoost", "LinearRegressionRanker"} <= users
    assert "PRank" not in users
