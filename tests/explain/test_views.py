"""Rankers that see several views of a feature are explained by the feature itself."""

import numpy as np
import pytest

import ordino
from ordino.explain import feature_weights, permutation_importance
from ordino.testing import easy_data

DATA = easy_data()
JOINED = {
    "linear": lambda: ordino.RankSVM(scaling="z+rank+hinge"),
    "stumps": lambda: ordino.RankBoost(scaling="raw+rank", rounds=10),
    "trees": lambda: ordino.LambdaMART(scaling="raw+rank", rounds=5, min_leaf=5),
    "network": lambda: ordino.RankNet(scaling="z+rank", epochs=3, hidden=(4,)),
}


@pytest.mark.parametrize("kind", JOINED)
def test_reasons_name_every_feature_once_and_add_up(kind):
    ranker = JOINED[kind]().fit(DATA)
    scores = ranker.predict(DATA[0].X)
    found = ordino.why(ranker, 0, 1, query=DATA[0].X)
    assert sorted(reason.feature for reason in found.reasons) == ["f1", "f2", "f3", "f4"]
    assert found.difference == pytest.approx(scores[0] - scores[1], abs=1e-3)
    values = {reason.feature: (reason.a, reason.b) for reason in found.reasons}
    assert values["f1"] == (DATA[0].X[0, 0], DATA[0].X[1, 0])


@pytest.mark.parametrize("kind", ["linear", "stumps", "trees"])
def test_weights_are_summed_by_feature(kind):
    ranker = JOINED[kind]().fit(DATA)
    assert next(one.feature for one in feature_weights(ranker)) == "f1"  # it has the largest weight in the data
    assert len(feature_weights(ranker)) == 4
    if kind == "linear":
        weights = {one.feature: one.weight for one in feature_weights(ranker)}
        assert weights["f3"] == pytest.approx(ranker.coef_[2::4].sum())
        assert ranker.input_names()[4] == "f1 rank"


def test_permuting_a_feature_permutes_all_its_views():
    """As if the raw values had been permuted inside the query before the scaling."""
    ranker = JOINED["linear"]().fit(DATA)
    found = {one.feature: one.importance for one in permutation_importance(ranker, DATA, repeats=1, seed=3)}
    shuffled = DATA.X.copy()
    drawn = np.lexsort((np.random.default_rng((3, 0, 0)).random(DATA.n_docs), DATA.query_number))
    shuffled[:, 0] = DATA.X[drawn, 0]
    expected = ranker.score(DATA) - ranker.score(DATA.replace(X=shuffled))
    assert found["f1"] == pytest.approx(expected)
